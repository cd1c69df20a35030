"""The failing tests of the reports to Fluss fail with messages that state the bug."""

from pathlib import Path

import pytest

from tests.systems.jvm.build import missing
from tests.systems.jvm.reports import run_tests

REPORTS = Path(__file__).parent / "reports"
ACKNOWLEDGED = "[m1 is lost: acks=-1 acknowledged m1, and the new leader is in the ISR]"
MESSAGES = {
    "testFetchOfPastEpochAcknowledgesRecord": ACKNOWLEDGED,
    "testAcknowledgedRecordIsLostAfterDivergence": ACKNOWLEDGED,
    "testFollowerKeepsRecordThatNewLeaderLacks": (
        "[m2 is committed on leader 2, and server 3 in the ISR has another record]"
    ),
    "testConsumerReadsRecordThatIsThenLost": "[m0 is lost: a consumer read m0, and the new leader is in the ISR]",
    "testFollowerAppendsLateResponseAtWrongOffset": (
        "[leader 1 does not have m0, and server 2 in the ISR has appended m0 after m1]"
    ),
    "testProducerGetsNoAcknowledgementOfCommittedRecord": (
        "[m0 is committed, and the producer of m0 gets no acknowledgement]"
    ),
}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_tests_of_the_reports_to_fluss_fail_with_their_messages() -> None:
    for lack in missing():
        pytest.skip(lack)
    output, lines = run_tests(REPORTS)
    assert "Tests run: 6, Failures: 6, Errors: 0, Skipped: 0" in output, output[-4000:]
    assert len(lines) == len(MESSAGES)
    for name, message in MESSAGES.items():
        assert any(f".{name}:" in line and message in line for line in lines), lines


def test_each_report_to_fluss_names_its_failing_test() -> None:
    reports = [file.read_text() for file in sorted(REPORTS.glob("*.md"))]
    assert all(sum(name in report for report in reports) == 1 for name in MESSAGES)
