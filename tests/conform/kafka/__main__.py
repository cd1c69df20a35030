"""`python -m tests.conform.kafka RELEASE`: run a release's broker code as an adapter of the conformance protocol."""

import argparse
import os
import sys
from pathlib import Path

from tests.conform.kafka.build import build_of
from tests.conform.kafka.releases import RELEASES, ReleaseError
from tests.systems.jvm.build import BuildError, command, patched


def main() -> None:
    """Build the adapter if necessary, and replace this process by it."""
    parser = argparse.ArgumentParser(prog="python -m tests.conform.kafka", description=__doc__)
    parser.add_argument("release", metavar="RELEASE", help=f"such as {', '.join(RELEASES)}")
    parser.add_argument("--ibp", metavar="VERSION", help="inter.broker.protocol.version; the release's own if left out")
    parser.add_argument(
        "--kafka-version", metavar="VERSION", help="the version of Kafka's artifact, for a build of your own"
    )
    parser.add_argument(
        "--classes", metavar="DIR", type=Path, help="compiled classes that replace Kafka's, such as your own patch"
    )
    parser.add_argument(
        "--clock", metavar="MS", help="the time that passes before each event; more than the lag time if left out"
    )
    parser.add_argument("--log", metavar="LEVEL", default="off", help="Kafka's level for standard error: warn or info")
    parser.add_argument("--build", action="store_true", help="build the adapter, and don't start it")
    given = parser.parse_args()
    try:
        path = build_of(given.release, given.kafka_version).class_path()
        if given.build:
            return
        if given.classes is not None:
            path = patched(path, given.classes)
        arguments = [given.release]
        arguments += ["--ibp", given.ibp] if given.ibp else []
        arguments += ["--clock", given.clock] if given.clock else []
        start = command(path, *arguments, log=given.log)
    except (BuildError, ReleaseError) as error:
        sys.exit(f"{parser.prog}: {error}")
    os.execv(start[0], start)


if __name__ == "__main__":
    main()
