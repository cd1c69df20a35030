"""The failing tests of the reports to Fluss fail with messages that state the loss."""

from pathlib import Path

import pytest

from tests.systems.jvm.build import missing
from tests.systems.jvm.reports import run_tests

REPORTS = Path(__file__).parent / "reports"
ACKNOWLEDGED = "[m1 is lost: acks=-1 acknowledged m1, and the new leader is in the ISR]"
LOSSES = {
    "testFetchOfPastEpochAcknowledgesRecord": ACKNOWLEDGED,
    "testAcknowledgedRecordIsLostAfterDivergence": ACKNOWLEDGED,
    "testFollowerKeepsRecordThatNewLeaderLacks": (
        "[m2 is committed on leader 2, and server 3 in the ISR has another record]"
    ),
    "testConsumerReadsRecordThatIsThenLost": "[m0 is lost: a consumer read m0, and the new leader is in the ISR]",
}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_tests_of_the_reports_to_fluss_fail_with_the_loss() -> None:
    for lack in missing():
        pytest.skip(lack)
    output, lines = run_tests(REPORTS)
    assert "Tests run: 4, Failures: 4, Errors: 0, Skipped: 0" in output, output[-4000:]
    assert len(lines) == len(LOSSES)
    for name, loss in LOSSES.items():
        assert any(f".{name}:" in line and loss in line for line in lines), lines


def test_each_report_to_fluss_names_its_failing_test() -> None:
    reports = [file.read_text() for file in sorted(REPORTS.glob("*.md"))]
    assert all(sum(name in report for report in reports) == 1 for name in LOSSES)
