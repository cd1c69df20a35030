"""`python -m tests.findings.kafka [TEST ...]`: tests of the open findings, against the jars of a release of Kafka.

A test fails on a release that has the bug, and passes on Kafka's bytecode with a repair. The exit code is Maven's: 0 if
all tests pass, 1 if a test fails. It is 2 if a required program is not installed.
"""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from epochfuzz.harness.cluster.broker.installation import DEFAULT_RELEASE, from_maven
from epochfuzz.harness.cluster.broker.repair import PROGRAM, Repair
from epochfuzz.harness.cluster.broker.repair import repaired as write_repaired
from epochfuzz.harness.cluster.broker.tools import tool
from epochfuzz.harness.cluster.errors import ClusterError

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
# The name of a repair, and the test that passes with it.
REPAIRS = {
    "every-epoch": "ReElectedLeaderTest",
    "missed-epoch": "ReElectedLeaderTest",
    "rejected-expansion": "RejectedIsrExpansionTest",
    "fetch-before-registration": "FetchBeforeRegistrationTest",
    "consumer-position": "ConsumerPositionTest",
    "restarted-leader": "RestartedLeaderTest",
}
UNUSABLE = 2


def main() -> int:
    """Run the tests. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.findings.kafka", description=__doc__)
    parser.add_argument("test", nargs="*", help="a class of tests; all if left out")
    parser.add_argument("--release", default=DEFAULT_RELEASE, help=f"{DEFAULT_RELEASE} if left out")
    parser.add_argument("--repair", choices=REPAIRS, help="add this repair to Kafka's bytecode, and run its test")
    given = parser.parse_args()
    try:
        return run(given.release, given.test, given.repair).returncode
    except ClusterError as error:
        print(error, file=sys.stderr)
        return UNUSABLE


def run(
    release: str, tests: Sequence[str] = (), repair: str | None = None, *, quiet: bool = False
) -> subprocess.CompletedProcess[str]:
    """Let Maven run tests, or the test of a repair. Returns the ended Maven. Raises ClusterError.

    `quiet` keeps the output in the result instead of printing it.
    """
    command = [tool("mvn"), "--quiet", "--batch-mode", "--strict-checksums", "--file", str(HERE / "pom.xml")]
    command.append(f"-Dkafka.version={release}")
    if repair is not None:
        command.append(f"-Dclasses={repaired(release, repair)}")
        tests = tests or [REPAIRS[repair]]
    if tests:
        command.append(f"-Dtest={','.join(tests)}")
    kept = subprocess.PIPE if quiet else None
    return subprocess.run([*command, "test"], stdout=kept, stderr=kept and subprocess.STDOUT, text=True, check=False)


def repaired(release: str, repair: str) -> Path:
    """Write the class of a release with a repair into a new directory. Returns the directory. Raises ClusterError."""
    directory = ROOT / "build" / "finding-test" / f"{release}-{repair}"
    shutil.rmtree(directory, ignore_errors=True)
    program = PROGRAM if repair in list(Repair) else HERE / "Repair.java"
    write_repaired(from_maven(release), repair, directory, program)
    return directory


if __name__ == "__main__":
    sys.exit(main())
