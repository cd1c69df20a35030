"""The properties: what must hold after every event, each a function that says whether it is broken.

`convergence`, `leader-available` and `answered` are not judged after every event but at the end of a schedule, by
healing a copy of the partition.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from epochfuzz.model.kafka.clients import consumer
from epochfuzz.model.kafka.contract import breaches, healing
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.history import promises, waiting
from epochfuzz.model.kafka.partition import alter_partition, delayed_fetch, high_watermark
from epochfuzz.model.kafka.partition.replication import presumes_leadership, serves_consumers
from epochfuzz.model.kafka.storage import log, transactions
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.in_force import (
    has_delayed_fetch,
    has_heartbeats,
    has_transactions,
    requests_isr_changes,
    tracks_waiting,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import IsrChange
from epochfuzz.model.kafka.vocabulary.names import nearest
from epochfuzz.model.kafka.vocabulary.state import NONE, Partition, State


def readable_end(p: State, r: int) -> int:
    """Return the end of what is below r's high watermark and in its log; the former may be the greater one."""
    return min(p.high_watermark[r], p.leo[r])


def committed_loss(p: State) -> bool:
    """Judge whether a record that consumers could read is missing on the true leader, or another one
    is in its place.
    """
    leader = controller.true_leader(p)
    return leader != NONE and promises.exposed_are_lost(p, leader) and not promises.are_void(p)


def acked_loss(p: State) -> bool:
    """Judge whether a record whose producer got its answer is missing on the true leader, or another
    one is in its place.
    """
    leader = controller.true_leader(p)
    return leader != NONE and promises.lost_acked(p, leader) != 0 and not promises.are_void(p)


def duplicate(p: State) -> bool:
    """Judge whether a record is twice in the log of the true leader, below its high watermark."""
    return p.retries and has_duplicate(p, controller.true_leader(p))


def has_duplicate(p: State, leader: int) -> bool:
    """Whether a leader, NONE for nobody, has a record twice below its high watermark."""
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
    """Judge whether records are on the true leader, below its high watermark, in another order than
    they were sent in.
    """
    return p.retries and is_reordered(p, controller.true_leader(p))


def is_reordered(p: State, leader: int) -> bool:
    """Whether a leader, NONE for nobody, has a record below its high watermark after one that was sent later."""
    if leader == NONE:
        return False
    found = 0
    for offset in range(readable_end(p, leader)):
        record = log.at(p.log_record[leader], offset)
        if not transactions.is_marker(p, record):
            if not found >> record & 1 and found >> record != 0:
                return True
            found |= 1 << record
    return False


def skipped(p: State) -> bool:
    """Judge whether the consumer has passed over a record of the true leader, which it knows, untold
    of a truncation.
    """
    return p.consumer and consumer.skipped(p) != 0


def uncommitted_read(p: State) -> bool:
    """Judge whether a read_committed consumer may read a record of a transaction that is not committed."""
    if not has_transactions(p) or promises.are_void(p):
        return False
    for r in range(p.replicas):
        if serves_consumers(p, r) and transactions.delivered(p, r) & ~p.committed_records != 0:
            return True
    return False


def divergence(p: State) -> bool:
    """Two replicas disagree on a record below both their high watermarks."""
    for a in range(p.replicas):
        for b in range(a):
            both = min(readable_end(p, a), readable_end(p, b))
            if log.prefix(p.log_record[a] ^ p.log_record[b], both) != 0 and not promises.are_void(p):
                return True
    return False


def mismatch(p: State) -> bool:
    """Two replicas have different records at the same offset and epoch (the TLA+ specifications' LogMatching)."""
    for a in range(p.replicas):
        for b in range(a):
            both = min(p.leo[a], p.leo[b])
            other_record = log.prefix(p.log_record[a] ^ p.log_record[b], both)
            if other_record == 0:
                continue
            other_epoch = p.log_epoch[a] ^ p.log_epoch[b]
            if log.occupied(other_record) & ~log.occupied(other_epoch) != 0:
                return True
    return False


def high_watermark_beyond_log(p: State) -> bool:
    """Judge whether a high watermark is beyond the log end offset."""
    for r in range(p.replicas):
        if p.high_watermark[r] > p.leo[r]:
            return True
    return False


def isr_incomplete(p: State) -> bool:
    """Return a live member of the true ISR lacks what a presumed leader has below its high watermark (StrongIsr)."""
    members = controller.isr(p)
    for leader in range(p.replicas):
        if presumes_leadership(p, leader):
            end = readable_end(p, leader)
            for r in range(p.replicas):
                if (members >> r & 1 and p.up[r]) and log.lacks(p, r, leader, end) and not promises.are_void(p):
                    return True
    return False


def joined_incomplete(p: State) -> bool:
    """Judge whether a replica has joined the ISR without a record below the high watermark of the
    leader that proposed it.
    """
    return p.joined_incomplete != 0


def high_watermark_due(p: State) -> bool:
    """Judge whether a presumed leader's high watermark is below what its own rule makes of what the leader knows."""
    if p.isr_change == IsrChange.ATOMIC:
        return False
    for leader in range(p.replicas):
        is_free = presumes_leadership(p, leader) and not high_watermark.is_held(p, leader)
        if is_free and high_watermark.due(p, leader) > p.high_watermark[leader]:
            return True
    return False


def isr_change_stuck(p: State) -> bool:
    """Return a leader waits for the answer to a change of the ISR, and no request, no answer and no
    news is on its way.
    """
    if p.isr_change == IsrChange.ATOMIC:
        return False
    for leader in range(p.replicas):
        if p.pending_isr[leader] != 0 and alter_partition.waits_in_vain(p, leader):
            return True
    return False


def non_convergence(p: State) -> bool:
    """With all faults stopped, logs or high watermarks still differ. If nobody can lead any more, they may."""
    return controller.leader(p) != NONE and not healing.has_converged(p)


def leader_missing(p: State) -> bool:
    """With all faults stopped, a member of the ISR or an eligible leader replica is up, and yet nobody leads."""
    return controller.true_leader(p) == NONE and controller.candidates(p) != 0


def unanswered(p: State) -> bool:
    """With all faults stopped and a leader there, an acks=all request still waits, and its producer has no answer."""
    return controller.true_leader(p) != NONE and waiting.anywhere(p)


def fetch_unanswered(p: State) -> bool:
    """With all faults stopped and a leader there, a follower's fetch still waits at a leader."""
    return p.delayed_fetch and controller.true_leader(p) != NONE and delayed_fetch.anywhere(p)


def _always(p: State) -> bool:
    return True


def _retries(p: State) -> bool:
    return bool(p.retries)


def _never(settings: Configuration) -> bool:
    return False


@dataclass(frozen=True, eq=False)
class Property:
    """A property: how it is judged, and what is said and raised where it is broken.

    `breaches` yields a sentence for each place where a state breaks it. `failure` names the exception of state
    machines. `permitted` says under which settings the contract with clients allows it to break. What is judged
    `at_end` is asked about a healed state. `is_warning`: what it forbids is loss waiting to happen. `applies` says
    under which constants of a state anything can break it, and `yields_to` to which faults, asked for in the settings,
    it gives way whatever the protocol. `seen_in` has the fields of an observation (observation.py) that show whether it
    is broken; it has none where that takes what no observation has: what is pending, in flight or waits, and what a
    leader knows of its followers.
    """

    name: str
    is_broken: Callable[[State], bool]
    breaches: Callable[[Partition], Iterator[str]]
    failure: str
    permitted: Callable[[Configuration], bool] = _never
    at_end: bool = False
    is_warning: bool = False
    applies: Callable[[State], bool] = _always
    yields_to: tuple[str, ...] = ()
    seen_in: tuple[str, ...] = ()

    @cached_property
    def number(self) -> int:
        """Its place in the order of severity."""
        return PROPERTIES.index(self)

    @cached_property
    def bit(self) -> int:
        """What stands for it in a set of properties."""
        return 1 << self.number

    @property
    def meaning(self) -> str:
        """What breaks it, in a sentence."""
        return (self.is_broken.__doc__ or "").splitlines()[0]


# Records that were not flushed are gone with the power, and an unclean election gives up those that the leader lacks.
_LOSSES = ("unclean_leader_election", "power_loss")

# What shows a high watermark and the log below it, who leads, and who knows that he does.
_LOGS = ("replicas.log", "replicas.hw")
_LEADERS = ("replicas.leader", "replicas.leader_epoch", "controller.leader", "controller.epoch")

# In the order of severity, which is the order of every table and list. Bit i of a set of properties is the i-th.
PROPERTIES: tuple[Property, ...] = (
    Property(
        "no-committed-loss",
        committed_loss,
        breaches.lost_exposed,
        "CommittedRecordLost",
        yields_to=_LOSSES,
        seen_in=(*_LOGS, *_LEADERS),
    ),
    Property(
        "no-acked-loss",
        acked_loss,
        breaches.lost_acked,
        "AckedRecordLost",
        permitted=lambda settings: settings.acks == "1",  # which promises nothing that the leader alone has
        yields_to=_LOSSES,
        seen_in=(*_LOGS, *_LEADERS, "controller.isr"),
    ),
    Property(
        "no-duplicate",
        duplicate,
        breaches.duplicated,
        "RecordDuplicated",
        applies=_retries,
        seen_in=(*_LOGS, *_LEADERS),
    ),
    Property(
        "no-reorder",
        reordered,
        breaches.out_of_order,
        "RecordsReordered",
        applies=_retries,
        seen_in=(*_LOGS, *_LEADERS),
    ),
    Property(
        "consumer-no-skip",
        skipped,
        breaches.passed_over,
        "ConsumerSkippedRecord",
        applies=lambda p: p.consumer,
        seen_in=(*_LOGS, *_LEADERS, "consumer.position", "consumer.leader_epoch", "consumer.delivered"),
    ),
    Property(
        "read-committed",
        uncommitted_read,
        breaches.uncommitted,
        "UncommittedRead",
        applies=has_transactions,
        yields_to=_LOSSES,  # a marker that is lost takes with it what it says of the records before it
    ),
    Property("no-divergence", divergence, breaches.diverging, "LogsDiverged", yields_to=_LOSSES, seen_in=_LOGS),
    Property(
        "log-matching",
        mismatch,
        breaches.mismatching,
        "LogMatchingBroken",
        yields_to=("power_loss",),
        seen_in=("replicas.log",),
    ),
    Property("hw-within-log", high_watermark_beyond_log, breaches.beyond_log, "HighWatermarkBeyondLog", seen_in=_LOGS),
    Property(
        "isr-complete",
        isr_incomplete,
        breaches.missing_in_isr,
        "IsrIncomplete",
        is_warning=True,
        yields_to=_LOSSES,
        seen_in=(*_LOGS, "replicas.leader", "controller.isr"),
    ),
    Property(
        "join-complete",
        joined_incomplete,
        breaches.incomplete_joining,
        "JoinedIncomplete",
        is_warning=True,
        yields_to=_LOSSES,
    ),
    Property(
        "hw-due",
        high_watermark_due,
        breaches.overdue,
        "HighWatermarkOverdue",
        is_warning=True,
        applies=requests_isr_changes,
    ),
    Property(
        "isr-change-ends",
        isr_change_stuck,
        breaches.waiting_in_vain,
        "IsrChangeStuck",
        is_warning=True,
        applies=requests_isr_changes,
    ),
    Property(
        "convergence",
        non_convergence,
        breaches.unequal,
        "NotConverged",
        at_end=True,
        yields_to=("power_loss",),
        seen_in=_LOGS,
    ),
    Property(
        "leader-available",
        leader_missing,
        breaches.leaderless,
        "LeaderMissing",
        at_end=True,
        applies=lambda p: has_heartbeats(p) or p.controllers > 1,
    ),
    Property("answered", unanswered, breaches.unanswered, "RequestUnanswered", at_end=True, applies=tracks_waiting),
    Property(
        "fetch-answered",
        fetch_unanswered,
        breaches.fetch_unanswered,
        "FetchUnanswered",
        at_end=True,
        applies=has_delayed_fetch,
    ),
)
NAMES = tuple(each.name for each in PROPERTIES)
BY_NAME = {each.name: each for each in PROPERTIES}

_AFTER_EACH_EVENT = tuple(each for each in PROPERTIES if not each.at_end)
_AT_END = tuple(each for each in PROPERTIES if each.at_end)
AT_END = sum(each.bit for each in _AT_END)


class UnknownProperty(ValueError):
    """A name that is not of a property; the message says which ones there are."""


def named(name: str) -> Property:
    """Return the property of a name. Raises UnknownProperty."""
    if name not in BY_NAME:
        raise UnknownProperty(f"unknown property {name!r}; {nearest(name, NAMES, 'the properties are')}")
    return BY_NAME[name]


def names(broken: int) -> list[str]:
    """Return the names of a set of properties, the most severe first."""
    return [each.name for each in PROPERTIES if broken & each.bit]


def set_of(chosen: Iterable[str]) -> int:
    """Return the set of the properties named."""
    return sum({BY_NAME[name].bit for name in chosen})


def applying(*starts: State) -> list[str]:
    """Return the names of the properties that anything can break under the constants of one of some states."""
    return [each.name for each in PROPERTIES if any(map(each.applies, starts))]


def permitted(settings: Configuration) -> frozenset[str]:
    """Return what the contract with clients allows to break."""
    return frozenset(each.name for each in PROPERTIES if each.permitted(settings))


def broken_now(p: State) -> int:
    """Return the set of properties that are broken in this state, but for those that are judged at the end."""
    broken = 0
    for judged in _AFTER_EACH_EVENT:
        if judged.is_broken(p):
            broken |= judged.bit
    return broken


def broken_at_end(p: State) -> int:
    """Return the set of properties that are broken if this is where faults stop. Heals `p` itself: hand it a copy."""
    healing.heal(p)
    broken = 0
    for judged in _AT_END:
        if judged.is_broken(p):
            broken |= judged.bit
    return broken
