"""The parts of sentences about a step: records, epochs, and guarantees to clients."""

from collections.abc import Iterable, Iterator

from epochfuzz.harness.trace import isr_changes
from epochfuzz.harness.trace.change import Change, joined
from epochfuzz.model.kafka.contract.observation import record_name, record_names
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.history import ideal_log, promises
from epochfuzz.model.kafka.partition import delayed_fetch
from epochfuzz.model.kafka.storage import epoch_cache, log
from epochfuzz.model.kafka.storage.transactions import is_marker
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES
from epochfuzz.model.kafka.vocabulary.in_force import tracks_eligible_leaders
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, State


def promised(p: State) -> int:
    """Return the set of guaranteed records: consumers could read them, or producers received an acknowledgement."""
    return int(p.exposed | p.acked)


def missing(p: State) -> int:
    """Return the set of guaranteed records that the controller's current leader lacks at their offsets.

    Empty if this leader is down or does not know its epoch yet.
    """
    leader = controller.true_leader(p)
    return 0 if leader == NONE else absent(p, leader)


def absent(p: State, r: int) -> int:
    """Return the set of guaranteed records that r lacks at their offsets."""
    if not p.retries:
        return int(promised(p) & ~promises.standing_or_deleted(p, r))
    unlike_seen = {record for _, record in ideal_log.lost(p, r)}
    return int(promises.lost_acked(p, r)) | sum(1 << record for record in unlike_seen)


def stored(p: State, r: int) -> int:
    """Return the set of records in r's log. Without retries, a record counts only at the offset of its first append."""
    return int(log.records_in(p, r) if p.retries else p.standing[r])


def offset_of(p: State, record: int) -> int:
    """Return the offset of a record's first append. With retries, return the offset that clients saw."""
    if p.retries:
        for offset in range(p.seen_end):
            if log.at(p.seen, offset) == record:
                return offset
    return log.at(p.record_offset, record)


def in_flight(p: State, r: int) -> str:
    """Return the response in flight to r, such as `m1, HW 1`, or an empty text."""
    if p.flight[r] == Flight.NOTHING:
        return ""
    offset = p.flight_offset[r]
    if p.flight[r] == Flight.OUT_OF_RANGE:
        start = f"log start {p.flight_log_start[r]}, " if p.flight_log_start[r] else ""
        return f"out of range, {start}LEO {offset}"
    if p.flight[r] == Flight.EPOCH_END:
        return "epoch end undefined" if offset == NONE else f"epoch {epoch_answered(p, r)} ends at {offset}"
    if p.flight[r] == Flight.WAITING:
        return f"fetch waits at {REPLICA_NAMES[delayed_fetch.waits_at(p, r)]}"
    if p.flight[r] == Flight.DIVERGING:
        return f"diverges, e{p.flight_epoch[r]} ends at {offset}"
    return f"{fetched(p, r)}, HW {offset}"


# The parts of clauses.


def appends(c: Change) -> str:
    """Return a clause about the records that the event's replica appends, and their offsets."""
    start, end = c.before.leo[c.r], c.after.leo[c.r]
    at = f"at offset {start}" if end == start + 1 else f"at offsets {start} to {end - 1}"
    return f"{c.name} appends {records_named(c.after, ids_between(c.after.log_record[c.r], start, end))} {at}"


def cuts(c: Change, reason: str, verb: str = "truncates") -> str:
    """Return a clause about the records that the event's replica truncates, and the reason."""
    start = max(c.after.leo[c.r], c.before.log_start[c.r])
    cut = ids_between(c.before.log_record[c.r], start, c.before.leo[c.r])
    return f"{c.name} {verb} {records_named(c.before, cut)}: {reason}{although(c, cut)}"


def although(c: Change, cut: list[int]) -> str:
    """Return a clause about a truncated record that was committed: `, although m1 was committed on A`.

    Empty if no truncated record was committed.
    """
    for record in cut:
        if record in c.readable_on and not is_marker(c.before, record):
            return f", although m{record} was committed on {c.readable_on[record]}"
    return ""


def disk(c: Change) -> str:
    """Return a clause about the log of the event's replica on disk, and about its high watermark."""
    p, r = c.after, c.r
    kept = ids_between(p.log_record[r], p.log_start[r], p.leo[r])
    return f"its disk has {records_named(p, kept) if kept else 'an empty log'} with HW {p.high_watermark[r]}"


def fetched(p: State, r: int) -> str:
    """Return the records in the fetch response in flight to r."""
    count = p.flight_count[r]
    return records_named(p, ids_between(p.flight_record[r], 0, count)) if count else "no records"


def decides(c: Change) -> bool:
    """Return whether the controller changes the epoch or the ISR in this step."""
    p, q = c.before, c.after
    return bool(q.controller_epoch > p.controller_epoch or controller.isr(q) != controller.isr(p))


def is_struck(c: Change) -> bool:
    """Return whether this step leaves the event's replica outside of the ISR and of the eligible leader replicas (ELR).

    The reason is an unclean shutdown (KIP-966). After a clean shutdown, the replica would be in the ELR.
    """
    p, q = c.before, c.after
    was_candidate = (p.elr | controller.isr(p)) >> c.r & 1 and not (q.elr | controller.isr(q)) >> c.r & 1
    return was_candidate and tracks_eligible_leaders(q) and replica_sets.size(controller.isr(q)) < q.min_insync_replicas


def forgotten(c: Change) -> Iterator[str]:
    """Yield clauses about the responses that a replica no longer waits for: to its ISR proposal, and to its fetch."""
    yield from isr_changes.given_up(c)
    if c.before.flight[c.r] != Flight.NOTHING:
        yield f"the response in flight to {c.name} is discarded: {in_flight(c.before, c.r)}"


def outdated(p: State, epoch: int) -> str:
    """Return the clause `, although the controller is at epoch 2`. Empty if the controller is at `epoch` itself."""
    return f", although the controller is at epoch {p.controller_epoch}" if epoch < p.controller_epoch else ""


def own_last_epoch(p: State, r: int) -> str:
    """Return the last epoch in the replica's leader epoch cache, as in `epoch 1`."""
    epoch = epoch_cache.latest_epoch(p, r)
    return "an unknown epoch" if epoch == NONE else f"epoch {epoch}"


def epoch_answered(p: State, r: int) -> int:
    """Return the epoch whose end offset is in flight to r. Before KIP-279 it is the epoch that r asked about."""
    return int(p.flight_epoch[r] if p.flight_epoch[r] != NONE else epoch_cache.latest_epoch(p, r))


def ids_between(word: int, start: int, end: int) -> list[int]:
    """Return the record ids of a log from offset `start` to `end` - 1. `word` is the log, packed into one integer."""
    return [log.at(word, offset) for offset in range(start, end)]


def records_named(p: State, ids: Iterable[int]) -> str:
    """Return the names of records as text: `m0, m1 and m2`."""
    return joined(record_name(p, each) for each in ids)


def records(record_set: int) -> str:
    """Return the names of the records in a set as text: `m0, m1 and m2`."""
    return joined(record_names(record_set))
