"""The failing tests of the reports to Liftbridge fail with messages that state the loss, and pass with a repair."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.systems import golang
from tests.systems.liftbridge.build import MODULE, REPAIRS, TARGET, VERSIONS

REPORTS = Path(__file__).parent / "reports"
LOSSES = {
    "TestTruncateToLeaderWithEmptyLog": "m1 is lost: AckPolicy_ALL acknowledged m1",
    "TestTruncateToFormerFollower": "m2 is lost if a is elected: AckPolicy_ALL acknowledged m2",
    "TestExpandISRReplicaHasCommittedMessages": "m0 is lost if b is elected: AckPolicy_ALL acknowledged m0",
    "TestLeaderForgetsFollowerOffsetsOfEarlierEpoch": "m2 is lost if b is elected: AckPolicy_ALL acknowledged m2",
    "TestTruncateWithoutLeaderKeepsCommittedMessage": "m0 is lost: AckPolicy_ALL acknowledged m0",
}
REPAIRED = {
    None: set(),
    "epoch-start": {"TestTruncateToLeaderWithEmptyLog", "TestTruncateToFormerFollower"},
    "followers-forgotten": {"TestLeaderForgetsFollowerOffsetsOfEarlierEpoch"},
}


def module(repair: str | None) -> Path:
    """Copy the released module, with the tests and a repair."""
    TARGET.mkdir(exist_ok=True)
    fetched = json.loads(golang.run("mod", "download", "-json", f"{MODULE}@v{VERSIONS[0]}", at=TARGET))
    copy = TARGET / "reports"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(fetched["Dir"], copy)
    for path in [copy, *copy.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)  # Go keeps its modules read-only
    shutil.copytree(REPORTS / "server", copy / "server", dirs_exist_ok=True)
    for name, theirs, repaired in REPAIRS[repair] if repair is not None else ():
        file = copy / "server" / name
        assert file.read_text().count(theirs) == 1
        file.write_text(file.read_text().replace(theirs, repaired))
    return copy


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("repair", REPAIRED)
def test_the_tests_of_the_reports_to_liftbridge_fail_with_the_loss(repair: str | None) -> None:
    for lack in golang.missing():
        pytest.skip(lack)
    copy = module(repair)
    command = ["go", "test", "./server", "-json", "-run", f"^({'|'.join(LOSSES)})$"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    ended = {
        event["Test"]: event["Action"] for event in events if event["Action"] in {"pass", "fail"} and "Test" in event
    }
    expected = {name: "pass" if name in REPAIRED[repair] else "fail" for name in LOSSES}
    assert ended == expected, done.stdout[-4000:] + done.stderr[-4000:]
    for name in LOSSES.keys() - REPAIRED[repair]:
        said = "".join(event["Output"] for event in events if event.get("Test") == name and event["Action"] == "output")
        assert LOSSES[name] in said


def test_each_report_to_liftbridge_names_its_failing_tests() -> None:
    reports = [file.read_text() for file in sorted(REPORTS.glob("*.md"))]
    assert all(sum(name in report for report in reports) == 1 for name in LOSSES)
