"""`python -m tests.systems.fluss [VERSION]`: run Fluss's server code as an adapter of the conformance protocol."""

import argparse
import os
import sys
from pathlib import Path

from tests.systems.fluss.build import VERSIONS, VersionError, build_of
from tests.systems.jvm.build import BuildError, command, patched


def main() -> None:
    """Build the adapter if necessary, and replace this process by it."""
    parser = argparse.ArgumentParser(prog="python -m tests.systems.fluss", description=__doc__)
    parser.add_argument("version", metavar="VERSION", nargs="?", default=VERSIONS[0], help=", ".join(VERSIONS))
    parser.add_argument(
        "--classes", metavar="DIR", type=Path, help="classes that go before Fluss's: a patch of yours, compiled"
    )
    parser.add_argument(
        "--clock", metavar="MS", help="how much time passes before an event, if not more than lag allows"
    )
    parser.add_argument(
        "--writers", action="store_true", help="write each record by an idempotent writer of its own, not without an id"
    )
    parser.add_argument("--log", metavar="LEVEL", default="off", help="what Fluss logs, to standard error: warn, info")
    parser.add_argument("--build", action="store_true", help="build the subject, and do not start it")
    given = parser.parse_args()
    try:
        path = build_of(given.version).class_path()
        if given.build:
            return
        if given.classes is not None:
            path = patched(path, given.classes)
        clock = ["--clock", given.clock] if given.clock else []
        writers = ["-Dwriters=true"] if given.writers else []
        start = command(path, given.version, *clock, log=given.log, options=writers)
    except (BuildError, VersionError) as error:
        sys.exit(f"{parser.prog}: {error}")
    os.execv(start[0], start)


if __name__ == "__main__":
    main()
