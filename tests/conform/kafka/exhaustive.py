"""`python -m tests.conform.kafka.exhaustive [RELEASE ...]`: play every transition of the model on Kafka's own code.

For each row of the release matrix, this runs `epochfuzz conform --exhaustive` under the row's protocol, within the
default bounds of 2 replicas, 1 record and 2 epoch changes. `--for 10m` plays for 10 minutes on each row, and the next
run resumes there. The exit code is 0 if only the differences of differences.yaml occur, 1 for any other difference, and
2 if a required program is not installed.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from epochfuzz.harness.cli.output import INTERRUPTED
from epochfuzz.harness.engine.runtime.threads import cores
from tests.conform.kafka.build import build_of
from tests.conform.kafka.ladder import PATIENCE, ROOT
from tests.conform.kafka.releases import ReleaseError
from tests.conform.kafka.rungs import Rung, rungs_of
from tests.systems.jvm.build import BuildError, missing

KNOWN = Path(__file__).with_name("differences.yaml")
CONFORMS, DIFFERS, UNUSABLE = range(3)


def main() -> int:
    """Play all transitions on each row of the release matrix."""
    parser = argparse.ArgumentParser(prog="python -m tests.conform.kafka.exhaustive", description=__doc__)
    parser.add_argument("release", nargs="*", help="the releases; all if left out")
    parser.add_argument("--refused", action="store_true", help="also send every event that is not enabled")
    parser.add_argument("--for", dest="duration", help="the time for each release, such as 10m")
    parser.add_argument("--jobs", default=cores(), help="processes of the adapter at a time; one per core if left out")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "kafka-exhaustive", help="directory for progress")
    given = parser.parse_args()
    worst = CONFORMS
    try:
        for lack in missing():
            raise BuildError(lack)
        for rung in (rung for rung in rungs_of(given.release) if rung.of_the_model() is not None):
            build_of(rung.release).class_path()
            print(f"\n{rung.name}", flush=True)
            code = subprocess.run(list(_command(rung, given)), check=False).returncode
            if code not in (CONFORMS, DIFFERS):
                return code
            worst = max(worst, code)
    except (BuildError, ReleaseError) as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:  # the command has received Ctrl-C too, and has printed its progress
        return INTERRUPTED
    return worst


def _command(rung: Rung, given: argparse.Namespace) -> Iterator[str]:
    yield from (sys.executable, "-m", "epochfuzz", "conform", "--exhaustive", "--protocol", rung.protocol)
    yield from ("--jobs", str(given.jobs), "--timeout", str(PATIENCE))
    yield from ("--known", str(KNOWN), "--out", str(given.out))
    if given.refused:
        yield "--refused"
    if given.duration:
        yield from ("--for", given.duration)
    yield from ("--", sys.executable, "-m", "tests.conform.kafka", *rung.words)


if __name__ == "__main__":
    sys.exit(main())
