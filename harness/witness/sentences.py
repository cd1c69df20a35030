"""What a step did, in the words of a Kafka engineer: clauses derived from the states before and after it.

A step is described in two parts: what the event itself was about, by verb, and then its consequences, which read
the same whatever caused them: a high watermark moved, a record was committed, a record is lost.
"""

from collections.abc import Callable, Iterable, Iterator

from epochfuzz.harness.witness import isr_changes, rivals, transactions
from epochfuzz.harness.witness.change import Change, answered_by, decision, isr_of, joined, listed
from epochfuzz.model import (
    controller,
    epoch_cache,
    events,
    flight,
    high_watermark,
    ideal_log,
    log,
    producer_window,
    promises,
    replica_sets,
    replication,
    truncation,
)
from epochfuzz.model.configuration import Acks
from epochfuzz.model.events import REPLICA_NAMES, Verb
from epochfuzz.model.high_watermark import replication_position
from epochfuzz.model.mechanisms import (
    ConsumerPosition,
    DivergingFetch,
    DivergingHighWatermark,
    Truncation,
    checks_logs_on_fetch,
    has_heartbeats,
    tracks_eligible_leaders,
)
from epochfuzz.model.observation import record_name
from epochfuzz.model.properties import PROPERTIES
from epochfuzz.model.state import NONE, Flight, Phase, State
from epochfuzz.model.transactions import is_marker


def clauses(change: Change) -> tuple[str, ...]:
    """What an enabled event did: each clause stands alone, and together they make a sentence."""
    return (
        *_about(change),
        *_eligible_leaders(change),
        *_high_watermarks(change),
        *_promises(change),
        *_waiting(change),
        *transactions.consequences(change),
        *_zombies(change),
        *rivals.two_leaders(change),
        *_lossy_failures(change),
        *_losses(change),
        *_breaches(change),
    )


def _about(change: Change) -> Iterable[str]:
    """What the event itself was about; for a verb that nobody has written of, what its declaration says."""
    verb = events.verb_of(change.event)
    return _VERBS[verb](change) if verb in _VERBS else (f"{change.name}: {verb.meaning}",)


def promised(p: State) -> int:
    """The set of records a client was promised: consumers could read them, or their producer was answered."""
    return int(p.exposed | p.acked)


def missing(p: State) -> int:
    """The set of promised records that the true leader does not have where they belong."""
    leader = controller.true_leader(p)
    return 0 if leader == NONE else absent(p, leader)


def absent(p: State, r: int) -> int:
    """The set of promised records that r does not have where they belong."""
    if not p.retries:
        return int(promised(p) & ~p.standing[r])
    unlike_seen = {record for _, record in ideal_log.lost(p, r)}
    return int(promises.lost_acked(p, r)) | sum(1 << record for record in unlike_seen)


def stored(p: State, r: int) -> int:
    """The set of records that r has, and where they belong if a record has one place."""
    return int(log.records_in(p, r) if p.retries else p.standing[r])


def records_in(record_set: int) -> list[int]:
    """The record ids of a record set, in order."""
    return [record for record in range(record_set.bit_length()) if record_set >> record & 1]


def offset_of(p: State, record: int) -> int:
    """The offset at which a record belongs: that of its first append, or with retries that at which it was seen."""
    if p.retries:
        for offset in range(p.seen_end):
            if log.at(p.seen, offset) == record:
                return offset
    return log.at(p.record_offset, record)


def in_flight(p: State, r: int) -> str:
    """What is in flight to r, as in `m1, HW 1`; empty for nothing."""
    if p.flight[r] == Flight.NOTHING:
        return ""
    offset = p.flight_offset[r]
    if p.flight[r] == Flight.OUT_OF_RANGE:
        return f"out of range, LEO {offset}"
    if p.flight[r] == Flight.EPOCH_END:
        return "epoch end undefined" if offset == NONE else f"epoch {_epoch_answered(p, r)} ends at {offset}"
    if p.flight[r] == Flight.DIVERGING:
        return f"diverges, e{p.flight_epoch[r]} ends at {offset}"
    return f"{_fetched(p, r)}, HW {offset}"


# What each event was about.


def _produce(c: Change) -> Iterator[str]:
    epoch = c.before.known_epoch[c.r]
    yield f"{_appends(c)} in epoch {epoch}{_outdated(c.before, epoch)}"


def _fetch(c: Change) -> Iterator[str]:
    p, r = c.before, c.r
    leader = REPLICA_NAMES[p.known_leader[r]]
    if p.flight[r] != Flight.NOTHING:
        yield f"{c.name} waits no more for {REPLICA_NAMES[answered_by(p, r)]}'s answer: {in_flight(p, r)}"
    if c.after.flight[r] == Flight.OUT_OF_RANGE:
        yield f"{c.name} fetches from offset {p.leo[r]}, {_beyond(c, leader)}: out of range"
    elif c.after.flight[r] == Flight.DIVERGING:
        yield from _fetch_diverging(c, leader)
    elif c.after.flight[r] != Flight.EPOCH_END:
        yield from _fetch_records(c, leader)
    elif c.after.flight_offset[r] == NONE:
        yield f"{c.name} asks where {_own_last_epoch(p, r)} ends; {leader} does not know: undefined"
    else:
        yield f"{c.name} asks where {_own_last_epoch(p, r)} ends; {leader} answers: {in_flight(c.after, r)}"


def _beyond(c: Change, leader: str) -> str:
    """Why a fetch is out of range: by its offset, or by the epoch of the follower's last record."""
    end = c.after.flight_offset[c.r]
    if c.before.leo[c.r] > end:
        return f"beyond {leader}'s LEO {end}"
    return f"with {_own_last_epoch(c.before, c.r)}, of which {leader} knows nothing"


def _fetch_diverging(c: Change, leader: str) -> Iterator[str]:
    p, r = c.before, c.r
    epoch, end = c.after.flight_epoch[r], c.after.flight_offset[r]
    yield (
        f"{c.name} fetches from offset {p.leo[r]}, its last record of {_own_last_epoch(p, r)}; "
        f"{leader} answers that their logs diverge: epoch {epoch} ends at offset {end}"
    )
    if p.diverging_fetch == DivergingFetch.COUNTED:
        yield f"{leader} takes it that {c.name} has everything below offset {p.leo[r]} all the same"


def _fetch_records(c: Change, leader: str) -> Iterator[str]:
    p, r = c.before, c.r
    answer = f"with {_fetched(c.after, r)} and HW {c.after.flight_offset[r]}"
    if replication_position(p, p.known_leader[r], r) < p.leo[r]:
        yield f"{c.name}'s fetch from offset {p.leo[r]} shows {leader} that {c.name} has everything below it"
        yield f"{leader} answers {answer}"
    else:
        yield f"{leader} answers {c.name}'s fetch from offset {p.leo[r]} {answer}"


def _receive(c: Change) -> Iterator[str]:
    p, r = c.before, c.r
    if not flight.counts(p, r):
        yield f"{c.name} does not take the answer for one that it waits for: {in_flight(p, r)}; {_why_not_counted(c)}"
        return
    if p.flight_old[r]:
        yield f"the answer outlives the decision that {c.name} has learned since it asked"
    if p.flight[r] == Flight.EPOCH_END:
        yield from _receive_epoch_end(c)
    elif p.flight[r] == Flight.DIVERGING:
        yield from _receive_diverging(c)
    elif p.flight[r] == Flight.OUT_OF_RANGE:
        yield from _receive_out_of_range(c)
    elif p.flight_count[r]:
        yield _appends(c)
    elif p.flight_offset[r] == p.high_watermark[r]:
        yield f"the answer brings {c.name} nothing new"
    else:
        yield f"{c.name} has nothing to append"


def _why_not_counted(c: Change) -> str:
    p, r = c.before, c.r
    if p.known_leader[r] != p.flight_leader[r]:
        does = "leads itself" if p.known_leader[r] == r else f"follows {_whom(p, r)}"
        return f"{REPLICA_NAMES[p.flight_leader[r]]} gave it, and {c.name} {does} now"
    if p.leo[r] != p.flight_from[r]:
        return f"it is to a fetch from offset {p.flight_from[r]}, and its log ends at {p.leo[r]} now"
    return "it has started anew since, with an empty log"


def _whom(p: State, r: int) -> str:
    return "nobody" if p.known_leader[r] == NONE else REPLICA_NAMES[p.known_leader[r]]


def _receive_diverging(c: Change) -> Iterator[str]:
    p, r = c.before, c.r
    if replication.presumes_leadership(p, r):
        yield f"{c.name} does what a follower should, although it leads epoch {p.known_epoch[r]} by now"
    if p.diverging_high_watermark == DivergingHighWatermark.APPLIED and p.flight_count[r] > p.high_watermark[r]:
        yield f"{c.name} first takes over the HW in it, {min(p.flight_count[r], p.leo[r])}, before it cuts its log"
    yield from _receive_epoch_end(c)


def _receive_out_of_range(c: Change) -> Iterator[str]:
    p, r = c.before, c.r
    reason = f"{REPLICA_NAMES[answered_by(p, r)]}'s log ended at offset {p.flight_offset[r]}"
    if c.after.up[r]:
        yield _cuts(c, reason)
    else:
        yield f"{c.name}'s process ends, rather than lose records: {reason}, and unclean elections are off"


def _receive_epoch_end(c: Change) -> Iterator[str]:
    reason = _reason_by_epoch(c)
    if c.after.leo[c.r] < c.before.leo[c.r]:
        yield _cuts(c, reason)
    else:
        yield f"{c.name}, with LEO {c.after.leo[c.r]}, cuts nothing: {reason}"
    if c.after.phase[c.r] != Phase.FETCHING:
        yield f"{c.name} will ask again, now for {_own_last_epoch(c.after, c.r)}"


def _reason_by_epoch(c: Change) -> str:
    """Why an epoch answer makes c.r cut where it does; see truncation.py for the rules."""
    p, r = c.before, c.r
    leader = REPLICA_NAMES[answered_by(p, r)]
    epoch, end = p.flight_epoch[r], p.flight_offset[r]
    if end == NONE:
        if p.phase[r] == Phase.TRUNCATING_FURTHER:
            return f"{leader} did not know, and {c.name} has cut its log already"
        return f"{leader} did not know, and {c.name}'s high watermark was {p.high_watermark[r]}"
    by_leader = f"epoch {_epoch_answered(p, r)} ends at offset {end} on {leader}"
    if p.truncation == Truncation.LEADER_EPOCH:
        return by_leader
    own_epoch, own_end = epoch_cache.end_offset_kip_279(p, r, epoch, p.leo[r])
    if own_epoch == NONE:
        return f"{by_leader}, and {c.name} has no epoch up to {epoch}"
    if own_epoch != epoch:
        return f"{leader} has epoch {epoch}, {c.name} has only {own_epoch} near it, which ends at offset {own_end}"
    return by_leader if end <= own_end else f"{by_leader}, and at {own_end} on {c.name}"


def _drop(c: Change) -> Iterator[str]:
    yield f"the answer to {c.name} is lost on the way: {in_flight(c.before, c.r)}"


def _crash(c: Change) -> Iterator[str]:
    yield f"{c.name}'s process dies; {_disk(c)}"
    yield from _forgotten(c)


def _power_loss(c: Change) -> Iterator[str]:
    yield f"power fails at {c.name}; {_disk(c)}"
    if c.after.leo[c.r] < c.before.leo[c.r]:
        yield _cuts(c, "not flushed", verb="loses")
    yield from _forgotten(c)


def _restart(c: Change) -> Iterator[str]:
    if _decides(c):
        yield f"the controller takes {c.name} for failed first: {decision(c.after)}"
    if _is_struck(c):
        yield f"{c.name} is no eligible leader replica, for it did not shut down cleanly and may have lost records"
    yield f"{c.name} is up again, and knows no leader yet; {_disk(c)}"


def _notify(c: Change) -> Iterator[str]:
    if c.after.known_epoch[c.r] == c.before.known_epoch[c.r]:
        yield from isr_changes.learned(c)
    else:
        yield from _learn(c)


def _rival_notify(c: Change) -> Iterator[str]:
    yield from rivals.rival_notify(c)
    yield from _learn(c)


def _learn(c: Change) -> Iterator[str]:
    p, r = c.before, c.r
    epoch, leader = c.after.known_epoch[r], c.after.known_leader[r]
    outdated = _outdated(p, epoch)
    missed = f"{c.name} skips to epoch {epoch}: it" if epoch > p.known_epoch[r] + 1 else c.name
    stepping_down = " and steps down" if replication.presumes_leadership(p, r) else ""
    if leader == r:
        becomes = "learns that it leads on, in" if replication.presumes_leadership(p, r) else "becomes leader of"
        yield f"{missed} {becomes} epoch {epoch}{outdated}"
    elif leader == NONE:
        yield f"{missed} learns that epoch {epoch} has no leader{stepping_down}{outdated}"
    else:
        yield f"{missed} learns that {REPLICA_NAMES[leader]} leads epoch {epoch}{stepping_down}{outdated}"
        yield from _start_to_follow(c)
    if c.after.flight[r] == Flight.NOTHING:
        yield from _forgotten(c)
    else:
        yield from isr_changes.given_up(c)
        yield f"the answer in flight to {c.name} outlives that: {in_flight(p, r)}"


def _start_to_follow(c: Change) -> Iterator[str]:
    p, r = c.before, c.r
    epoch, leader = c.after.known_epoch[r], c.after.known_leader[r]
    high_watermark = p.high_watermark[r]
    if c.after.leo[r] < p.leo[r]:
        yield _cuts(c, f"its high watermark was {high_watermark}")
    elif c.after.phase[r] != Phase.FETCHING:
        beyond = _ids(p.log_record[r], high_watermark, p.leo[r])
        kept = f"keeps {_names(p, beyond)}, beyond its high watermark {high_watermark}, and " if beyond else ""
        yield f"{c.name} {kept}will ask {REPLICA_NAMES[leader]} where {_own_last_epoch(p, r)} ends before it fetches"
    elif p.leo[r] == 0:
        yield f"{c.name} has nothing to cut: its log is empty"
    elif checks_logs_on_fetch(p):
        yield f"{c.name} keeps its log for now, and will fetch from offset {p.leo[r]} with {_own_last_epoch(p, r)}"
    elif truncation.is_due(p, leader != p.known_leader[r], epoch > p.known_epoch[r] + 1):
        yield f"{c.name} cuts nothing: its high watermark and its LEO are both {high_watermark}"
    else:
        yield f"{c.name} does not truncate, for it followed {REPLICA_NAMES[leader]} before"


def _elect(c: Change) -> Iterator[str]:
    p = c.after
    kind, reason = _kind_of_election(c.before, c.r)
    yield f"the controller makes {c.name} leader of epoch {p.controller_epoch}{kind}, ISR {isr_of(p)}{reason}"


def _kind_of_election(p: State, r: int) -> tuple[str, str]:
    """What kind of an election it is where the new leader is not of the ISR, and what there is to say of that."""
    if controller.isr(p) >> r & 1:
        return "", ""
    if controller.isr(p) == 0 and p.elr >> r & 1:
        return " from the ELR", ": the ISR was empty"
    if controller.is_last_known(p, r):
        down = "" if p.up[r] else f", and {REPLICA_NAMES[r]} is down"
        return " as the last known leader", f": nobody was in the ISR or the ELR{down}"
    return " by an unclean election", ""


def _expire(c: Change) -> Iterator[str]:
    fenced = ", so that it is fenced" if has_heartbeats(c.after) else ""
    yield f"{c.name}'s session with the controller expires{fenced}: {decision(c.after)}"


def _shutdown(c: Change) -> Iterator[str]:
    yield f"{c.name} shuts down under control{f': {decision(c.after)}' if _decides(c) else ''}; {_disk(c)}"
    yield from _forgotten(c)


def _unfence(c: Change) -> Iterator[str]:
    yield f"the controller hears from {c.name} again, which is fenced no more"


def _flush(c: Change) -> Iterator[str]:
    yield f"{c.name} flushes its log up to offset {c.after.flushed[c.r]}"


def _checkpoint(c: Change) -> Iterator[str]:
    yield f"{c.name} checkpoints its high watermark {c.after.checkpointed[c.r]}"


def _retry(c: Change) -> Iterator[str]:
    record = producer_window.oldest_unanswered(c.before)
    yield f"the producer has no answer for m{record} and sends it again, to {c.name}"
    if c.after.leo[c.r] > c.before.leo[c.r]:
        yield f"{_appends(c)} in epoch {c.after.known_epoch[c.r]}{_outdated(c.before, c.after.known_epoch[c.r])}"
    else:
        yield f"{c.name} takes m{record} for one that it has, and appends nothing"


def _consume(c: Change) -> Iterator[str]:
    record = log.at(c.after.log_record[c.r], c.before.position)
    yield f"the consumer reads m{record} at offset {c.before.position} from {c.name}"


def _refresh(c: Change) -> Iterator[str]:
    before, after = c.before, c.after
    yield f"the consumer learns that {c.name} leads epoch {after.consumer_epoch}"
    if before.consumer_position == ConsumerPosition.OFFSET:
        if after.position < before.position:
            yield f"its offset {before.position} is out of range there: it goes on from {c.name}'s LEO {after.position}"
        else:
            yield f"it asks nothing, and is at offset {after.position} as before"
    elif before.position == 0:
        yield "it is at offset 0, and has nothing to ask"
    else:
        epoch, end = epoch_cache.end_offset_kip_279(after, c.r, before.position_epoch, after.leo[c.r])
        ends = f"epoch {epoch} ends at {end}" if end != NONE else "that it does not know"
        yield f"it asks where epoch {before.position_epoch} ends, and {c.name} answers: {ends}"
        if after.position < before.position:
            yield f"that is a truncation, which it reports, and it goes back to offset {after.position}"
        else:
            yield f"it is at offset {after.position} as before"


_VERBS: dict[Verb, Callable[[Change], Iterator[str]]] = {
    Verb.PRODUCE: _produce,
    Verb.FETCH: _fetch,
    Verb.RECEIVE: _receive,
    Verb.DROP: _drop,
    Verb.CRASH: _crash,
    Verb.POWER_LOSS: _power_loss,
    Verb.RESTART: _restart,
    Verb.NOTIFY: _notify,
    Verb.CATCH_UP: _notify,
    Verb.ELECT: _elect,
    Verb.EXPIRE: _expire,
    Verb.SHRINK: isr_changes.shrink,
    Verb.EXPAND: isr_changes.expand,
    Verb.FLUSH: _flush,
    Verb.CHECKPOINT: _checkpoint,
    Verb.ALTER: isr_changes.alter,
    Verb.ALTERED: isr_changes.altered,
    Verb.RESEND: isr_changes.resend,
    Verb.REFUSE: isr_changes.refuse,
    Verb.SHUTDOWN: _shutdown,
    Verb.UNFENCE: _unfence,
    Verb.COMMIT: transactions.end("committed"),
    Verb.ABORT: transactions.end("aborted"),
    Verb.FAILOVER: rivals.failover,
    Verb.RIVAL_ELECT: rivals.rival_elect,
    Verb.RIVAL_NOTIFY: _rival_notify,
    Verb.RETRY: _retry,
    Verb.CONSUME: _consume,
    Verb.REFRESH: _refresh,
}


# What followed from it.

_PERMITTED = "losses are permitted from now on"
_TOLD_AS_LOSSES = ("no-committed-loss", "no-acked-loss")


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


def _held_below(p: State, r: int) -> int:
    """The offset to which leader r's HW could rise if its ISR were large enough; its HW where nothing holds it."""
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
            yield f"{_records(records_in(record_set))} {_is(record_set)} {what}"
    if committed & ~answered and c.after.acks == Acks.ALL:
        yield from _unanswered(c, committed & ~answered)


def _unanswered(c: Change, committed: int) -> Iterator[str]:
    """What the producer of a record that is committed, and was not acknowledged, is told."""
    for r in range(c.after.replicas):
        size = replica_sets.size(c.after.isr[r])
        if committed & stored(c.after, r) and 0 < size < c.after.min_insync_replicas:
            yield f"its producer gets NOT_ENOUGH_REPLICAS_AFTER_APPEND: the ISR has {size} of min.insync.replicas"
            return


def _waiting(c: Change) -> Iterator[str]:
    """Whose requests have begun to wait, and whose wait is over without an answer about the record."""
    begun = [c.after.waiting[r] & ~c.before.waiting[r] for r in range(c.after.replicas)]
    elsewhere = sum(begun)
    for r in range(c.after.replicas):
        name = REPLICA_NAMES[r]
        if begun[r]:
            yield f"the producer of {_records(records_in(begun[r]))} waits for {name}'s HW"
        ended = c.before.waiting[r] & ~c.after.waiting[r] & ~c.after.acked & ~elsewhere
        if ended and not c.after.up[r]:
            yield f"the producer of {_records(records_in(ended))}, which waited there, has no answer"
        elif ended and not stored(c.after, r) & ended & _committed(c.after, r):
            yield f"the producer of {_records(records_in(ended))} gets NOT_LEADER_OR_FOLLOWER from {name}"


def _committed(p: State, r: int) -> int:
    """The set of records below r's high watermark, if it leads."""
    end = p.high_watermark[r] if replication.presumes_leadership(p, r) else 0
    return sum(1 << record for record in set(_ids(p.log_record[r], 0, end)))


def _zombies(c: Change) -> Iterator[str]:
    for r in range(c.after.replicas):
        if replication.presumes_leadership(c.before, r) and is_zombie(c.after, r) and not is_zombie(c.before, r):
            yield f"{REPLICA_NAMES[r]} does not know that and still leads epoch {c.after.known_epoch[r]}, a zombie"


def is_zombie(p: State, r: int) -> bool:
    """Whether r presumes leadership although the controller has decided otherwise since."""
    return replication.presumes_leadership(p, r) and p.known_epoch[r] < p.controller_epoch and controller.leader(p) != r


def _lossy_failures(c: Change) -> Iterator[str]:
    """From how many failures on the contract permits losses, where it does since this step."""
    if promises.are_void(c.after) and not promises.are_void(c.before):
        if events.verb_of(c.event) is Verb.ELECT:
            yield f"whoever had all records has shut down uncleanly, and not all kept them: {_PERMITTED}"
        else:
            yield f"{_lossy(c.after)}: {_PERMITTED}"


def _lossy(p: State) -> str:
    times = {1: "once", 2: "twice"}.get(p.min_insync_replicas, f"{p.min_insync_replicas} times")
    return f"power has failed {times} with unflushed records"


def _losses(c: Change) -> Iterator[str]:
    leader = controller.true_leader(c.after)
    permitted = ", as the contract permits now" if promises.are_void(c.after) else ""
    for record in records_in(missing(c.after) & ~missing(c.before)):
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
    """What the properties that this step broke say of the replicas; the losses are named already."""
    for each in PROPERTIES:
        if each.name == "join-complete" and each.name in c.newly_broken:
            yield isr_changes.joined_incomplete(c)
        elif each.name in c.newly_broken and each.name not in _TOLD_AS_LOSSES:
            yield next(each.breaches(c.after))


# Parts of clauses.


def _appends(c: Change) -> str:
    start, end = c.before.leo[c.r], c.after.leo[c.r]
    at = f"at offset {start}" if end == start + 1 else f"at offsets {start} to {end - 1}"
    return f"{c.name} appends {_names(c.after, _ids(c.after.log_record[c.r], start, end))} {at}"


def _cuts(c: Change, reason: str, verb: str = "cuts") -> str:
    cut = _ids(c.before.log_record[c.r], c.after.leo[c.r], c.before.leo[c.r])
    return f"{c.name} {verb} {_names(c.before, cut)}: {reason}{_although(c, cut)}"


def _although(c: Change, cut: list[int]) -> str:
    for record in cut:
        if record in c.readable_on and not is_marker(c.before, record):
            return f", although m{record} was committed on {c.readable_on[record]}"
    return ""


def _disk(c: Change) -> str:
    p, r = c.after, c.r
    kept = _names(p, _ids(p.log_record[r], 0, p.leo[r])) if p.leo[r] else "an empty log"
    return f"its disk has {kept} with HW {p.high_watermark[r]}"


def _fetched(p: State, r: int) -> str:
    """The records in the Fetch answer in flight to r."""
    count = p.flight_count[r]
    return _names(p, _ids(p.flight_record[r], 0, count)) if count else "no records"


def _decides(c: Change) -> bool:
    """Whether the controller decides on leader or ISR in this step."""
    p, q = c.before, c.after
    return bool(q.controller_epoch > p.controller_epoch or controller.isr(q) != controller.isr(p))


def _is_struck(c: Change) -> bool:
    """Whether r, which registers, would be in the ELR if it had shut down cleanly."""
    p, q = c.before, c.after
    was_candidate = (p.elr | controller.isr(p)) >> c.r & 1 and not (q.elr | controller.isr(q)) >> c.r & 1
    return was_candidate and tracks_eligible_leaders(q) and replica_sets.size(controller.isr(q)) < q.min_insync_replicas


def _forgotten(c: Change) -> Iterator[str]:
    """What r waited for, as a leader and as a follower."""
    yield from isr_changes.given_up(c)
    if c.before.flight[c.r] != Flight.NOTHING:
        yield f"the answer in flight to {c.name} is discarded: {in_flight(c.before, c.r)}"


def _outdated(p: State, epoch: int) -> str:
    return f", although the controller is at epoch {p.controller_epoch}" if epoch < p.controller_epoch else ""


def _own_last_epoch(p: State, r: int) -> str:
    epoch = epoch_cache.latest_epoch(p, r)
    return "an unknown epoch" if epoch == NONE else f"epoch {epoch}"


def _epoch_answered(p: State, r: int) -> int:
    """The epoch that an epoch answer is about: since KIP-279 it says so, before it is the one asked for."""
    return int(p.flight_epoch[r] if p.flight_epoch[r] != NONE else epoch_cache.latest_epoch(p, r))


def _ids(word: int, start: int, end: int) -> list[int]:
    return [log.at(word, offset) for offset in range(start, end)]


def _names(p: State, ids: Iterable[int]) -> str:
    return joined(record_name(p, each) for each in ids)


def _records(records: Iterable[int]) -> str:
    return joined(f"m{record}" for record in records)


def _is(record_set: int) -> str:
    return "is" if record_set & (record_set - 1) == 0 else "are"
