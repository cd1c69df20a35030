"""Describe broken properties: each function yields a sentence for every violation in a state.

The *true leader* is up, leads the controller's current epoch, and knows that it leads.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from itertools import combinations

from epochfuzz.model.kafka.clients import consumer, consumer_group
from epochfuzz.model.kafka.contract import observation
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.history import ideal_log, promises
from epochfuzz.model.kafka.partition import alter_partition, high_watermark, replication
from epochfuzz.model.kafka.partition.replication import presumes_leadership
from epochfuzz.model.kafka.storage import log, log_start, transactions
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES
from epochfuzz.model.kafka.vocabulary.mechanisms import IsrChange
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, Partition


def _if_it_binds(described: Callable[[Partition], Iterator[str]]) -> Callable[[Partition], Iterator[str]]:
    """Wrap a function that describes violations. The wrapper yields nothing after the guarantees have ended.

    The guarantees end after more failures with lost records than KIP-966 tolerates (promises.are_void).
    """

    @wraps(described)
    def violations(p: Partition) -> Iterator[str]:
        return iter(()) if promises.are_void(p) else described(p)

    return violations


@_if_it_binds
def lost_exposed(p: Partition) -> Iterator[str]:
    """Describe each record that consumers could read and that is missing at its offset on the true leader."""
    leader = controller.true_leader(p)
    if leader == NONE:
        return
    if not p.retries:  # Each record has one offset then, so the set of readable records is enough (ideal_log.py).
        yield from _not_at_their_offsets(p, leader, promises.lost_exposed(p, leader))
        return
    for offset, record in ideal_log.lost(p, leader):
        name = observation.record_name(p, record)
        yield f"{name} is not at offset {offset} of leader {REPLICA_NAMES[leader]}"
    if p.seen_otherwise:
        yield "consumers could read two records at one offset"


@_if_it_binds
def lost_acked(p: Partition) -> Iterator[str]:
    """Describe each acknowledged record that the true leader does not have."""
    leader = controller.true_leader(p)
    if leader == NONE:
        return
    missing = promises.lost_acked(p, leader)
    if not p.retries:  # Each record has one offset then. With retries, the leader may have a record at any offset.
        yield from _not_at_their_offsets(p, leader, missing)
        return
    for record in observation.record_ids(missing):
        yield f"m{record} is nowhere in the log of leader {REPLICA_NAMES[leader]}"


def _not_at_their_offsets(p: Partition, leader: int, missing: int) -> Iterator[str]:
    for offset, record in sorted(
        (log.at(p.record_offset, record), record) for record in observation.record_ids(missing)
    ):
        yield f"m{record} is not at offset {offset} of leader {REPLICA_NAMES[leader]}"


def duplicated(p: Partition) -> Iterator[str]:
    """Describe each record that occurs more than once below the high watermark of the true leader."""
    for record, offsets in _readable_offsets(p).items():
        if len(offsets) > 1:
            at = " and ".join(map(str, offsets))
            yield f"m{record} is at offsets {at} of leader {REPLICA_NAMES[controller.true_leader(p)]}, below its HW"


def out_of_order(p: Partition) -> Iterator[str]:
    """Describe each record that follows a later record below the true leader's high watermark."""
    latest = NONE
    for record in _readable_offsets(p):  # in the order of their first offsets
        if record < latest:
            yield f"m{record} comes after m{latest} on leader {REPLICA_NAMES[controller.true_leader(p)]}, below its HW"
        latest = max(latest, record)


def passed_over(p: Partition) -> Iterator[str]:
    """Describe each record of the true leader below the consumer's position that the consumer has never read."""
    if p.consumer:
        for record in observation.record_ids(consumer.skipped(p)):
            leader = REPLICA_NAMES[controller.true_leader(p)]
            skipped = f"m{record}, which leader {leader} has before that offset"
            yield f"the consumer is at offset {p.position} and has never read {skipped}"


def gone_back(p: Partition) -> Iterator[str]:
    """Describe the consumer's position if it is before a committed position that the true leader still has."""
    if consumer_group.has_gone_back(p):
        leader = REPLICA_NAMES[controller.true_leader(p)]
        yield f"the consumer is at offset {p.position}, but leader {leader} has its committed offset {p.committed}"


def unanswered(p: Partition) -> Iterator[str]:
    """Describe each produce request that still waits after all faults have stopped."""
    if controller.true_leader(p) != NONE:
        for r in range(p.replicas):
            for record in observation.record_ids(p.waiting[r]):
                yield f"healed, the producer of m{record} still waits for an answer of {REPLICA_NAMES[r]}"


def fetch_unanswered(p: Partition) -> Iterator[str]:
    """Describe each fetch that still waits after all faults have stopped."""
    if controller.true_leader(p) != NONE:
        for r in range(p.replicas):
            if p.flight[r] == Flight.WAITING:
                yield f"healed, the fetch of {REPLICA_NAMES[r]} still waits at a leader"


def unstable(p: Partition) -> Iterator[str]:
    """Describe the record that keeps the last stable offset from advancing after all faults have stopped."""
    leader = controller.true_leader(p)
    if transactions.is_stuck(p, leader):
        stable = transactions.last_stable_offset(p, leader)
        record = observation.record_name(p, log.at(p.log_record[leader], stable))
        yield f"healed, the last stable offset of {REPLICA_NAMES[leader]} stays at {stable}: no marker follows {record}"


@_if_it_binds
def uncommitted(p: Partition) -> Iterator[str]:
    """Describe each uncommitted record that a read_committed consumer may read."""
    if not p.transactions:
        return
    for r in range(p.replicas):
        if replication.serves_consumers(p, r):
            read = transactions.delivered(p, r) & ~p.committed_records
            for record in observation.record_ids(read):
                yield f"read_committed consumers may read m{record} on {REPLICA_NAMES[r]}, which is not committed"


@_if_it_binds
def diverging(p: Partition) -> Iterator[str]:
    """Describe each offset that is below the high watermarks of two replicas, and where the two records differ."""
    for a, b in combinations(range(p.replicas), 2):
        both = min(p.high_watermark[a], p.high_watermark[b], p.leo[a], p.leo[b])
        for offset in _offsets_where_records_differ(p, a, b, both):
            yield f"{_both_records(p, a, b, offset)}, below the HW of both"


def mismatching(p: Partition) -> Iterator[str]:
    """Describe each offset where two replicas have different records of the same leader epoch."""
    for a, b in combinations(range(p.replicas), 2):
        for offset in _offsets_where_records_differ(p, a, b, min(p.leo[a], p.leo[b])):
            epoch = log.at(p.log_epoch[a], offset)
            if epoch == log.at(p.log_epoch[b], offset):
                yield f"{_both_records(p, a, b, offset)}, both of epoch {epoch}"


def beyond_log(p: Partition) -> Iterator[str]:
    """Describe each high watermark beyond the log end offset."""
    for r in range(p.replicas):
        if p.high_watermark[r] > p.leo[r]:
            yield f"{REPLICA_NAMES[r]}'s HW {p.high_watermark[r]} is beyond its LEO {p.leo[r]}"


@_if_it_binds
def missing_in_isr(p: Partition) -> Iterator[str]:
    """Describe each record that is below a leader's high watermark, and that a live member of the ISR lacks."""
    for leader in range(p.replicas):
        if not presumes_leadership(p, leader):
            continue
        for r in range(p.replicas):
            if r == leader or not controller.live(p, controller.isr(p)) >> r & 1:
                continue
            for offset in range(min(p.high_watermark[leader], p.leo[leader])):
                if offset >= p.leo[r] or _records_differ(p, leader, r, offset):
                    record = observation.record_name(p, log.at(p.log_record[leader], offset))
                    who, where = REPLICA_NAMES[r], REPLICA_NAMES[leader]
                    yield f"{who} is in the ISR without {record}, which is below {where}'s HW"


def incomplete_joining(p: Partition) -> Iterator[str]:
    """Yield one sentence if a replica joined the ISR without a record below the leader's high watermark.

    The state does not show which replica has joined.
    """
    if p.joined_incomplete:
        yield "a replica has joined the ISR without a record below the HW of the leader that proposed it"


def overdue(p: Partition) -> Iterator[str]:
    """Describe each high watermark that its leader should have raised by now."""
    for leader in range(p.replicas):
        if p.isr_change == IsrChange.ATOMIC or not presumes_leadership(p, leader):
            continue
        due = high_watermark.due(p, leader)
        if due > p.high_watermark[leader] and not high_watermark.is_held(p, leader):
            name = REPLICA_NAMES[leader]
            yield f"leader {name} leaves its HW at {p.high_watermark[leader]}, though its ISR has all below {due}"


def waiting_in_vain(p: Partition) -> Iterator[str]:
    """Describe each leader whose change of the ISR stays pending forever."""
    for leader in range(p.replicas):
        if p.isr_change == IsrChange.REQUEST and p.pending_isr[leader] and alter_partition.waits_in_vain(p, leader):
            isr = ",".join(observation.members(p.pending_isr[leader]))
            yield f"leader {REPLICA_NAMES[leader]} has ISR {isr} pending, and nothing under way will ever answer"


def leaderless(p: Partition) -> Iterator[str]:
    """Describe the replicas that could lead, if no replica leads after all faults have stopped."""
    candidates = controller.candidates(p)
    if controller.true_leader(p) == NONE and candidates:
        yield f"healed, no replica leads, though {' and '.join(observation.members(candidates))} could"


def unequal(p: Partition) -> Iterator[str]:
    """Describe the differences between live replicas if the partition has a leader.

    Without a leader the replicas may differ, so the function yields nothing.
    """
    if controller.leader(p) != NONE:
        yield from differing(p)


def differing(p: Partition) -> Iterator[str]:
    """Describe the differences between live replicas after all faults have stopped.

    The function compares the records, leader epochs, log end offsets, high watermarks and log start offsets.
    """
    for a, b in combinations([r for r in range(p.replicas) if p.up[r]], 2):
        for what, values in (("LEO", p.leo), ("HW", p.high_watermark)):
            if values[a] != values[b]:
                yield f"healed, {what} is {values[a]} on {REPLICA_NAMES[a]} and {values[b]} on {REPLICA_NAMES[b]}"
        for offset in range(max(p.log_start[a], p.log_start[b]), min(p.leo[a], p.leo[b])):
            if _records_differ(p, a, b, offset) or log.at(p.log_epoch[a], offset) != log.at(p.log_epoch[b], offset):
                yield f"healed, {_both_records(p, a, b, offset)}"
    leader = controller.true_leader(p)
    behind = log_start.behind(p, leader)
    for r in range(p.replicas):
        if behind >> r & 1:
            leaders = f"{p.log_start[leader]} on leader {REPLICA_NAMES[leader]}"
            yield f"healed, the log start is {p.log_start[r]} on {REPLICA_NAMES[r]} and {leaders}"


def _readable_offsets(p: Partition) -> dict[int, list[int]]:
    """Return the offsets of each record below the true leader's high watermark, by record id.

    Returns an empty dictionary without retries, because then every record has only one offset.
    """
    leader = controller.true_leader(p)
    offsets: dict[int, list[int]] = {}
    if p.retries and leader != NONE:
        for offset in range(min(p.high_watermark[leader], p.leo[leader])):
            record = log.at(p.log_record[leader], offset)
            if not transactions.is_marker(p, record):
                offsets.setdefault(record, []).append(offset)
    return offsets


def _offsets_where_records_differ(p: Partition, a: int, b: int, end: int) -> Iterator[int]:
    """Yield the offsets below `end` where the logs of replicas a and b have different records."""
    start = max(p.log_start[a], p.log_start[b])
    return (offset for offset in range(start, end) if _records_differ(p, a, b, offset))


def _records_differ(p: Partition, a: int, b: int, offset: int) -> bool:
    return log.at(p.log_record[a], offset) != log.at(p.log_record[b], offset)


def _both_records(p: Partition, a: int, b: int, offset: int) -> str:
    records = {r: observation.record_name(p, log.at(p.log_record[r], offset)) for r in (a, b)}
    held = (f"{REPLICA_NAMES[r]} has {record}" for r, record in records.items())
    return f"at offset {offset} {' and '.join(held)}"
