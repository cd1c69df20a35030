"""Describe the effects of an event on transactions: commits and aborts, markers, and the last stable offset."""

from collections.abc import Callable, Iterator

from epochfuzz.harness.trace.change import Change, joined
from epochfuzz.model.kafka.contract import observation
from epochfuzz.model.kafka.partition import replication
from epochfuzz.model.kafka.storage import transactions
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES
from epochfuzz.model.kafka.vocabulary.in_force import has_late_requests
from epochfuzz.model.kafka.vocabulary.state import State, Transaction


def end(decision: str) -> Callable[[Change], Iterator[str]]:
    """Return the function that describes the event `commit` or `abort`. `decision` is `committed` or `aborted`."""

    def describe(c: Change) -> Iterator[str]:
        p, r = c.before, c.r
        if p.transaction == Transaction.OPEN:
            yield f"the coordinator decides that {_the_transaction(p)} is {decision}"
        else:
            yield f"the coordinator tells {c.name} again that {_the_transaction(p)} is {decision}"
        if c.after.leo[r] > p.leo[r]:
            yield f"{c.name} appends the marker {_last_in_log(c)} at offset {p.leo[r]}"
        elif p.transaction == Transaction.OPEN:
            yield f"{c.name} appends no marker"
        elif has_late_requests(p) and transactions.is_marked(p, r):
            yield "a marker that was late has ended it in the log"
        else:
            yield "no log has a record of it any more, so it ends without a marker"

    return describe


def consequences(c: Change) -> Iterator[str]:
    """Yield clauses about the beginning or the end of a transaction, and about changes of the last stable offset."""
    before, after = c.before, c.after
    if not after.transactions:
        return
    if before.transaction == Transaction.NONE and after.transaction == Transaction.OPEN:
        yield "a transaction begins"
    if before.transaction != Transaction.NONE and after.transaction == Transaction.NONE:
        yield "the transaction is over"
    for r in range(after.replicas):
        if replication.serves_consumers(after, r):
            yield from _stable(c, r)


def _stable(c: Change, r: int) -> Iterator[str]:
    old, new = (transactions.last_stable_offset(p, r) for p in (c.before, c.after))
    name = REPLICA_NAMES[r]
    if new > old:
        yield f"{name}'s LSO rises to {new}"
    elif new < old:
        yield f"{name}'s LSO falls from {old} to {new}"
    elif c.after.high_watermark[r] > c.before.high_watermark[r]:
        yield f"{name}'s LSO stays at {new}"


_STATES = {
    Transaction.OPEN: "open",
    Transaction.COMMITTING: "committing",
    Transaction.ABORTING: "aborting",
}


def describe(p: State) -> str:
    """Return the transaction as drawings show it: `transaction m0,m1 open`. Empty if there is no transaction."""
    if p.transaction == Transaction.NONE:
        return ""
    names = ",".join(f"m{record}" for record in _members(p))
    return " ".join(filter(None, ("transaction", names, _STATES[Transaction(p.transaction)])))


def _members(p: State) -> list[int]:
    return [record for record in range(p.records) if p.transaction_records >> record & 1]


def _the_transaction(p: State) -> str:
    records = joined(f"m{record}" for record in _members(p)) if p.transaction_records else "no record"
    return f"the transaction of {records}"


def begin(c: Change) -> Iterator[str]:
    """Describe the event `begin`: the producer begins a transaction, and has sent no record yet."""
    yield "the producer adds the partition to a transaction, and has sent no record yet"


def delay(c: Change) -> Iterator[str]:
    """Describe the event `delay`: the producer sends a record of the transaction, and the request is late."""
    yield f"the producer sends m{c.after.late_record}, and the request is late"


def arrive(c: Change) -> Iterator[str]:
    """Describe the event `arrive`: a late record arrives at a replica."""
    record = c.before.late_record
    over = ", although its transaction is over" if transactions.is_over_for(c.before, record) else ""
    yield f"the late record m{record} arrives, and {c.name} appends it at offset {c.before.leo[c.r]}{over}"


def mark(c: Change) -> Iterator[str]:
    """Describe the event `mark`: a copy of the last transaction's marker arrives at a replica."""
    at = f"at offset {c.before.leo[c.r]}"
    yield f"a copy of the last transaction's marker arrives, and {c.name} appends {_last_in_log(c)} {at}"


def _last_in_log(c: Change) -> str:
    """Return the name of the last record or marker in the log of the event's replica."""
    record, _ = observation.log_entries(c.after, c.r)[-1]
    return observation.record_name(c.after, record)
