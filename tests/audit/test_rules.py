"""The rules of audit: log lines that show a loss, and log lines that show none."""

from epochfuzz.harness.audit.judgement.findings import PartitionFinding, What, in_order
from tests.audit.telling import audited, deletes, findings_of, follows, leads, stamped, truncates, written


def test_a_leader_that_starts_below_a_high_watermark_of_a_lower_epoch_has_lost_records(tmp_path):
    lines = {
        1: [leads(1, 0, 0), leads(1, 1, 10, 10, before=(1, 0))],
        2: [follows(2, 1, 1, 10, 7, before=0), leads(2, 2, 7, 7, before=(1, 1))],
    }

    assert findings_of(tmp_path, lines) == [("committed-loss", "t-0", 7, 9)]


def test_a_leader_that_starts_at_the_high_watermark_has_lost_nothing(tmp_path):
    lines = {
        1: [leads(1, 0, 0), leads(1, 1, 12, 10, before=(1, 0))],
        2: [follows(2, 1, 1, 10, 7, before=0), leads(2, 2, 10, 9, before=(1, 1))],
    }

    assert findings_of(tmp_path, lines) == []


def test_a_high_watermark_of_a_later_epoch_is_not_compared_with_an_earlier_leader(tmp_path):
    lines = {
        1: [leads(1, 0, 0), follows(1, 2, 1, 3, 3, before=0), follows(1, 2, 2, 9, 9, before=1)],
        2: [leads(2, 1, 3, 3, before=(1, 0)), leads(2, 2, 9, 9, before=(2, 1))],
    }

    assert findings_of(tmp_path, lines) == []


def test_a_follower_that_restarts_with_a_higher_high_watermark_in_its_epoch_shows_no_loss(tmp_path):
    lines = {
        1: [leads(1, 0, 0), leads(1, 1, 5, 5, before=(1, 0))],
        2: [follows(2, 1, 1, 5, 5, before=0), follows(2, 1, 1, 9, 9)],
    }

    assert findings_of(tmp_path, lines) == []


def test_a_returning_follower_shows_a_loss_only_if_it_truncates_below_its_high_watermark(tmp_path):
    leaders = [leads(2, 2, 5, 5, before=(1, 1))]
    back = [leads(1, 1, 5, 5, before=(1, 0)), follows(1, 2, 2, 9, 9)]

    assert findings_of(tmp_path / "a", {1: back, 2: leaders}) == []
    assert findings_of(tmp_path / "b", {1: [*back, truncates(5)], 2: leaders}) == [
        ("committed-loss", "t-0", 5, 8),
        ("truncated-below-high-watermark", "t-0", 5, 8),
    ]


def test_audit_reports_a_loss_once_if_a_later_line_repeats_its_high_watermark(tmp_path):
    lines = {
        1: [leads(1, 1, 9, 9, before=(1, 0)), follows(1, 2, 3, 12, 9), truncates(5)],
        2: [leads(2, 2, 5, 5, before=(1, 1)), leads(2, 3, 7, 7, before=(2, 2)), leads(2, 4, 8, 8, before=(2, 3))],
    }

    assert findings_of(tmp_path, lines) == [
        ("committed-loss", "t-0", 5, 8),
        ("truncated-below-high-watermark", "t-0", 5, 8),
    ]


def test_audit_reports_a_second_loss_of_records_committed_after_the_first_loss(tmp_path):
    lines = {
        1: [leads(1, 1, 9, 9, before=(1, 0))],
        2: [leads(2, 2, 5, 5, before=(1, 1)), leads(2, 3, 20, 20, before=(2, 2))],
        3: [leads(3, 4, 8, 8, before=(2, 3))],
    }

    assert findings_of(tmp_path, lines) == [("committed-loss", "t-0", 5, 8), ("committed-loss", "t-0", 8, 19)]


def test_a_topic_that_was_deleted_and_created_again_shows_no_loss(tmp_path):
    again = "bcdefghijklmnopqrstuvw"
    lines = {
        1: [leads(1, 0, 0), leads(1, 4, 90, 90, before=(1, 3)), deletes(), leads(1, 0, 0, topic_id=again)],
        2: [follows(2, 1, 4, 90, 90, before=3), deletes(), follows(2, 1, 0, 0)],
    }

    assert findings_of(tmp_path, lines) == []


def test_a_topic_that_may_have_been_created_again_is_a_gap_and_no_loss(tmp_path):
    lines = {
        1: [leads(1, 4, 90, 90, before=(1, 3))],
        2: [follows(2, 1, 4, 90, 90, before=3), deletes(), follows(2, 1, 0, 0), leads(2, 5, 3, 3, before=(1, 4))],
    }
    audit = audited(written(tmp_path, lines))

    assert audit.findings == []
    assert any("deleted and created again" in gap for gap in audit.gaps)


def test_audit_finds_a_loss_on_a_replica_that_was_moved_away_and_back(tmp_path):
    lines = {
        1: [leads(1, 1, 9, 9, before=(1, 0)), deletes(), follows(1, 2, 3, 0, 0), leads(1, 4, 5, 5, before=(2, 3))],
        2: [follows(2, 1, 1, 9, 9, before=0), leads(2, 3, 9, 9, before=(1, 1))],
    }

    assert findings_of(tmp_path, lines) == [("committed-loss", "t-0", 5, 8)]


RE_ELECTED = {
    1: [leads(1, 1, 0, 0, "1,2", (3, 0)), leads(1, 3, 6, 4, "1,2", (1, 1))],
    2: [
        follows(2, 3, 2, 6, 3, before=1),
        truncates(4),
        follows(2, 1, 3, 4, 3, before=2),
        leads(2, 4, 4, 3, "2", (1, 3)),
    ],
}


def test_audit_finds_a_re_elected_leader_if_no_high_watermark_shows_the_loss(tmp_path):
    assert findings_of(tmp_path, RE_ELECTED) == [("re-elected-leader", "t-0", 4, 5)]


def test_a_leader_that_followed_in_the_epoch_between_is_not_a_re_elected_leader(tmp_path):
    heard = [leads(1, 1, 0, 0, "1,2", (3, 0)), follows(1, 3, 2, 6, 4, before=1), leads(1, 3, 6, 4, "1,2", (3, 2))]

    assert findings_of(tmp_path, RE_ELECTED | {1: heard}) == []


def test_a_leader_that_was_restarted_is_not_a_re_elected_leader(tmp_path):
    restarted = [leads(1, 1, 0, 0, "1,2", (3, 0)), leads(1, 3, 6, 4, "1,2")]

    assert findings_of(tmp_path, RE_ELECTED | {1: restarted}) == []


def test_a_truncation_outside_the_isr_does_not_show_a_re_elected_leader(tmp_path):
    alone = [leads(1, 1, 0, 0, "1,2", (3, 0)), leads(1, 3, 6, 4, "1,3", (1, 1))]

    assert findings_of(tmp_path, RE_ELECTED | {1: alone}) == []


def test_two_leaders_of_an_epoch_have_diverged(tmp_path):
    lines = {1: [leads(1, 3, 5, 5, before=(2, 2))], 2: [leads(2, 3, 5, 5, before=(2, 2))]}

    assert findings_of(tmp_path, lines) == [("diverged", "t-0", None, None)]


def test_a_brokers_own_line_shows_a_truncation_below_its_high_watermark(tmp_path):
    said = "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating t-0 to offset 4 below high watermark 9"
    lines = {1: [follows(1, 2, 3, 9, 9, before=2), f"{said} (kafka.server.ReplicaFetcherThread)"]}

    assert findings_of(tmp_path, lines) == [("truncated-below-high-watermark", "t-0", 4, 8)]


def test_a_kafka_0_10_follower_with_a_high_watermark_above_the_leaders_end_shows_a_loss(tmp_path):
    lines = [
        "Truncating log t-0 to offset 9. (kafka.log.Log)",
        "[ReplicaFetcherThread-0-2], Replica 1 for partition [t,0] reset its fetch offset from 9 to current leader 2's"
        " latest offset 4 (kafka.server.ReplicaFetcherThread)",
    ]

    assert findings_of(tmp_path, {1: lines}) == [("truncated-below-high-watermark", "t-0", 4, 8)]


def test_the_election_of_a_leader_outside_the_previous_isr_is_unclean(tmp_path):
    controller = [
        "[Controller id=1 epoch=6] Partition t-0 state changed to (Leader:-1,ISR:3,LeaderEpoch:7,ControllerEpoch:6)"
        " after removing replica 3 from the ISR as part of transition to OfflineReplica (state.change.logger)",
        "[Controller id=1 epoch=6] Changed partition t-0 from OfflinePartition to OnlinePartition with state"
        " LeaderAndIsr(leader=1, leaderEpoch=8, isr=List(1), zkVersion=12) (state.change.logger)",
    ]

    assert findings_of(tmp_path, {1: controller}) == [("unclean-election", "t-0", None, None)]


def test_the_election_of_a_leader_in_the_previous_isr_is_not_unclean(tmp_path):
    controller = [
        "[Controller id=1 epoch=6] Changed partition t-0 from OnlinePartition to OnlinePartition with state"
        f" LeaderAndIsr(leader={leader}, leaderEpoch={epoch}, isr=List({isr}), zkVersion={epoch}) (state.change.logger)"
        for leader, epoch, isr in ((1, 3, "1, 2"), (2, 4, "2"))
    ]

    assert findings_of(tmp_path, {1: controller}) == []


def shrinks(broker, high_watermark, end, partition="t-0"):
    return (
        f"[Partition {partition} broker={broker}] Shrinking ISR from 1,2 to 1. Leader: (highWatermark:"
        f" {high_watermark}, endOffset: {end}). Out of sync replicas: (brokerId: 2, endOffset: {high_watermark})."
        " (kafka.cluster.Partition)"
    )


def test_records_that_a_leader_commits_are_lost_only_if_a_later_leader_starts_below_them(tmp_path):
    lines = {1: [leads(1, 1, 5, 5, before=(2, 0)), shrinks(1, 9, 9)]}

    assert findings_of(tmp_path / "a", lines) == []
    lost = lines | {2: [leads(2, 2, 7, 7, before=(1, 1))]}
    assert findings_of(tmp_path / "b", lost) == [("committed-loss", "t-0", 7, 8)]


def test_a_high_watermark_above_the_log_end_offset_counts_only_up_to_this_offset(tmp_path):
    lines = {1: [leads(1, 1, 5, 5, before=(2, 0)), shrinks(1, 9, 6)], 2: [leads(2, 2, 6, 6, before=(1, 1))]}

    assert findings_of(tmp_path, lines) == []


def test_a_broker_whose_clock_went_back_is_a_gap_and_shows_no_loss(tmp_path):
    own = tmp_path / "broker-1"
    own.mkdir()
    led = [leads(1, 1, 0, 0, before=(2, 0)), follows(1, 2, 2, 20, 20, before=1), leads(1, 3, 20, 20, before=(2, 2))]
    roles = stamped(led[:1], 2) + stamped(led[1:2], 20) + stamped(led[2:], 4)
    (own / "state-change.log").write_text(roles)
    (own / "server.log").write_text(stamped([shrinks(1, 30, 31)], 6))  # in epoch 3, though the times say 1
    written(tmp_path, {2: [leads(2, 2, 20, 20, before=(1, 1))]})
    audit = audited(tmp_path)

    assert audit.findings == []
    assert any("the broker's clock went back" in gap for gap in audit.gaps)


def test_a_truncation_in_the_leaders_own_epoch_does_not_show_a_re_elected_leader(tmp_path):
    follower = (
        "[Broker id=2] Follower t-0 starts at leader epoch 1 from offset 6 with high watermark 0. Previous leader"
    )
    lines = RE_ELECTED | {
        2: [f"{follower} epoch was 0. (state.change.logger)", truncates(4), leads(2, 4, 4, 3, "2", (1, 3))]
    }

    assert findings_of(tmp_path, lines) == []


def test_a_kafka_0_10_fetch_offset_that_is_not_a_high_watermark_shows_no_loss(tmp_path):
    lines = [
        "Truncating log t-0 to offset 3. (kafka.log.Log)",
        "[ReplicaFetcherThread-0-2], Replica 1 for partition [t,0] reset its fetch offset from 9 to current leader 2's"
        " latest offset 4 (kafka.server.ReplicaFetcherThread)",
    ]

    assert findings_of(tmp_path, {1: lines}) == []


def test_leader_epochs_without_a_line_that_names_their_leader_are_a_gap(tmp_path):
    lines = {
        1: [leads(1, 0, 0, isr="1,2"), follows(1, 2, 3, 5, 5, before=2)],
        2: [follows(2, 1, 0, 0), leads(2, 3, 5, 5, isr="1,2", before=(1, 2))],
    }
    audit = audited(written(tmp_path, lines))

    assert audit.findings == []
    assert any("no line names the leader of 2 leader epochs of t-0" in gap for gap in audit.gaps)


def test_a_timeline_shows_only_the_rows_around_a_loss(tmp_path):
    later = [leads(2, epoch, 7, 7, before=(2, epoch - 1)) for epoch in range(3, 60)]
    lines = {
        1: [leads(1, 0, 0), leads(1, 1, 10, 10, before=(1, 0))],
        2: [follows(2, 1, 1, 10, 7, before=0), leads(2, 2, 7, 7, before=(1, 1)), *later],
    }
    (loss,) = audited(written(tmp_path, lines)).findings

    assert [event.leader_epoch for event in loss.around] == [0, 1, 1, 2, 3, 4]


NON_MONOTONIC = (
    "[Log partition=t-0, dir=/d] Non-monotonic update of high watermark from (offset=772 segment=[-1:-1]) to"
    " (offset=390 segment=[0:19406]) (kafka.log.Log)"
)


def test_a_shorter_log_is_a_gap_if_no_line_names_a_leader(tmp_path):
    (gap,) = audited(written(tmp_path / "warnings", {1: [NON_MONOTONIC]}), broker="broker-([0-9]+)").gaps
    assert gap.startswith("t-0: a log became shorter, and no line names a leader")
    with_leader = audited(written(tmp_path / "all", {1: [leads(1, 0, 0, isr="1"), NON_MONOTONIC]}))
    assert not any("no line names a leader" in gap for gap in with_leader.gaps)


def test_findings_are_sorted_by_kind_then_by_partition_then_by_epoch_then_by_offset():
    def finding(what, partition, epoch, offset):
        return PartitionFinding(
            what=what,
            topic="t",
            partition=partition,
            first_offset=offset,
            last_offset=offset,
            leader_epoch=epoch,
            time=0,
            told="",
            evidence=(),
        )

    wanted = [
        finding(What.COMMITTED_LOSS, 1, 0, 5),
        finding(What.DIVERGED, 0, None, 7),
        finding(What.DIVERGED, 0, 0, None),
        finding(What.DIVERGED, 0, 0, 0),
        finding(What.DIVERGED, 0, 0, 3),
        finding(What.DIVERGED, 0, 1, 2),
        finding(What.DIVERGED, 1, 0, 1),
    ]
    assert in_order(reversed(wanted)) == wanted
