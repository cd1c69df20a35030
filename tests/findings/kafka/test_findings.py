"""The tests of the open findings fail on a release of Kafka with the expected messages, and pass with the repairs."""

import os
import shutil

import pytest

from tests.findings.kafka import restarted_leader
from tests.findings.kafka.__main__ import REPAIRS, run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

RELEASE = "4.3.1"
REJECTED = (
    "the log has the batch at offset 0, so the batch is a duplicate ==> Unexpected exception thrown:"
    " org.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence number for producer 1 at offset"
    " 2 in partition test-0: 0 (incoming seq. number), 1 (current end sequence number)"
)
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
    ("RestartedLeaderTest.testDuplicateOfEarlierBatchAfterUncleanShutdown", REJECTED): 1,
    ("RestartedLeaderTest.testDuplicateOfEarlierBatchAfterCleanShutdown", REJECTED): 1,
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


@pytest.mark.parametrize("kill", [False, True])
def test_a_producer_writes_two_records_twice_after_the_restart_of_a_broker(kill: bool) -> None:
    printed = restarted_leader.run(RELEASE, kill=kill, repair=False)
    assert "Error: OUT_OF_ORDER_SEQUENCE_NUMBER" in printed
    assert printed.endswith(
        "m0 acknowledged at offset 2\nm1 acknowledged at offset 3\n"
        "offset 0: m0\noffset 1: m1\noffset 2: m0\noffset 3: m1\n"
    )


def test_a_broker_with_the_repair_recognizes_both_records_after_a_restart() -> None:
    printed = restarted_leader.run(RELEASE, kill=False, repair=True)
    assert printed == "m0 acknowledged at offset 0\nm1 acknowledged at offset 1\noffset 0: m0\noffset 1: m1\n"
