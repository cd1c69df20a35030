"""`python -m tests.conform.kafka.unregistered [RELEASE]`: fetch before the registration, on Kafka's own code.

This runs both variants of docs/findings/fetch-before-registration.md, for Kafka 4.3.0 and later. The exit code is 0 if
both variants lose the records, 1 if a variant keeps them, and 2 if the program fails or a required program is not
installed.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.conform.kafka.build import build_of
from tests.conform.kafka.releases import ReleaseError, adapter
from tests.systems.jvm.build import BuildError, command, missing, patched

MAIN = "subject.FetchBeforeRegistration"
OLDEST = (4, 3)
VARIANTS = {"a delayed AlterPartition request": (), "a delayed fetch": ("late",)}
LOST, KEPT, UNUSABLE = range(3)


def main() -> int:
    """Run both variants, and print their steps. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.conform.kafka.unregistered", description=__doc__)
    parser.add_argument("release", nargs="?", default="4.3.1", help="4.3.1 if left out")
    parser.add_argument(
        "--classes", metavar="DIR", type=Path, help="compiled classes that replace Kafka's, such as your own patch"
    )
    given = parser.parse_args()
    worst = LOST
    try:
        for lack in missing():
            raise BuildError(lack)
        for title, variant in VARIANTS.items():
            code, text = run(given.release, variant, given.classes)
            print(f"Kafka {given.release}, {title}\n{text}", flush=True)
            worst = max(worst, code)
    except (BuildError, ReleaseError) as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    return worst


def run(release: str, variant: Sequence[str], classes: Path | None = None) -> tuple[int, str]:
    """Run a variant. Returns the exit code and the printed steps. Raises BuildError or ReleaseError.

    `classes` is a directory of classes that replace Kafka's.
    """
    if adapter(release).line < OLDEST:
        raise ReleaseError(f"the program needs Kafka 4.3.0 or later; got {release}")
    path = build_of(release).class_path()
    if classes is not None:
        path = patched(path, classes)
    with tempfile.TemporaryDirectory(prefix="epochfuzz-") as directory:
        start = command(path, release, directory, *variant, main=MAIN)
        done = subprocess.run(start, stdout=subprocess.PIPE, text=True, check=False)
    return min(done.returncode, UNUSABLE) if done.returncode >= 0 else UNUSABLE, done.stdout


if __name__ == "__main__":
    sys.exit(main())
