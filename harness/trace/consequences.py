"""Describe the effects that any event can have: changed high watermarks, new guarantees to clients, lost records."""

from collections.abc import Iterator

from epochfuzz.harness.trace import isr_changes, log_starts, rivals, transactions
from epochfuzz.harness.trace.change import Change, is_or_are, listed
from epochfuzz.harness.trace.wording import ids_between, in_flight, missing, offset_of, records, stored
from epochfuzz.model.kafka.contract.observation import record_ids, record_name
from epochfuzz.model.kafka.contract.properties import PROPERTIES
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.history import promises
from epochfuzz.model.kafka.partition import delayed_fetch, high_watermark, lag_time, replication
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary import events, replica_sets
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, Verb
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, State

_PERMITTED = "losses are permitted from now on"
_TOLD_AS_LOSSES = ("no-committed-loss", "no-acked-loss")


def of(change: Change) -> Iterator[str]:
    """Yield the effects of an event as clauses, such as `B's HW rises to 2`."""
    yield from _eligible_leaders(change)
    yield from _high_watermarks(change)
    yield from log_starts.consequences(change)
    yield from _promises(change)
    yield from _waiting(change)
    yield from _delayed_fetches(change)
    yield from transactions.consequences(change)
    yield from _zombies(change)
    yield from rivals.two_leaders(change)
    yield from _lossy_failures(change)
    yield from _losses(change)
    yield from _breaches(change)


def _eligible_leaders(c: Change) -> Iterator[str]:
    if c.after.elr != c.before.elr:
        yield f"the ELR is {listed(c.after.elr)} now"


def _high_watermarks(c: Change) -> Iterator[str]:
    for r in range(c.after.replicas):
        old, new = c.before.high_watermark[r], c.after.high_watermark[r]
        if new > old:
            yield f"{REPLICA_NAMES[r]}'s HW rises to {new}"
        elif new < old:
            yield f"{REPLICA_NAMES[r]}'s HW falls from {old} to {new}"
        if _held_below(c.after, r) > max(new, _held_below(c.before, r)):
            yield f"{REPLICA_NAMES[r]}'s HW stays at {new}: {_too_small(c.after, r)}"
        elif _waiting_below(c.after, r) > max(new, _waiting_below(c.before, r)):
            yield f"{REPLICA_NAMES[r]}'s HW stays at {new} and waits for {_waited_for(c.after, r)}"


def _waiting_below(p: State, r: int) -> int:
    """Return the HW that leader r would have without waiting for replicas outside the ISR (replica.lag.time.max.ms).

    Returns r's current HW if r does not wait for them.
    """
    if p.lag_time and replication.presumes_leadership(p, r) and _outside(p, r):
        return high_watermark.lowest_leo_in_isr(p, r)
    return int(p.high_watermark[r])


def _outside(p: State, leader: int) -> int:
    """Return the set of replicas outside the ISR that keep the leader's HW from rising, with one bit per replica."""
    end = high_watermark.lowest_leo_in_isr(p, leader)
    return sum(
        1 << r
        for r in range(p.replicas)
        if p.remote_leos[leader, r] < end and not p.isr[leader] >> r & 1 and lag_time.is_waited_for(p, leader, r)
    )


def _waited_for(p: State, leader: int) -> str:
    return f"{listed(_outside(p, leader))}, caught up within the lag time though outside the ISR"


def _held_below(p: State, r: int) -> int:
    """Return the HW that leader r would have if its ISR had min.insync.replicas members.

    Returns r's current HW if the ISR is large enough.
    """
    if replication.presumes_leadership(p, r) and high_watermark.is_held(p, r):
        return high_watermark.lowest_leo_in_isr(p, r)
    return int(p.high_watermark[r])


def _too_small(p: State, r: int) -> str:
    return f"the ISR has {replica_sets.size(p.isr[r])} of min.insync.replicas {p.min_insync_replicas}"


def _promises(c: Change) -> Iterator[str]:
    committed = c.after.exposed & ~c.before.exposed
    answered = c.after.acked & ~c.before.acked
    for record_set, what in (
        (committed & answered, "committed and acknowledged"),
        (committed & ~answered, "committed"),
        (answered & ~committed, "acknowledged"),
    ):
        if record_set:
            yield f"{records(record_set)} {is_or_are(record_set)} {what}"
    if committed & ~answered and c.after.acks == Acks.ALL:
        yield from _unanswered(c, committed & ~answered)


def _unanswered(c: Change, committed: int) -> Iterator[str]:
    """Describe the error that a producer gets for a record that is committed, but not acknowledged."""
    for r in range(c.after.replicas):
        size = replica_sets.size(c.after.isr[r])
        if committed & stored(c.after, r) and 0 < size < c.after.min_insync_replicas:
            yield f"its producer gets NOT_ENOUGH_REPLICAS_AFTER_APPEND: the ISR has {size} of min.insync.replicas"
            return


def _waiting(c: Change) -> Iterator[str]:
    """Yield clauses about produce requests that begin to wait, or that end without an acknowledgement."""
    begun = [c.after.waiting[r] & ~c.before.waiting[r] for r in range(c.after.replicas)]
    elsewhere = sum(begun)
    for r in range(c.after.replicas):
        name = REPLICA_NAMES[r]
        if begun[r]:
            yield f"the producer of {records(begun[r])} waits for {name}'s HW"
        ended = c.before.waiting[r] & ~c.after.waiting[r] & ~c.after.acked & ~elsewhere
        if ended and not c.after.up[r]:
            yield f"the producer of {records(ended)}, which waited there, gets no response"
        elif ended and not stored(c.after, r) & ended & _committed(c.after, r):
            yield f"the producer of {records(ended)} gets NOT_LEADER_OR_FOLLOWER from {name}"


def _delayed_fetches(c: Change) -> Iterator[str]:
    """Yield a clause for each delayed fetch that gets its response in this step."""
    if events.verb_of(c.event) in (Verb.FETCH, Verb.EXPIRE_FETCH):
        return
    for r in range(c.after.replicas):
        leader = delayed_fetch.waits_at(c.before, r)
        if leader != NONE and c.after.flight[r] == Flight.RECORDS:
            yield f"{REPLICA_NAMES[r]}'s waiting fetch gets the response {in_flight(c.after, r)}"
        elif leader != NONE and c.after.flight[r] == Flight.NOTHING and c.after.up[r]:
            yield f"{REPLICA_NAMES[r]}'s fetch, which waited at {REPLICA_NAMES[leader]}, brings nothing"


def _committed(p: State, r: int) -> int:
    """Return the set of records below r's high watermark, or the empty set if r does not lead."""
    end = p.high_watermark[r] if replication.presumes_leadership(p, r) else 0
    return sum(1 << record for record in set(ids_between(p.log_record[r], p.log_start[r], end)))


def _zombies(c: Change) -> Iterator[str]:
    for r in range(c.after.replicas):
        if replication.presumes_leadership(c.before, r) and is_zombie(c.after, r) and not is_zombie(c.before, r):
            yield f"{REPLICA_NAMES[r]} does not know that and still leads epoch {c.after.known_epoch[r]}, a zombie"


def is_zombie(p: State, r: int) -> bool:
    """Return whether r believes that it leads, although the controller has elected another leader since."""
    return replication.presumes_leadership(p, r) and p.known_epoch[r] < p.controller_epoch and controller.leader(p) != r


def _lossy_failures(c: Change) -> Iterator[str]:
    """Yield the reason why lost records are permitted from this step on.

    Yield nothing if losses were already permitted before the step, or are still not permitted.
    """
    if promises.are_void(c.after) and not promises.are_void(c.before):
        if events.verb_of(c.event) is Verb.ELECT:
            yield f"the replicas with all records shut down uncleanly, and one has lost records: {_PERMITTED}"
        else:
            yield f"{_lossy(c.after)}: {_PERMITTED}"


def _lossy(p: State) -> str:
    times = {1: "once", 2: "twice"}.get(p.min_insync_replicas, f"{p.min_insync_replicas} times")
    if p.lost_directory:
        return f"failures have lost records {times}"
    return f"power has failed {times} with unflushed records"


def _losses(c: Change) -> Iterator[str]:
    leader = controller.true_leader(c.after)
    permitted = ", as the contract permits now" if promises.are_void(c.after) else ""
    for record in record_ids(missing(c.after) & ~missing(c.before)):
        offset = offset_of(c.after, record)
        instead = log.at(c.after.log_record[leader], offset)
        has = f"has {record_name(c.after, instead)} there" if offset < c.after.leo[leader] else "does not have it"
        yield f"m{record} is lost{permitted}: it was {_promise_of(c, record)}, and leader {REPLICA_NAMES[leader]} {has}"


def _promise_of(c: Change, record: int) -> str:
    offset = offset_of(c.after, record)
    if record in c.readable_on:
        return f"readable on {c.readable_on[record]} at offset {offset}"
    permitted = ", which acks=1 does not protect" if c.after.acks == Acks.LEADER else ""
    return f"acknowledged at offset {offset}{permitted}"


def _breaches(c: Change) -> Iterator[str]:
    """Yield a description of each property that this step broke, except lost records, which `_losses` describes."""
    for each in PROPERTIES:
        if each.name == "join-complete" and each.name in c.newly_broken:
            yield isr_changes.joined_incomplete(c)
        elif each.name in c.newly_broken and each.name not in _TOLD_AS_LOSSES:
            yield next(each.violations(c.after))
