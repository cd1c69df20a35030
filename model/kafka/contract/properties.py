"""The properties: conditions that must hold after every event, each with a function that checks it.

Five properties are checked only after all faults have stopped, on a copy of the partition: `convergence`,
`leader-available`, `answered`, `fetch-answered` and `lso-advances`. A checking function returns True for a violation.
The first line of its docstring describes the violation, because exceptions and reports print this line.

The *true leader* is up, leads the controller's current epoch, and knows that it leads. The *true ISR* is the ISR of the
controller's current update. A *presumed leader* believes that it leads, perhaps wrongly.
"""

# ruff: noqa: D401 (the first line of a docstring states a violation, see Property.meaning)

from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

from epochfuzz.model.kafka.clients import consumer, consumer_group
from epochfuzz.model.kafka.contract import healing, violations
from epochfuzz.model.kafka.controller import broker_epochs, controller
from epochfuzz.model.kafka.history import produce_purgatory, promises
from epochfuzz.model.kafka.partition import alter_partition, delayed_fetch, high_watermark
from epochfuzz.model.kafka.partition.replication import presumes_leadership, serves_consumers
from epochfuzz.model.kafka.storage import log, transactions
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.in_force import (
    commits_epochs,
    has_delayed_fetch,
    has_heartbeats,
    has_late_requests,
    has_transactions,
    requests_isr_changes,
    tracks_waiting,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import IsrChange
from epochfuzz.model.kafka.vocabulary.names import nearest
from epochfuzz.model.kafka.vocabulary.state import NONE, Partition, State


def readable_end(p: State, r: int) -> int:
    """Return the end of the records that consumers may read from r: the lower of r's high watermark and log end offset.

    The high watermark may be beyond the end of the log.
    """
    return min(p.high_watermark[r], p.leo[r])


def committed_loss(p: State) -> bool:
    """A record that consumers could read is missing on the true leader, or another record has its place."""
    leader = controller.true_leader(p)
    return leader != NONE and promises.exposed_are_lost(p, leader) and not promises.are_void(p)


def acked_loss(p: State) -> bool:
    """A record whose producer got an acknowledgement is missing on the true leader, or another record has its place."""
    leader = controller.true_leader(p)
    return leader != NONE and promises.lost_acked(p, leader) != 0 and not promises.are_void(p)


def duplicate(p: State) -> bool:
    """A record occurs twice below the true leader's high watermark."""
    return p.retries and has_duplicate(p, controller.true_leader(p))


def has_duplicate(p: State, leader: int) -> bool:
    """Return whether a record occurs twice below a leader's high watermark; False if `leader` is NONE."""
    if leader == NONE:
        return False
    found = 0
    for offset in range(readable_end(p, leader)):
        record = log.at(p.log_record[leader], offset)
        if not transactions.is_marker(p, record):
            if found >> record & 1:
                return True
            found |= 1 << record
    return False


def reordered(p: State) -> bool:
    """Records below the true leader's high watermark are in another order than the producer sent them."""
    return p.retries and is_reordered(p, controller.true_leader(p))


def is_reordered(p: State, leader: int) -> bool:
    """Return whether the records below a leader's high watermark are in another order than the producer sent them.

    Only the first occurrence of each record counts. Returns False if `leader` is NONE.
    """
    if leader == NONE:
        return False
    found = 0
    for offset in range(readable_end(p, leader)):
        record = log.at(p.log_record[leader], offset)
        if not transactions.is_marker(p, record):
            if not found >> record & 1 and found >> record != 0:  # a record with a greater id came first
                return True
            found |= 1 << record
    return False


def skipped(p: State) -> bool:
    """The consumer has skipped a record of the true leader, and the consumer knows this leader's epoch."""
    return p.consumer and consumer.skipped(p) != 0


def falsely_truncated(p: State) -> bool:
    """The consumer has gone back behind its committed position, although the true leader still has this position."""
    return consumer_group.has_gone_back(p)


def uncommitted_read(p: State) -> bool:
    """A read_committed consumer may read a record of a transaction that is not committed."""
    if not has_transactions(p) or promises.are_void(p):
        return False
    for r in range(p.replicas):
        if serves_consumers(p, r) and transactions.delivered(p, r) & ~p.committed_records != 0:
            return True
    return False


def divergence(p: State) -> bool:
    """Two replicas have different records at one offset below both their high watermarks."""
    for a in range(p.replicas):
        for b in range(a):
            both = min(readable_end(p, a), readable_end(p, b))
            if log.differences(p, a, b, both) != 0 and not promises.are_void(p):
                return True
    return False


def mismatch(p: State) -> bool:
    """Two replicas have different records at the same offset and epoch (the TLA+ specifications' LogMatching)."""
    for a in range(p.replicas):
        for b in range(a):
            both = min(p.leo[a], p.leo[b])
            other_record = log.differences(p, a, b, both)
            if other_record == 0:
                continue
            other_epoch = p.log_epoch[a] ^ p.log_epoch[b]
            if log.occupied(other_record) & ~log.occupied(other_epoch) != 0:  # an offset with one epoch, two records
                return True
    return False


def high_watermark_beyond_log(p: State) -> bool:
    """A high watermark is beyond the log end offset."""
    for r in range(p.replicas):
        if p.high_watermark[r] > p.leo[r]:
            return True
    return False


def isr_incomplete(p: State) -> bool:
    """A live member of the true ISR lacks a record below a presumed leader's high watermark (StrongIsr).

    The true ISR is the ISR of the controller's current update. A presumed leader believes that it leads, perhaps
    wrongly.
    """
    members = controller.isr(p)
    for leader in range(p.replicas):
        if presumes_leadership(p, leader):
            end = readable_end(p, leader)
            for r in range(p.replicas):
                if broker_epochs.is_unregistered(p, r):
                    continue
                if (members >> r & 1 and p.up[r]) and log.lacks(p, r, leader, end) and not promises.are_void(p):
                    return True
    return False


def joined_incomplete(p: State) -> bool:
    """A replica has joined the ISR without a record below the high watermark of the leader that proposed it."""
    return p.joined_incomplete != 0


def high_watermark_due(p: State) -> bool:
    """A presumed leader's high watermark is below the known LEO of every replica that the leader waits for.

    A presumed leader believes that it leads, perhaps wrongly. The leader waits for its ISR, and perhaps for replicas
    that were caught up recently (high_watermark.due). With KIP-966 the high watermark may stay unchanged while the ISR
    is below min.insync.replicas.
    """
    if p.isr_change == IsrChange.ATOMIC:
        return False
    for leader in range(p.replicas):
        is_free = presumes_leadership(p, leader) and not high_watermark.is_held(p, leader)
        if is_free and high_watermark.due(p, leader) > p.high_watermark[leader]:
            return True
    return False


def isr_change_stuck(p: State) -> bool:
    """A leader waits for its change of the ISR, but no request, response or metadata update can end the wait."""
    if p.isr_change == IsrChange.ATOMIC:
        return False
    for leader in range(p.replicas):
        if p.pending_isr[leader] != 0 and alter_partition.waits_in_vain(p, leader):
            return True
    return False


def non_convergence(p: State) -> bool:
    """After all faults have stopped, logs or high watermarks differ, although the partition has a leader."""
    return controller.leader(p) != NONE and not healing.has_converged(p)


def leader_missing(p: State) -> bool:
    """After all faults have stopped, no replica leads, although an ISR member or eligible leader replica is up."""
    return controller.true_leader(p) == NONE and controller.candidates(p) != 0


def unanswered(p: State) -> bool:
    """After all faults have stopped, an acks=all request still waits, although the partition has a leader."""
    return controller.true_leader(p) != NONE and produce_purgatory.anywhere(p)


def fetch_unanswered(p: State) -> bool:
    """After all faults have stopped, a follower's fetch still waits, although the partition has a leader."""
    return p.delayed_fetch and controller.true_leader(p) != NONE and delayed_fetch.anywhere(p)


def last_stable_offset_stuck(p: State) -> bool:
    """After all faults have stopped, the last stable offset stays below the high watermark.

    The log has a record of a transaction that the coordinator does not know, so the coordinator sends no marker.
    """
    return transactions.is_stuck(p, controller.true_leader(p))


def _always(p: State) -> bool:
    return True


def _retries(p: State) -> bool:
    return bool(p.retries)


def _never(settings: Configuration) -> bool:
    return False


@dataclass(frozen=True, eq=False)
class Property:
    """A property, with the function that detects a violation and the texts that describe the violation.

    `violations(p)` yields a sentence for each violation. `failure` names the exception that a state machine raises.
    `permitted(settings)` is true if the settings allow a violation, such as a lost record with acks=1. `at_end`: the
    property is checked after all faults have stopped. `is_warning`: a violation loses no record, but may lead to a
    loss. `applies(p)` is true if the property can be broken under the protocol and the settings of `p`. `yields_to`
    lists settings that enable faults. These faults may break the property under any protocol.

    `seen_in` lists the visible values (observation.py) that the check needs. It is empty if the check also needs values
    that are not visible, such as responses in flight.
    """

    name: str
    is_broken: Callable[[State], bool]
    violations: Callable[[Partition], Iterator[str]]
    failure: str
    _: KW_ONLY
    permitted: Callable[[Configuration], bool] = _never
    at_end: bool = False
    is_warning: bool = False
    applies: Callable[[State], bool] = _always
    yields_to: tuple[str, ...] = ()
    seen_in: tuple[str, ...] = ()

    @cached_property
    def number(self) -> int:
        """The property's position in PROPERTIES, which lists the most severe first."""
        return PROPERTIES.index(self)

    @cached_property
    def bit(self) -> int:
        """The bit that stands for the property in a set of properties."""
        return 1 << self.number

    @property
    def meaning(self) -> str:
        """A sentence that describes the violation: the first line of the checking function's docstring."""
        return (self.is_broken.__doc__ or "").splitlines()[0]


# A power loss loses records that were not flushed. A lost directory loses all records of a replica. An unclean election
# loses the records that the new leader lacks.
_DISKS = ("power_loss", "lost_directory")
_LOSSES = ("unclean_leader_election", *_DISKS)

# The fields that show a log and its high watermark, and the fields that show the true leader.
_LOGS = ("replicas.log", "replicas.hw")
_LEADERS = ("replicas.leader", "replicas.leader_epoch", "controller.leader", "controller.epoch")

# In the order of severity, which is the order of every table and list. Bit i of a set of properties is property i.
PROPERTIES: tuple[Property, ...] = (
    Property(
        "no-committed-loss",
        committed_loss,
        violations.lost_exposed,
        "CommittedRecordLost",
        yields_to=_LOSSES,
        seen_in=(*_LOGS, *_LEADERS),
    ),
    Property(
        "no-acked-loss",
        acked_loss,
        violations.lost_acked,
        "AckedRecordLost",
        permitted=lambda settings: settings.acks == "1",  # the leader acknowledges records that it alone has
        yields_to=_LOSSES,
        seen_in=(*_LOGS, *_LEADERS, "controller.isr"),
    ),
    Property(
        "no-duplicate",
        duplicate,
        violations.duplicated,
        "RecordDuplicated",
        applies=_retries,
        seen_in=(*_LOGS, *_LEADERS),
    ),
    Property(
        "no-reorder",
        reordered,
        violations.out_of_order,
        "RecordsReordered",
        applies=_retries,
        seen_in=(*_LOGS, *_LEADERS),
    ),
    Property(
        "consumer-no-skip",
        skipped,
        violations.passed_over,
        "ConsumerSkippedRecord",
        applies=lambda p: p.consumer,
        seen_in=(*_LOGS, *_LEADERS, "consumer.position", "consumer.leader_epoch", "consumer.delivered"),
    ),
    Property(
        "read-committed",
        uncommitted_read,
        violations.uncommitted,
        "UncommittedRead",
        applies=has_transactions,
        yields_to=_LOSSES,  # if a marker is lost, the log no longer shows whether its records are committed
    ),
    Property(
        "no-false-truncation",
        falsely_truncated,
        violations.gone_back,
        "FalseTruncation",
        applies=commits_epochs,
        yields_to=_LOSSES,  # a lost record may return with the next unclean election
    ),
    Property("no-divergence", divergence, violations.diverging, "LogsDiverged", yields_to=_LOSSES, seen_in=_LOGS),
    Property(
        "log-matching",
        mismatch,
        violations.mismatching,
        "LogMatchingBroken",
        yields_to=_DISKS,
        seen_in=("replicas.log",),
    ),
    Property(
        "hw-within-log", high_watermark_beyond_log, violations.beyond_log, "HighWatermarkBeyondLog", seen_in=_LOGS
    ),
    Property(
        "isr-complete",
        isr_incomplete,
        violations.missing_in_isr,
        "IsrIncomplete",
        is_warning=True,
        yields_to=_LOSSES,
        seen_in=(*_LOGS, "replicas.leader", "controller.isr"),
    ),
    Property(
        "join-complete",
        joined_incomplete,
        violations.incomplete_joining,
        "JoinedIncomplete",
        is_warning=True,
        yields_to=_LOSSES,
    ),
    Property(
        "hw-due",
        high_watermark_due,
        violations.overdue,
        "HighWatermarkOverdue",
        is_warning=True,
        applies=requests_isr_changes,
    ),
    Property(
        "isr-change-ends",
        isr_change_stuck,
        violations.waiting_in_vain,
        "IsrChangeStuck",
        is_warning=True,
        applies=requests_isr_changes,
    ),
    Property(
        "convergence",
        non_convergence,
        violations.unequal,
        "NotConverged",
        at_end=True,
        yields_to=_DISKS,
        seen_in=_LOGS,
    ),
    Property(
        "leader-available",
        leader_missing,
        violations.leaderless,
        "LeaderMissing",
        at_end=True,
        applies=lambda p: has_heartbeats(p) or p.controllers > 1,
    ),
    Property("answered", unanswered, violations.unanswered, "RequestUnanswered", at_end=True, applies=tracks_waiting),
    Property(
        "fetch-answered",
        fetch_unanswered,
        violations.fetch_unanswered,
        "FetchUnanswered",
        at_end=True,
        applies=has_delayed_fetch,
    ),
    Property(
        "lso-advances",
        last_stable_offset_stuck,
        violations.unstable,
        "LastStableOffsetStuck",
        at_end=True,
        applies=has_late_requests,
        yields_to=_LOSSES,  # a lost marker
    ),
)
NAMES = tuple(each.name for each in PROPERTIES)
BY_NAME = {each.name: each for each in PROPERTIES}

_AFTER_EACH_EVENT = tuple(each for each in PROPERTIES if not each.at_end)
_AT_END = tuple(each for each in PROPERTIES if each.at_end)
AT_END = sum(each.bit for each in _AT_END)


class UnknownProperty(ValueError):
    """No property has the given name; the message suggests names."""


def named(name: str) -> Property:
    """Return the property with the given name. Raises UnknownProperty."""
    if name not in BY_NAME:
        raise UnknownProperty(f"unknown property {name!r}; {nearest(name, NAMES, 'the properties are')}")
    return BY_NAME[name]


def names(broken: int) -> list[str]:
    """Return the names of the properties in a set (a bit for each), the most severe first."""
    return [each.name for each in PROPERTIES if broken & each.bit]


def set_of(chosen: Iterable[str]) -> int:
    """Return the set of the named properties, a bit for each. Raises KeyError for an unknown name."""
    return sum({BY_NAME[name].bit for name in chosen})


def applying(*starts: State) -> list[str]:
    """Return the names of the properties that can be broken under the protocol and settings of at least one state."""
    return [each.name for each in PROPERTIES if any(map(each.applies, starts))]


def permitted(settings: Configuration) -> frozenset[str]:
    """Return the names of the properties that may break under these settings, such as no-acked-loss with acks=1."""
    return frozenset(each.name for each in PROPERTIES if each.permitted(settings))


def broken_now(p: State) -> int:
    """Return the properties that the state breaks, one bit each, without the properties that are checked at the end."""
    broken = 0
    for judged in _AFTER_EACH_EVENT:  # the linker unrolls the loop, so it has no break or continue
        if judged.is_broken(p):
            broken |= judged.bit
    return broken


def broken_at_end(p: State) -> int:
    """Stop all faults in `p`, and return the properties that are broken then, one bit each.

    The bits cover only the properties that are checked at the end. Pass a copy, because `p` changes.
    """
    healing.heal(p)
    broken = 0
    for judged in _AT_END:
        if judged.is_broken(p):
            broken |= judged.bit
    return broken
