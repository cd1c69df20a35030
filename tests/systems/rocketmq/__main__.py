"""`python -m tests.systems.rocketmq [VERSION]`: run RocketMQ's code as an adapter of the conformance protocol."""

import argparse
import os
import sys

from tests.systems.jvm.build import BuildError, command
from tests.systems.rocketmq.build import VERSIONS, build_of


def main() -> None:
    """Build the adapter if necessary, and replace this process by it."""
    parser = argparse.ArgumentParser(prog="python -m tests.systems.rocketmq", description=__doc__)
    parser.add_argument("version", nargs="?", default=VERSIONS[-1], help=f"such as {', '.join(VERSIONS)}")
    parser.add_argument("--log", metavar="LEVEL", default="off", help="what it logs, to standard error: warn, info")
    parser.add_argument("--build", action="store_true", help="build the subject, and do not start it")
    given = parser.parse_args()
    try:
        path = build_of(given.version).class_path()
        if given.build:
            return
        # The last one as in RocketMQ's own scripts: its controller serializes by Hessian, which looks into java.lang.
        options = (f"-Drocketmq.log={given.log}", "--add-opens=java.base/java.lang=ALL-UNNAMED")
        start = command(path, given.version, options=options)
    except BuildError as error:
        sys.exit(f"{parser.prog}: {error}")
    os.execv(start[0], start)


if __name__ == "__main__":
    main()
