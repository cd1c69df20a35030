"""Mutants of replication: fetched and appended records, fencing, and the high watermark."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.partition import high_watermark, replication
from epochfuzz.model.kafka.storage import epoch_cache, log
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED
from epochfuzz.model.kafka.vocabulary.state import Flight, Phase, State


@in_place_of(
    high_watermark.lowest_leo_in_isr,
    "the leader advances its high watermark to its own LEO without waiting for the ISR",
)
def high_watermark_counts_leader_only(p: State, leader: int) -> int:
    return p.leo[leader]


@in_place_of(
    high_watermark.lowest_leo_in_isr,
    "the leader advances its high watermark without ISR members that have not fetched in its epoch yet",
)
def unknown_followers_not_awaited(p: State, leader: int) -> int:
    lowest = p.leo[leader]
    for follower in range(p.replicas):
        if p.isr[leader] >> follower & 1 and p.remote_leos[leader, follower] >= 0:
            lowest = min(lowest, p.remote_leos[leader, follower])
    return lowest


@in_place_of(
    high_watermark.lowest_leo_in_isr,
    "the leader advances its high watermark to the position of one follower, not of the whole ISR",
)
def fastest_follower_sets_high_watermark(p: State, leader: int) -> int:
    reached = high_watermark.lowest_leo_in_isr(p, leader)
    for follower in range(p.replicas):
        if follower != leader:
            reached = max(reached, min(p.leo[leader], high_watermark.replication_position(p, leader, follower)))
    return reached


@in_place_of(
    high_watermark.replication_position,
    "the leader takes a fetch offset for the follower's last record, not for the next one it needs",
)
def fetch_offset_taken_as_replicated(p: State, leader: int, follower: int) -> int:
    return min(p.leo[leader], p.remote_leos[leader, follower] + 1)


@in_place_of(
    high_watermark.advance_leader,
    "the leader's high watermark follows the lowest position of the ISR down as well as up",
)
def leader_high_watermark_falls(p: State, leader: int) -> None:
    p.high_watermark[leader] = min(p.high_watermark[leader], high_watermark.lowest_leo_in_isr(p, leader))
    high_watermark.advance_leader(p, leader)


@in_place_of(
    high_watermark.lowest_leo_in_isr, "a leader counts the ISR of a leader-and-ISR update that it has not learned yet"
)
def zombie_counts_latest_isr(p: State, leader: int) -> int:
    lowest = p.leo[leader]
    for follower in range(p.replicas):
        if follower != leader and p.decided_isr[p.controller_epoch] >> follower & 1:
            lowest = min(lowest, high_watermark.replication_position(p, leader, follower))
    return lowest


@in_place_of(
    high_watermark.advance_follower,
    "a follower takes the leader's high watermark even beyond its own log end offset",
)
def follower_trusts_leader_high_watermark(p: State, follower: int, leader_high_watermark: int) -> None:
    high_watermark.advance_follower(p, follower, leader_high_watermark)
    p.high_watermark[follower] = leader_high_watermark


@in_place_of(high_watermark.advance_follower, "a follower treats all records that it has fetched as committed")
def follower_high_watermark_is_log_end(p: State, follower: int, leader_high_watermark: int) -> None:
    high_watermark.advance_follower(p, follower, leader_high_watermark)
    p.high_watermark[follower] = p.leo[follower]


@in_place_of(high_watermark.advance_follower, "a follower ignores a high watermark lower than its own")
def follower_high_watermark_never_falls(p: State, follower: int, leader_high_watermark: int) -> None:
    highest = p.high_watermark[follower]
    high_watermark.advance_follower(p, follower, leader_high_watermark)
    p.high_watermark[follower] = max(highest, p.high_watermark[follower])


@in_place_of(replication.request_records, "a Fetch response carries the leader's LEO where its high watermark belongs")
def leader_sends_log_end_as_high_watermark(p: State, follower: int, leader: int) -> None:
    replication.request_records(p, follower, leader)
    p.flight_offset[follower] = p.leo[leader]


@in_place_of(high_watermark.note_position, "the leader counts the records that it sends as already replicated")
def fetch_acknowledges_what_it_sends(p: State, leader: int, follower: int, offset: int) -> None:
    high_watermark.note_position(p, leader, follower, min(p.leo[leader], offset + p.records_per_fetch))


@in_place_of(
    replication.request_epoch_end,
    "the leader counts an epoch-end request as a fetch from the follower's log end offset",
)
def epoch_request_taken_for_a_fetch(p: State, follower: int, leader: int) -> None:
    replication.request_epoch_end(p, follower, leader)
    high_watermark.note_position(p, leader, follower, min(p.leo[follower], p.leo[leader]))


@in_place_of(high_watermark.note_position, "the leader keeps the highest position that it has seen of a follower")
def remote_log_end_only_grows(p: State, leader: int, follower: int, offset: int) -> None:
    high_watermark.note_position(p, leader, follower, max(p.remote_leos[leader, follower], offset))


@in_place_of(
    replication.append_as_follower,
    "a follower stamps the records that it copies with the epoch it knows, not the one they were written in",
)
def records_restamped_by_follower(p: State, follower: int, record: int, epoch: int) -> None:
    replication.append_as_follower(p, follower, record, p.known_epoch[follower])


@in_place_of(replication.append_as_follower, "a follower stamps a whole batch with the epoch of its first record")
def batch_has_one_epoch(p: State, follower: int, record: int, epoch: int) -> None:
    replication.append_as_follower(p, follower, record, log.at(p.flight_record_epoch[follower], 0))


@in_place_of(
    replication.append_as_leader,
    "a leader stamps records with the controller's latest epoch, not with its own",
)
def records_stamped_with_the_controllers_epoch(p: State, leader: int, record: int) -> None:
    epoch_cache.assign(p, leader, p.known_epoch[leader], p.leo[leader])
    log.append(p, leader, record, p.controller_epoch)


@in_place_of(replication.why_fenced, "a leader answers requests of any epoch", jira="KAFKA-7395")
def requests_not_fenced(p: State, leader: int, follower: int) -> int:
    return APPLIED


@in_place_of(replication.why_fenced, "a leader answers a follower of a later epoch", jira="KAFKA-6880")
def stale_leader_answers(p: State, leader: int, follower: int) -> int:
    if p.known_epoch[follower] > p.known_epoch[leader]:
        return APPLIED
    return replication.why_fenced(p, leader, follower)


@in_place_of(replication.why_fenced, "a leader answers a follower of an earlier epoch")
def stale_follower_answered(p: State, leader: int, follower: int) -> int:
    if p.known_epoch[follower] < p.known_epoch[leader]:
        return APPLIED
    return replication.why_fenced(p, leader, follower)


@in_place_of(replication.why_fenced, "Fetch carries the follower's epoch, but OffsetsForLeaderEpoch does not")
def epoch_requests_not_fenced(p: State, leader: int, follower: int) -> int:
    if p.phase[follower] != Phase.FETCHING:
        return APPLIED
    return replication.why_fenced(p, leader, follower)


@in_place_of(replication.why_fenced, "OffsetsForLeaderEpoch carries the follower's epoch, but Fetch does not")
def fetches_not_fenced(p: State, leader: int, follower: int) -> int:
    if p.phase[follower] == Phase.FETCHING:
        return APPLIED
    return replication.why_fenced(p, leader, follower)


@in_place_of(replication.receive, "a follower whose offset is beyond the leader's log keeps its log")
def out_of_range_keeps_the_log(p: State, follower: int) -> int:
    if p.flight[follower] == Flight.OUT_OF_RANGE:
        return replication.drop(p, follower)
    return replication.receive(p, follower)
