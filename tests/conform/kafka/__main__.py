"""`python -m tests.conform.kafka RELEASE`: the broker code of a release of Kafka, speaking the conformance protocol."""

import argparse
import os
import sys
from pathlib import Path

from tests.conform.kafka.build import BuildError, class_path, java, patched
from tests.conform.kafka.releases import RELEASES, ReleaseError

# Short runs: one processor's worth of garbage collection, and no compiler that takes long to be worth it.
_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Djava.security.manager=allow")


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
        path = class_path(given.release, given.kafka_version)
        if given.build:
            return
        level = f"-Dorg.slf4j.simpleLogger.defaultLogLevel={given.log}"
        if given.classes is not None:
            path = patched(path, given.classes)
        command = [java(), *_OPTIONS, level, "-cp", path, "subject.Main", given.release]
    except (BuildError, ReleaseError) as error:
        sys.exit(f"{parser.prog}: {error}")
    command += ["--ibp", given.ibp] if given.ibp else []
    command += ["--clock", given.clock] if given.clock else []
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
