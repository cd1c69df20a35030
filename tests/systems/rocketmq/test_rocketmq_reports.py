"""The failing tests of the reports to RocketMQ fail with messages that state the loss."""

from pathlib import Path

import pytest

from tests.systems.jvm.build import missing
from tests.systems.jvm.reports import run_tests

REPORTS = Path(__file__).parent / "reports"
NEW_SINCE_5_4 = "testMasterWaitsForControllerWhenConnectionIsLost"
LOSSES = {
    NEW_SINCE_5_4: "m1 is lost: the producer got PUT_OK, and the new master is in the SyncStateSet",
    "testEpochThatBeginsAtSameOffsetIsRecorded": "m1 is lost if broker 1 is elected: the producer got PUT_OK",
    "testMasterWaitsForSlaveWithEmptyLog": "m0 is lost: a consumer read m0, and the new master is in the SyncStateSet",
    "testSlaveReceivesMessagesOfMasterThatRestartsInItsEpoch": "replication stopped: broker 2 did not receive m1",
}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("version", "passing"), [("5.5.1", set()), ("5.3.3", {NEW_SINCE_5_4})])
def test_the_tests_of_the_reports_to_rocketmq_fail_with_the_loss(version: str, passing: set[str]) -> None:
    for lack in missing():
        pytest.skip(lack)
    output, lines = run_tests(REPORTS, f"-Drocketmq.version={version}")
    failures = len(LOSSES) - len(passing)
    assert f"Tests run: 4, Failures: {failures}, Errors: 0, Skipped: 0" in output, output[-4000:]
    assert len(lines) == failures
    for name in LOSSES.keys() - passing:
        assert any(f".{name}:" in line and LOSSES[name] in line for line in lines), lines


def test_each_report_to_rocketmq_names_its_failing_test() -> None:
    reports = [file.read_text() for file in sorted(REPORTS.glob("*.md"))]
    assert all(sum(name in report for report in reports) == 1 for name in LOSSES)
