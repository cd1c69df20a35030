"""Replication: a leader appends a record, followers fetch it, and the responses arrive or are lost.

A follower has one request at a time. The response shows the leader's state at the time of the response. The response is
in flight until it arrives, is dropped, or the follower crashes. Under most protocols the follower also discards a
response in flight when the follower learns a leader-and-ISR update (flight.py).
"""

from epochfuzz.model.kafka.controller import broker_epochs
from epochfuzz.model.kafka.history import produce_purgatory, producer_window, promises
from epochfuzz.model.kafka.partition import (
    delayed_fetch,
    flight,
    high_watermark,
    processes,
    truncation,
    truncation_on_fetch,
)
from epochfuzz.model.kafka.storage import epoch_cache, idempotence, log, log_start, producer_epochs, transactions
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import answers_delayed_fetches_first, fails_fetchers, has_retention
from epochfuzz.model.kafka.vocabulary.mechanisms import (
    BelowLogStart,
    Fencing,
    LateAnswer,
    OutOfRange,
    RemoteLeoOutOfRange,
    Truncation,
)
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, Phase, State


def presumes_leadership(p: State, r: int) -> bool:
    """Return whether r is up and believes that it leads. A stale leader believes this too."""
    return p.known_leader[r] == r


def serves_consumers(p: State, r: int) -> bool:
    """Return whether consumers may read from r: r believes it leads, or r is up and followers serve reads (KIP-392)."""
    return p.known_leader[r] == r or (p.follower_reads and p.up[r])


def produce(p: State, r: int) -> int:
    """Append a client's next record at leader r. With acks=all r rejects the record if the ISR is too small.

    Returns APPLIED, or a Refusal.
    """
    if not presumes_leadership(p, r):
        return Refusal.DOES_NOT_LEAD if p.up[r] else Refusal.IS_DOWN
    if p.produced >= p.records:
        return Refusal.RECORDS_BOUND
    refusal = transactions.why_not_produced(p, r)
    if refusal != APPLIED:
        return refusal
    if p.acks == Acks.ALL and replica_sets.size(p.isr[r]) < p.min_insync_replicas:
        p.goals |= Goal.NOT_ENOUGH_REPLICAS
        return Refusal.NOT_ENOUGH_REPLICAS
    if p.retries:
        refusal = why_not_sent(p, r)
        if refusal != APPLIED:
            return refusal
    if p.known_epoch[r] < p.controller_epoch:
        p.goals |= Goal.ZOMBIE_ACCEPTED_A_WRITE
    record = promises.remember_produced(p, r)
    transactions.note_produced(p, record)
    append_produced(p, r, record)
    return APPLIED


def why_not_sent(p: State, r: int) -> int:
    """Return why a retrying producer cannot send a new record to r, or why r cannot append it; APPLIED if r can."""
    if not producer_window.has_room(p):
        return Refusal.TWO_IN_FLIGHT
    return idempotence.why_not_appended(p, r, p.produced)


def append_produced(p: State, r: int, record: int) -> None:
    """Append a producer's record at leader r. With acks=all the request then waits for the high watermark."""
    append_as_leader(p, r, record)
    producer_epochs.note_append(p, r)
    produce_purgatory.join(p, r, record)
    advance_over_appended(p, r)


def advance_over_appended(p: State, leader: int) -> None:
    """Let the leader raise its high watermark after an append, and respond to the fetches that wait for records.

    Up to Kafka 2.1 the leader responds first, with the old high watermark (Partition.appendRecordsToLeader).
    """
    if p.delayed_fetch and answers_delayed_fetches_first(p):
        delayed_fetch.complete(p, leader)
    high_watermark.advance_leader(p, leader)
    if p.delayed_fetch:
        delayed_fetch.complete(p, leader)


def append_as_leader(p: State, leader: int, record: int) -> None:
    """Append a record at the leader, in the leader's current epoch."""
    epoch_cache.assign(p, leader, p.known_epoch[leader], p.leo[leader])
    log.append(p, leader, record, p.known_epoch[leader])


def fetch(p: State, follower: int) -> int:
    """Send the follower's request to its leader: OffsetsForLeaderEpoch before a truncation, otherwise Fetch.

    Afterwards the response is in flight. With `delayed_fetch` the fetch may wait at the leader instead. Returns
    APPLIED, or a Refusal.
    """
    leader = p.known_leader[follower]
    if leader == NONE:
        return Refusal.KNOWS_NO_LEADER if p.up[follower] else Refusal.IS_DOWN
    if leader == follower:
        return Refusal.LEADS
    if fails_fetchers(p) and p.fetcher_failed[follower]:
        return Refusal.FETCHER_HAS_FAILED
    if flight.is_awaited(p, follower, leader):
        return Refusal.FETCH_WAITS if delayed_fetch.waits(p, follower) else Refusal.ANSWER_IN_FLIGHT
    if not presumes_leadership(p, leader):
        return Refusal.LEADER_DOES_NOT_LEAD if p.up[leader] else Refusal.LEADER_IS_DOWN
    refusal = why_fenced(p, leader, follower)
    if refusal != APPLIED:
        return refusal
    flight.give_up_answer(p, follower)
    answer(p, leader, follower)
    flight.note_request(p, follower, leader)
    return APPLIED


def answer(p: State, leader: int, follower: int) -> None:
    """Let the leader respond to the follower: with the end offset of an epoch, with records, or with an error."""
    if p.phase[follower] != Phase.FETCHING:
        request_epoch_end(p, follower, leader)
    elif has_retention(p) and is_below_log_start(p, leader, follower):
        answer_out_of_range(p, follower, leader)
    elif p.truncation == Truncation.ON_FETCH and truncation_on_fetch.diverges(p, leader, follower):
        truncation_on_fetch.answer_diverging(p, leader, follower)
    elif is_out_of_range(p, leader, follower):
        answer_out_of_range(p, follower, leader)
    else:
        request_records(p, follower, leader)


def is_out_of_range(p: State, leader: int, follower: int) -> bool:
    """Return whether the leader's log ends before the fetch offset, or lacks the epoch that the fetch carries."""
    if p.truncation == Truncation.ON_FETCH:
        return truncation_on_fetch.is_beyond(p, leader, follower)
    return p.leo[follower] > p.leo[leader]


def is_below_log_start(p: State, leader: int, follower: int) -> bool:
    """Return whether the leader rejects a fetch because it has deleted the record at the fetch offset.

    In 2.8.0 the leader looked for a divergence first (KAFKA-12996, Partition.readRecords).
    """
    if p.leo[follower] >= p.log_start[leader]:
        return False
    looks_for_divergence = p.truncation == Truncation.ON_FETCH and p.below_log_start == BelowLogStart.DIVERGING
    return not (looks_for_divergence and truncation_on_fetch.diverges(p, leader, follower))


def is_fenced(p: State, leader: int, follower: int) -> bool:
    """Return whether the leader rejects the follower's request, because it carries another leader epoch (KIP-320)."""
    return p.fencing == Fencing.EPOCH and p.known_epoch[follower] != p.known_epoch[leader]


def why_fenced(p: State, leader: int, follower: int) -> int:
    """Return why the leader rejects the leader epoch in the follower's request, or APPLIED if it does not."""
    if not is_fenced(p, leader, follower):
        return APPLIED
    p.goals |= Goal.FETCH_FENCED
    behind = p.known_epoch[follower] < p.known_epoch[leader]
    return Refusal.FENCED_LEADER_EPOCH if behind else Refusal.UNKNOWN_LEADER_EPOCH


def request_epoch_end(p: State, follower: int, leader: int) -> None:
    """Respond to OffsetsForLeaderEpoch with the end offset of the follower's last epoch in the leader's log."""
    epoch, end = truncation.answer_epoch_request(p, leader, truncation.requested_epoch(p, follower))
    p.flight[follower] = Flight.EPOCH_END
    p.flight_epoch[follower] = epoch
    p.flight_offset[follower] = end


def answer_out_of_range(p: State, follower: int, leader: int) -> None:
    """Respond to a fetch outside the leader's log with an error. The response carries the leader's LEO and log start.

    In Kafka the follower asks for both offsets afterwards, with ListOffsets.
    """
    p.goals |= Goal.FETCH_OUT_OF_RANGE
    if p.remote_leo_out_of_range == RemoteLeoOutOfRange.UNKNOWN:
        p.remote_leos[leader, follower] = NONE  # updateFollowerLogReadResults does not look at the error
        p.fetched_at[leader, follower] = NONE
    p.flight[follower] = Flight.OUT_OF_RANGE
    p.flight_offset[follower] = p.leo[leader]
    log_start.carry(p, leader, follower)


def request_records(p: State, follower: int, leader: int) -> None:
    """Respond to a Fetch request with records from the follower's LEO on, and with the leader's HW.

    The leader reads the records and its HW before it stores the follower's LEO. If there are no records, the request
    waits at the leader. The leader reads again after the wait, so this response may have a later HW
    (ReplicaManager.fetchMessages, DelayedFetch.onComplete).
    """
    start = p.leo[follower]
    high_watermark_read = p.high_watermark[leader]
    broker_epochs.note_fetch(p, leader, follower)  # before note_position, where the HW may wait for the follower
    high_watermark.note_position(p, leader, follower, start)
    count = flight.carry_records(p, leader, follower, start)
    p.flight_offset[follower] = high_watermark_read if count > 0 else p.high_watermark[leader]
    if p.delayed_fetch and count == 0:
        delayed_fetch.wait(p, follower)


def receive(p: State, follower: int) -> int:
    """Deliver the response in flight to the follower. The follower applies the response or ignores it.

    Returns APPLIED, or a Refusal.
    """
    if p.flight[follower] == Flight.NOTHING:
        return Refusal.NOTHING_IN_FLIGHT
    if delayed_fetch.waits(p, follower):
        return Refusal.FETCH_WAITS
    if flight.counts(p, follower):
        apply_answer(p, follower)
    flight.discard_answer(p, follower)
    return APPLIED


def apply_answer(p: State, follower: int) -> None:
    """Apply the response in flight at the follower: append records, or truncate the log."""
    answer = p.flight[follower]
    offset = p.flight_offset[follower]
    if answer == Flight.RECORDS:
        append_fetched(p, follower)
        truncation_on_fetch.note_response(p, follower, p.flight_count[follower] > 0)
        high_watermark.advance_follower(p, follower, offset)
        log_start.follow(p, follower)
    elif answer == Flight.OUT_OF_RANGE:
        apply_out_of_range(p, follower, offset)
    elif answer == Flight.DIVERGING:
        truncation_on_fetch.apply_diverging(p, follower, p.flight_epoch[follower], offset)
    else:
        truncation.apply_epoch_answer(p, follower, p.flight_epoch[follower], offset)


def apply_out_of_range(p: State, follower: int, end: int) -> None:
    """Truncate the follower's log to `end`, the leader's LEO, after an out-of-range response.

    If the leader's log start is beyond the follower's LEO, the follower deletes its log and restarts it at that log
    start. Up to Kafka 2.0.0 the follower's process ends instead of truncating if unclean elections are off, so that no
    records are lost (ReplicaFetcherThread.handleOffsetOutOfRange). In 2.8.0 the leader's LEO can be the higher one, and
    the follower does not truncate (KAFKA-13207).
    """
    if has_retention(p) and p.flight_log_start[follower] > p.leo[follower]:
        log_start.restart_log(p, follower, p.flight_log_start[follower])
        truncation_on_fetch.note_response(p, follower, True)
        return
    if p.late_answer == LateAnswer.DIVERGING_ANY and end >= p.leo[follower]:
        return
    if p.out_of_range == OutOfRange.HALT and not p.unclean_leader_election:
        p.goals |= Goal.HALTED_OUT_OF_RANGE
        processes.die(p, follower)
    else:
        truncation.cut(p, follower, end)
        truncation_on_fetch.note_response(p, follower, True)


def append_fetched(p: State, follower: int) -> None:
    """Append the records of the response in flight, each with its own leader epoch."""
    for i in range(p.flight_count[follower]):
        record, epoch = log.at(p.flight_record[follower], i), log.at(p.flight_record_epoch[follower], i)
        append_as_follower(p, follower, record, epoch)
    producer_epochs.note_fetched(p, follower)


def append_as_follower(p: State, follower: int, record: int, epoch: int) -> None:
    """Append a fetched record at the follower. `epoch` is the leader epoch that the record carries."""
    epoch_cache.assign(p, follower, epoch, p.leo[follower])
    log.append(p, follower, record, epoch)


def drop(p: State, follower: int) -> int:
    """Lose the response in flight to the follower. Returns APPLIED, or a Refusal."""
    if p.flight[follower] == Flight.NOTHING:
        return Refusal.NOTHING_IN_FLIGHT
    if delayed_fetch.waits(p, follower):
        return Refusal.FETCH_WAITS
    flight.discard_answer(p, follower)
    return APPLIED
