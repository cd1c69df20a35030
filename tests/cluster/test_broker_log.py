"""The log lines of brokers about a partition, in the wording of each release."""

from pathlib import Path

import pytest

from epochfuzz.harness.cluster.broker.broker_log import BrokerLog, parse

AT = "[2026-11-23 11:03:20,986] INFO "
LEADER = (
    AT
    + "[Broker id=1] Leader t-0 with topic id Some(4gSXNM0iSMK_6BSZYEjJBA) starts at leader epoch 3 from offset 6 with"
    " partition epoch 4, high watermark 4, ISR [1,2], adding replicas [] and removing replicas [] . Previous leader"
    " Some(1) and previous leader epoch was 1. (state.change.logger)"
)
LEADER_OF_3_3 = (
    AT + "[Broker id=1] Leader t-0 starts at leader epoch 3 from offset 6 with partition epoch 4, high watermark 4,"
    " ISR [1,2], adding replicas [] and removing replicas []. Previous leader epoch was 1. (state.change.logger)"
)
FOLLOWER = (
    AT
    + "[Broker id=2] Follower t-0 starts at leader epoch 3 from offset 4 with partition epoch 4 and high watermark 3."
    " Current leader is 1. Previous leader Some(3) and previous leader epoch was 2. (state.change.logger)"
)
TRUNCATION = (
    AT + "[ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Truncating partition t-0 with TruncationState(offset=4,"
    " completed=true) due to leader epoch and offset EpochEndOffset(errorCode=0, partition=0, leaderEpoch=1,"
    " endOffset=4) (kafka.server.ReplicaFetcherThread)"
)


def test_a_leader_line_has_the_start_offset_the_isr_and_the_previous_leader() -> None:
    line = parse(LEADER)
    assert line is not None
    assert (line.kind, line.partition, line.epoch, line.offset) == ("leader", "t-0", 3, 6)
    assert (line.high_watermark, line.isr) == (4, (1, 2))
    assert (line.previous_leader, line.previous_epoch) == (1, 1)


def test_a_leader_line_of_an_older_release_lacks_the_previous_leader() -> None:
    line = parse(LEADER_OF_3_3)
    assert line is not None
    assert (line.epoch, line.offset, line.high_watermark) == (3, 6, 4)
    assert (line.previous_leader, line.previous_epoch) == (None, 1)


def test_a_follower_line_has_the_leader_and_the_offsets() -> None:
    line = parse(FOLLOWER)
    assert line is not None
    assert (line.kind, line.epoch, line.offset, line.high_watermark, line.leader) == ("follower", 3, 4, 3, 1)


def test_a_truncation_line_has_the_offset() -> None:
    line = parse(TRUNCATION)
    assert line is not None
    assert (line.kind, line.partition, line.offset) == ("truncation", "t-0", 4)


@pytest.mark.parametrize(
    "text", ["", "java.io.IOException", AT + "Awaiting socket connections. (kafka.network.Acceptor)"]
)
def test_other_log_lines_are_ignored(text: str) -> None:
    assert parse(text) is None


def test_a_growing_broker_log_returns_only_complete_lines(tmp_path: Path) -> None:
    log = BrokerLog(tmp_path / "A.log")
    assert log.lines("t-0") == []
    log.path.write_text(LEADER + "\n" + FOLLOWER[:90])
    assert [line.kind for line in log.lines("t-0")] == ["leader"]
    with log.path.open("a") as file:
        file.write(FOLLOWER[90:] + "\n" + TRUNCATION.replace("t-0", "u-0") + "\n")
    assert [line.kind for line in log.lines("t-0")] == ["leader", "follower"]
    assert [line.kind for line in log.lines("u-0")] == ["truncation"]
    assert [line.partition for line in log.lines_of("u")] == ["u-0"]


def test_the_last_error_of_a_broker_log_is_the_last_error_line_or_empty(tmp_path: Path) -> None:
    log = BrokerLog(tmp_path / "A.log")
    assert log.last_error() == ""
    log.path.write_text("[x] INFO starting\n[x] ERROR no room (k)\n[x] INFO shut down\n\n")
    assert log.last_error() == "[x] ERROR no room (k)"
