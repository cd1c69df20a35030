"""Replication: a record is produced at a leader, fetched by followers, and the answers are received or lost.

A follower has one request under way at a time. The answer carries what the leader had when it answered, and stays
in flight until it is received or dropped, or until the follower crashes or learns a new decision.
"""

from epochfuzz.model import epoch_cache, goals, high_watermark, log, promises, truncation
from epochfuzz.model.configuration import ACKS_ALL
from epochfuzz.model.protocols import FENCING_EPOCH
from epochfuzz.model.state import EPOCH_END, NONE, NOTHING, OUT_OF_RANGE, RECORDS, TRUNCATING, State


def presumes_leadership(p: State, r: int) -> bool:
    """r is up and believes itself leader at some epoch; a zombie does so wrongly."""
    return p.known_leader[r] == r


def size(replica_set: int) -> int:
    """How many replicas a set has."""
    count = 0
    while replica_set:
        replica_set &= replica_set - 1
        count += 1
    return count


def produce(p: State, r: int) -> bool:
    """A client sends the next record to r; with too small an ISR acks=all gets NOT_ENOUGH_REPLICAS."""
    if not presumes_leadership(p, r) or p.produced >= p.records:
        return False
    if p.acks == ACKS_ALL and size(p.isr[r]) < p.min_insync_replicas:
        p.goals |= goals.NOT_ENOUGH_REPLICAS
        return False
    if p.known_epoch[r] < p.controller_epoch:
        p.goals |= goals.ZOMBIE_ACCEPTED_WRITE
    offset = p.leo[r]
    record = promises.remember_produced(p, r)
    log.append(p, r, record, p.known_epoch[r])
    epoch_cache.assign(p, r, p.known_epoch[r], offset)
    high_watermark.advance_leader(p, r)
    return True


def fetch(p: State, follower: int) -> bool:
    """The follower's request reaches its leader, which answers: OffsetsForLeaderEpoch while truncating, then Fetch."""
    leader = p.known_leader[follower]
    if leader == NONE or leader == follower or p.flight[follower] != NOTHING:
        return False
    if not presumes_leadership(p, leader):
        return False
    if p.fencing == FENCING_EPOCH and p.known_epoch[follower] != p.known_epoch[leader]:
        p.goals |= goals.FETCH_FENCED  # KIP-320: FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH
        return False
    if p.phase[follower] == TRUNCATING:
        request_epoch_end(p, follower, leader)
    elif p.leo[follower] > p.leo[leader]:
        p.goals |= goals.FETCH_OUT_OF_RANGE
        p.flight[follower] = OUT_OF_RANGE
        p.flight_offset[follower] = p.leo[leader]
    else:
        request_records(p, follower, leader)
    return True


def request_epoch_end(p: State, follower: int, leader: int) -> None:
    """OffsetsForLeaderEpoch: where does the last epoch that the follower has end in the leader's log?"""
    epoch, end = truncation.answer_epoch_request(p, leader, epoch_cache.latest_epoch(p, follower))
    p.flight[follower] = EPOCH_END
    p.flight_epoch[follower] = epoch
    p.flight_offset[follower] = end


def request_records(p: State, follower: int, leader: int) -> None:
    """Fetch: the offset tells the leader the follower's LEO; the answer brings records and the leader's HW."""
    start = p.leo[follower]
    p.remote_leo[leader, follower] = start
    high_watermark.advance_leader(p, leader)
    count = min(p.records_per_fetch, p.leo[leader] - start)
    p.flight[follower] = RECORDS
    p.flight_count[follower] = count
    p.flight_record[follower] = log.prefix(p.log_record[leader] >> (4 * start), count)
    p.flight_record_epoch[follower] = log.prefix(p.log_epoch[leader] >> (4 * start), count)
    p.flight_offset[follower] = p.high_watermark[leader]


def receive(p: State, follower: int) -> bool:
    """The answer in flight arrives."""
    answer = p.flight[follower]
    offset = p.flight_offset[follower]
    if answer == NOTHING:
        return False
    if answer == RECORDS:
        append_fetched(p, follower)
        high_watermark.advance_follower(p, follower, offset)
    elif answer == OUT_OF_RANGE:
        truncation.cut(p, follower, offset)
    else:
        truncation.apply_epoch_answer(p, follower, p.flight_epoch[follower], offset)
    discard_answer(p, follower)
    return True


def append_fetched(p: State, follower: int) -> None:
    """Append the records of the answer in flight, each with the epoch its leader gave it."""
    for i in range(p.flight_count[follower]):
        epoch = log.at(p.flight_record_epoch[follower], i)
        epoch_cache.assign(p, follower, epoch, p.leo[follower])
        log.append(p, follower, log.at(p.flight_record[follower], i), epoch)


def drop(p: State, follower: int) -> bool:
    """The answer in flight is lost."""
    if p.flight[follower] == NOTHING:
        return False
    discard_answer(p, follower)
    return True


def discard_answer(p: State, follower: int) -> None:
    """Nothing is in flight to the follower any more."""
    p.flight[follower] = NOTHING
    p.flight_count[follower] = 0
    p.flight_record[follower] = 0
    p.flight_record_epoch[follower] = 0
    p.flight_offset[follower] = 0
    p.flight_epoch[follower] = 0
