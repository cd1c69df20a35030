"""The tests of the open findings fail on a release of Kafka with the expected messages, and pass with the repairs."""

import os
import shutil

import pytest

from tests.findings.kafka.__main__ import REPAIRS, run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

RELEASE = "4.3.1"
# The failures in Surefire's summary: the test's class and method, and the message.
FAILURES = {
    (
        "ReElectedLeaderTest.testHighWatermarkAfterReElectionIgnoresFollowerOffsetsFromBeforeMissedEpoch",
        "the follower has not fetched in epoch 2, so the record is not committed ==> expected: <0> but was: <1>",
    ): 1,
    (
        "RejectedIsrExpansionTest.testHighWatermarkAdvancesAfterIsrExpansionIsRejected",
        "the leader is the only member of the ISR, and has the record ==> expected: <1> but was: <0>",
    ): 2,
    (
        "FetchBeforeRegistrationTest.testIsrNotExpandedByFetchBeforeRegistration",
        "the process that has the record is not registered ==> expected: <0> but was: <1>",
    ): 1,
    (
        "FetchBeforeRegistrationTest.testIsrNotExpandedByLateFetchFromBeforeRegistration",
        "the registered process does not have the record ==> expected: <0> but was: <1>",
    ): 1,
    (
        "ConsumerPositionTest.testTruncationDetectionOnEndOffsetOfOlderEpochWithoutResetPolicy",
        "the leader has no record of the epoch that was read last ==> expected: <true> but was: <false>",
    ): 1,
    (
        "ConsumerPositionTest.testTruncationDetectionOnEndOffsetOfOlderEpochWithResetPolicy",
        "the record at offset 0 is a different record, so the position must not stay at offset 1 ==>"
        " expected: <true> but was: <false>",
    ): 1,
}


@pytest.fixture(autouse=True)
def has_a_jdk_and_maven() -> None:
    if not (shutil.which("mvn") and shutil.which("javac")) and os.environ.get("CI") != "true":
        pytest.skip("a JDK and Maven are not installed")


def test_every_test_of_a_finding_fails_on_the_release_with_the_expected_message() -> None:
    ended = run(RELEASE, quiet=True)
    assert ended.returncode == 1, ended.stdout
    lines = [line for line in ended.stdout.splitlines() if line.startswith("[ERROR]   ")]
    for (test, message), count in FAILURES.items():
        assert sum(f" {test}:" in line and line.endswith(message) for line in lines) == count, ended.stdout
    total = sum(FAILURES.values())
    assert len(lines) == total, ended.stdout
    assert f"Tests run: {total}, Failures: {total}, Errors: 0, Skipped: 0" in ended.stdout


@pytest.mark.parametrize("repair", REPAIRS)
def test_the_test_of_a_finding_passes_with_the_repair(repair: str) -> None:
    ended = run(RELEASE, repair=repair, quiet=True)
    assert ended.returncode == 0, ended.stdout
