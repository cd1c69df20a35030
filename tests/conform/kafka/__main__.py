"""`python -m tests.conform.kafka RELEASE`: the broker code of a release of Kafka, speaking the conformance protocol."""

import argparse
import os
import sys
from pathlib import Path

from tests.conform.kafka.build import build_of
from tests.conform.kafka.releases import RELEASES, ReleaseError
from tests.systems.jvm.build import BuildError, command, patched


def main() -> None:
    """Build the subject, if it is not there, and become it."""
    parser = argparse.ArgumentParser(prog="python -m tests.conform.kafka", description=__doc__)
    parser.add_argument("release", metavar="RELEASE", help=f"such as {', '.join(RELEASES)}")
    parser.add_argument("--ibp", metavar="VERSION", help="inter.broker.protocol.version, if not the release's own")
    parser.add_argument("--kafka-version", metavar="VERSION", help="of the artifact, if it is a build of your own")
    parser.add_argument(
        "--classes", metavar="DIR", type=Path, help="classes that go before Kafka's: a patch of yours, compiled"
    )
    parser.add_argument(
        "--clock", metavar="MS", help="how much time passes before an event, if not more than lag allows"
    )
    parser.add_argument("--log", metavar="LEVEL", default="off", help="what Kafka logs, to standard error: warn, info")
    parser.add_argument("--build", action="store_true", help="build the subject, and do not start it")
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
