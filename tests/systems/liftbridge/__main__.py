"""`python -m tests.systems.liftbridge [VERSION]`: run Liftbridge's code as an adapter of the conformance protocol."""

import argparse
import os
import sys

from tests.systems.liftbridge.build import REPAIRS, VERSIONS, command
from tests.systems.system import BuildError


def main() -> None:
    """Build the adapter if necessary, and replace this process by it."""
    parser = argparse.ArgumentParser(prog="python -m tests.systems.liftbridge", description=__doc__)
    parser.add_argument(
        "version", nargs="?", default=VERSIONS[0], help=f"{', '.join(VERSIONS)}; %(default)s if left out"
    )
    parser.add_argument("--repair", choices=REPAIRS, help="run it so repaired, to see what else there is")
    parser.add_argument("--log", action="store_true", help="print what Liftbridge logs to standard error")
    parser.add_argument("--build", action="store_true", help="build the subject, and do not start it")
    given = parser.parse_args()
    try:
        subject = command(given.version, given.repair)
    except BuildError as error:
        sys.exit(f"{parser.prog}: {error}")
    if given.build:
        return
    # One processor: which of two goroutines that may both run is first does not depend on the machine.
    environment = os.environ | {"GOMAXPROCS": "1"} | ({"LIFTBRIDGE_LOG": "1"} if given.log else {})
    os.execve(subject[0], subject, environment)


if __name__ == "__main__":
    main()
