"""Describe an event in the words of a Kafka engineer, as clauses.

The first clauses describe the event itself, with one function for each verb. The other clauses describe its
consequences, in the same words for every verb: a high watermark moved, a record was committed, a record is lost.
"""

from collections.abc import Callable, Iterable, Iterator

from epochfuzz.harness.trace import consequences, isr_changes, log_starts, rivals, transactions
from epochfuzz.harness.trace.change import Change, answered_by, decision, isr_of, listed
from epochfuzz.harness.trace.wording import (
    appends,
    cuts,
    decides,
    disk,
    epoch_answered,
    fetched,
    forgotten,
    ids_between,
    in_flight,
    is_struck,
    outdated,
    own_last_epoch,
    records_named,
)
from epochfuzz.model.kafka.clients import consumer_group, producer
from epochfuzz.model.kafka.contract.observation import record_name
from epochfuzz.model.kafka.controller import broker_epochs, controller
from epochfuzz.model.kafka.history import producer_window
from epochfuzz.model.kafka.partition import delayed_fetch, flight, replication, truncation, truncation_on_fetch
from epochfuzz.model.kafka.partition.high_watermark import replication_position
from epochfuzz.model.kafka.storage import epoch_cache, log
from epochfuzz.model.kafka.storage.transactions import is_marker
from epochfuzz.model.kafka.vocabulary import events
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, Verb
from epochfuzz.model.kafka.vocabulary.in_force import checks_logs_on_fetch, has_heartbeats
from epochfuzz.model.kafka.vocabulary.mechanisms import (
    ConsumerPosition,
    DivergingFetch,
    DivergingHighWatermark,
    Truncation,
)
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, Phase, State


def clauses(change: Change) -> tuple[str, ...]:
    """Return the description of an enabled event: clauses about the event, then clauses about its consequences."""
    return (
        *_about(change),
        *consequences.of(change),
    )


def _about(change: Change) -> Iterable[str]:
    """Yield the clauses about the event itself. For a verb without a function in _VERBS, yield `Verb.meaning`."""
    verb = events.verb_of(change.event)
    return _VERBS[verb](change) if verb in _VERBS else (f"{change.name}: {verb.meaning}",)


# Descriptions of the events, by verb.


def _produce(c: Change) -> Iterator[str]:
    epoch = c.before.known_epoch[c.r]
    yield f"{appends(c)} in epoch {epoch}{outdated(c.before, epoch)}"


def _fetch(c: Change) -> Iterator[str]:
    p, r = c.before, c.r
    leader = REPLICA_NAMES[p.known_leader[r]]
    if p.flight[r] != Flight.NOTHING:
        yield f"{c.name} no longer waits for {REPLICA_NAMES[answered_by(p, r)]}'s response: {in_flight(p, r)}"
    if c.after.flight[r] == Flight.OUT_OF_RANGE:
        yield f"{c.name} fetches from offset {p.leo[r]}, {_beyond(c, leader)}: out of range"
    elif c.after.flight[r] == Flight.DIVERGING:
        yield from _fetch_diverging(c, leader)
    elif c.after.flight[r] != Flight.EPOCH_END:
        yield from _fetch_records(c, leader)
    elif c.after.flight_offset[r] == NONE:
        yield f"{c.name} asks where {own_last_epoch(p, r)} ends; {leader} does not know: undefined"
    else:
        yield f"{c.name} asks where {own_last_epoch(p, r)} ends; {leader} responds: {in_flight(c.after, r)}"


def _beyond(c: Change, leader: str) -> str:
    """Return why a fetch is out of range: by its offset, or by the epoch of the follower's last record.

    The offset is below the leader's log start offset, or beyond the leader's log end offset.
    """
    end = c.after.flight_offset[c.r]
    if c.before.leo[c.r] < c.after.flight_log_start[c.r]:
        return f"below {leader}'s log start {c.after.flight_log_start[c.r]}"
    if c.before.leo[c.r] > end:
        return f"beyond {leader}'s LEO {end}"
    return f"with {own_last_epoch(c.before, c.r)}, which {leader} does not know"


def _fetch_diverging(c: Change, leader: str) -> Iterator[str]:
    p, r = c.before, c.r
    epoch, end = c.after.flight_epoch[r], c.after.flight_offset[r]
    yield (
        f"{c.name} fetches from offset {p.leo[r]}, its last record of {own_last_epoch(p, r)}; "
        f"{leader} responds that their logs diverge: epoch {epoch} ends at offset {end}"
    )
    if p.diverging_fetch == DivergingFetch.COUNTED:
        yield f"{leader} still assumes that {c.name} has everything below offset {p.leo[r]}"


def _fetch_records(c: Change, leader: str) -> Iterator[str]:
    p, r = c.before, c.r
    answer = f"with {fetched(c.after, r)} and HW {c.after.flight_offset[r]}"
    is_news = replication_position(p, p.known_leader[r], r) < p.leo[r]
    if is_news:
        yield f"{c.name}'s fetch from offset {p.leo[r]} shows {leader} that {c.name} has everything below it"
    if c.after.flight[r] == Flight.WAITING:
        yield f"{leader} has no records from offset {p.leo[r]} on, so {c.name}'s fetch waits there"
    elif is_news:
        yield f"{leader} responds {answer}"
    else:
        yield f"{leader} responds to {c.name}'s fetch from offset {p.leo[r]} {answer}"


def _receive(c: Change) -> Iterator[str]:
    p, r = c.before, c.r
    if not flight.counts(p, r):
        yield f"{c.name} ignores a response that it does not wait for: {in_flight(p, r)}; {_why_not_counted(c)}"
        return
    if p.flight_old[r]:
        yield f"the response counts, although {c.name} has learned an update since its request"
    if p.flight[r] == Flight.EPOCH_END:
        yield from _receive_epoch_end(c)
    elif p.flight[r] == Flight.DIVERGING:
        yield from _receive_diverging(c)
    elif p.flight[r] == Flight.OUT_OF_RANGE:
        yield from _receive_out_of_range(c)
    elif p.flight_count[r]:
        yield appends(c)
    elif p.flight_offset[r] == p.high_watermark[r] and p.flight_log_start[r] <= p.log_start[r]:
        yield f"the response brings {c.name} nothing new"
    else:
        yield f"{c.name} has nothing to append"


def _why_not_counted(c: Change) -> str:
    p, r = c.before, c.r
    if p.known_leader[r] != p.flight_leader[r]:
        does = "leads itself" if p.known_leader[r] == r else f"follows {_whom(p, r)}"
        return f"{REPLICA_NAMES[p.flight_leader[r]]} gave it, and {c.name} {does} now"
    if p.leo[r] != p.flight_from[r]:
        return f"it is for a fetch from offset {p.flight_from[r]}, but the log ends at {p.leo[r]} now"
    if p.phase[r] != Phase.FETCHING:
        return "it has to truncate first"
    return "it has restarted since, with an empty log"


def _whom(p: State, r: int) -> str:
    return "nobody" if p.known_leader[r] == NONE else REPLICA_NAMES[p.known_leader[r]]


def _receive_diverging(c: Change) -> Iterator[str]:
    p, r = c.before, c.r
    if c.after.fetcher_failed[r]:
        return  # a consequence, which log_starts.py describes
    if replication.presumes_leadership(p, r):
        yield f"{c.name} handles the response as a follower, although it leads epoch {p.known_epoch[r]} by now"
    applied = p.diverging_high_watermark == DivergingHighWatermark.APPLIED and not truncation_on_fetch.is_taken(p, r)
    if applied and p.flight_count[r] > p.high_watermark[r]:
        adopted = min(p.flight_count[r], p.leo[r])
        yield f"{c.name} first adopts the HW in the response, {adopted}, before it truncates its log"
    yield from _receive_epoch_end(c)


def _receive_out_of_range(c: Change) -> Iterator[str]:
    p, r = c.before, c.r
    reason = f"{REPLICA_NAMES[answered_by(p, r)]}'s log ended at offset {p.flight_offset[r]}"
    if log_starts.restarts(c):
        yield log_starts.restart(c)
    elif c.after.up[r]:
        yield _cuts_if_longer(c, reason)
    else:
        yield f"{c.name}'s process ends, rather than lose records: {reason}, and unclean elections are off"


def _cuts_if_longer(c: Change, reason: str) -> str:
    if c.after.leo[c.r] < c.before.leo[c.r]:
        return cuts(c, reason)
    return f"{c.name}, with LEO {c.after.leo[c.r]}, truncates nothing: {reason}"


def _receive_epoch_end(c: Change) -> Iterator[str]:
    yield _cuts_if_longer(c, _reason_by_epoch(c))
    if c.after.phase[c.r] != Phase.FETCHING:
        yield f"{c.name} will ask again, now for {own_last_epoch(c.after, c.r)}"


def _reason_by_epoch(c: Change) -> str:
    """Return the reason for a truncation after an OffsetsForLeaderEpoch response (truncation.py)."""
    p, r = c.before, c.r
    leader = REPLICA_NAMES[answered_by(p, r)]
    epoch, end = p.flight_epoch[r], p.flight_offset[r]
    if end == NONE:
        if p.phase[r] == Phase.TRUNCATING_FURTHER:
            return f"{leader} did not know, and {c.name} has truncated its log already"
        return f"{leader} did not know, and {c.name}'s high watermark was {p.high_watermark[r]}"
    by_leader = f"epoch {epoch_answered(p, r)} ends at offset {end} on {leader}"
    if p.truncation == Truncation.LEADER_EPOCH:
        return by_leader
    own_epoch, own_end = epoch_cache.end_offset_kip_279(p, r, epoch, p.leo[r])
    if own_epoch == NONE:
        return f"{by_leader}, and {c.name} has no epoch up to {epoch}"
    if own_epoch != epoch:
        return f"{leader} has epoch {epoch}, {c.name} has only {own_epoch} near it, which ends at offset {own_end}"
    return by_leader if end <= own_end else f"{by_leader}, and at {own_end} on {c.name}"


def _drop(c: Change) -> Iterator[str]:
    yield f"the response to {c.name} is lost on the way: {in_flight(c.before, c.r)}"


def _crash(c: Change) -> Iterator[str]:
    yield f"{c.name}'s process dies; {disk(c)}"
    yield from forgotten(c)


def _power_loss(c: Change) -> Iterator[str]:
    yield f"power fails at {c.name}; {disk(c)}"
    if c.after.leo[c.r] < c.before.leo[c.r]:
        yield cuts(c, "not flushed", verb="loses")
    yield from forgotten(c)


def _wipe(c: Change) -> Iterator[str]:
    records = c.before.leo[c.r]
    lost = f" with {records} record{'s' * (records != 1)}" if records else ""
    yield f"{c.name} loses its log directory{lost}: its log is empty"
    if c.before.up[c.r]:
        yield from forgotten(c)


def _restart(c: Change) -> Iterator[str]:
    if decides(c):
        yield f"the controller first treats {c.name} as failed: {decision(c.after)}"
    if is_struck(c):
        yield f"{c.name} is not an eligible leader replica: its shutdown was not clean, and may have lost records"
    if broker_epochs.is_unregistered(c.after, c.r):
        yield f"{c.name} is up again, but not registered yet; {disk(c)}"
    else:
        yield f"{c.name} is up again, and knows no leader yet; {disk(c)}"
    if c.after.snapshot_offset[c.r] > 1:
        last = log.at(c.after.log_record[c.r], c.after.leo[c.r] - 1)
        yield f"its producer snapshot has only {record_name(c.after, last)}"


def _register(c: Change) -> Iterator[str]:
    if is_struck(c):
        yield f"{c.name} is not an eligible leader replica: its shutdown was not clean, and may have lost records"
    yield f"the controller registers {c.name}'s new process, and fences the broker until it has caught up"


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
    late = outdated(p, epoch)
    missed = f"{c.name} skips to epoch {epoch}: it" if epoch > p.known_epoch[r] + 1 else c.name
    stepping_down = " and steps down" if replication.presumes_leadership(p, r) else ""
    if leader == r:
        becomes = "learns that it leads on, in" if replication.presumes_leadership(p, r) else "becomes leader of"
        yield f"{missed} {becomes} epoch {epoch}{late}"
    elif leader == NONE:
        yield f"{missed} learns that epoch {epoch} has no leader{stepping_down}{late}"
    else:
        yield f"{missed} learns that {REPLICA_NAMES[leader]} leads epoch {epoch}{stepping_down}{late}"
        yield from _start_to_follow(c)
    if c.after.flight[r] == Flight.NOTHING:
        yield from forgotten(c)
    else:
        yield from isr_changes.given_up(c)
        yield f"the response in flight to {c.name} outlives that: {in_flight(p, r)}"


def _start_to_follow(c: Change) -> Iterator[str]:
    p, r = c.before, c.r
    epoch, leader = c.after.known_epoch[r], c.after.known_leader[r]
    high_watermark = p.high_watermark[r]
    if c.after.leo[r] < p.leo[r]:
        yield cuts(c, f"its high watermark was {high_watermark}")
    elif c.after.phase[r] != Phase.FETCHING:
        beyond = ids_between(p.log_record[r], high_watermark, p.leo[r])
        kept = f"keeps {records_named(p, beyond)}, beyond its high watermark {high_watermark}, and " if beyond else ""
        yield f"{c.name} {kept}will ask {REPLICA_NAMES[leader]} where {own_last_epoch(p, r)} ends before it fetches"
    elif p.leo[r] == 0:
        yield f"{c.name} has nothing to truncate: its log is empty"
    elif checks_logs_on_fetch(p):
        yield f"{c.name} keeps its log for now, and will fetch from offset {p.leo[r]} with {own_last_epoch(p, r)}"
    elif truncation.is_due(p, leader != p.known_leader[r], epoch > p.known_epoch[r] + 1):
        yield f"{c.name} truncates nothing: its high watermark and its LEO are both {high_watermark}"
    else:
        yield f"{c.name} does not truncate, because it followed {REPLICA_NAMES[leader]} before"


def _elect(c: Change) -> Iterator[str]:
    p = c.after
    kind, reason = _kind_of_election(c.before, c.r)
    yield f"the controller makes {c.name} leader of epoch {p.controller_epoch}{kind}, ISR {isr_of(p)}{reason}"


def _kind_of_election(p: State, r: int) -> tuple[str, str]:
    """Return the kind of an election, such as ` by an unclean election`, and the reason for it, as parts of a sentence.

    The kind and the reason are empty if the new leader is in the ISR.
    """
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
    decided = f": {decision(c.after)}" if decides(c) else ""
    yield f"{c.name}'s session with the controller expires{fenced}{decided}"


def _shutdown(c: Change) -> Iterator[str]:
    yield f"{c.name} stops in a controlled shutdown{f': {decision(c.after)}' if decides(c) else ''}; {disk(c)}"
    yield from forgotten(c)


def _unfence(c: Change) -> Iterator[str]:
    yield f"the controller receives heartbeats from {c.name} again and unfences it"


def _flush(c: Change) -> Iterator[str]:
    yield f"{c.name} flushes its log up to offset {c.after.flushed[c.r]}"


def _checkpoint(c: Change) -> Iterator[str]:
    yield f"{c.name} checkpoints its high watermark {c.after.checkpointed[c.r]}"


def _lapse(c: Change) -> Iterator[str]:
    seen = c.before.caught_up[c.r]
    which = f", and {c.name} no longer considers {listed(seen)} caught up" if seen else ""
    yield f"the lag time passes at {c.name} (replica.lag.time.max.ms){which}"


def _expire_fetch(c: Change) -> Iterator[str]:
    leader = REPLICA_NAMES[delayed_fetch.waits_at(c.before, c.r)]
    if c.after.flight[c.r] == Flight.NOTHING:
        yield f"the wait of {c.name}'s fetch is over: {leader} is at another epoch by now, and rejects it"
    else:
        yield f"the wait of {c.name}'s fetch is over: {leader} responds with {in_flight(c.after, c.r)}"


def _retry(c: Change) -> Iterator[str]:
    record = producer_window.oldest_unanswered(c.before)
    yield f"the producer has no answer for m{record} and sends it again, to {c.name}"
    if c.after.leo[c.r] > c.before.leo[c.r]:
        yield f"{appends(c)} in epoch {c.after.known_epoch[c.r]}{outdated(c.before, c.after.known_epoch[c.r])}"
    else:
        yield f"{c.name} recognizes m{record} as a record that it has, and appends nothing"


def _bump(c: Change) -> Iterator[str]:
    rejected = c.after.epoch_record + (not producer.bumps_for(c.before, c.r, c.after.epoch_record))
    yield f"the producer sends m{rejected} again, and {c.name} rejects it: OUT_OF_ORDER_SEQUENCE_NUMBER"
    yield f"the producer begins a new producer epoch, in which m{c.after.epoch_record} has sequence number 0"


def _consume(c: Change) -> Iterator[str]:
    offset = c.after.position - 1
    record = log.at(c.after.log_record[c.r], offset)
    if offset != c.before.position:
        yield f"offset {c.before.position} is below {c.name}'s log start, so the consumer continues at offset {offset}"
    reads = "skips" if is_marker(c.after, record) else "reads"
    yield f"the consumer {reads} {record_name(c.after, record)} at offset {offset} from {c.name}"


def _refresh(c: Change) -> Iterator[str]:
    yield f"the consumer {_learns_leader(c)}"
    yield from _checked_position(c, c.before.position, c.before.position_epoch)


def _commit_offset(c: Change) -> Iterator[str]:
    epoch = "" if c.after.committed_epoch == NONE else f" and epoch {c.after.committed_epoch}"
    yield f"the consumer commits offset {c.after.committed}{epoch}"


def _reset(c: Change) -> Iterator[str]:
    yield f"the consumer restarts at its committed offset {c.before.committed}"
    yield f"it {_learns_leader(c)}"
    epoch = c.before.committed_epoch if consumer_group.validates(c.before) else NONE
    yield from _checked_position(c, c.before.committed, epoch)


def _learns_leader(c: Change) -> str:
    source = "" if replication.presumes_leadership(c.after, c.r) else " from outdated metadata"
    return f"learns{source} that {c.name} leads epoch {c.after.consumer_epoch}"


def _checked_position(c: Change, position: int, epoch: int) -> Iterator[str]:
    """Yield clauses about the check of the consumer's position at the event's replica. `epoch` is NONE if unknown."""
    after = c.after
    if after.consumer_position == ConsumerPosition.OFFSET or (position > 0 and epoch == NONE):
        if after.position < position:
            yield f"its offset {position} is out of range there: it continues from {c.name}'s LEO {after.position}"
        else:
            yield f"it asks nothing, and is at offset {after.position} as before"
    elif position == 0:
        yield "it is at offset 0, and has nothing to ask"
    else:
        ended, end = epoch_cache.end_offset_kip_279(after, c.r, epoch, after.leo[c.r])
        ends = f"epoch {ended} ends at {end}" if end != NONE else "that it does not know"
        yield f"it asks where epoch {epoch} ends, and {c.name} responds: {ends}"
        if after.position < position:
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
    Verb.WIPE: _wipe,
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
    Verb.REGISTER: _register,
    Verb.COMMIT: transactions.end("committed"),
    Verb.ABORT: transactions.end("aborted"),
    Verb.BEGIN: transactions.begin,
    Verb.DELAY: transactions.delay,
    Verb.ARRIVE: transactions.arrive,
    Verb.MARK: transactions.mark,
    Verb.TRIM: log_starts.trim,
    Verb.FAILOVER: rivals.failover,
    Verb.RIVAL_ELECT: rivals.rival_elect,
    Verb.RIVAL_NOTIFY: _rival_notify,
    Verb.RETRY: _retry,
    Verb.BUMP: _bump,
    Verb.CONSUME: _consume,
    Verb.REFRESH: _refresh,
    Verb.COMMIT_OFFSET: _commit_offset,
    Verb.RESET: _reset,
    Verb.LAPSE: _lapse,
    Verb.EXPIRE_FETCH: _expire_fetch,
}
