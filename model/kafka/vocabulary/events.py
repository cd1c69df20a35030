"""Events: a verb and a replica in one byte, such as `fetch B`.

A schedule is a byte string of events. An event whose precondition does not hold has no effect. So every byte string
over the alphabet is a valid schedule. A schedule stays valid if any of its events is deleted.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from enum import IntEnum
from functools import partial
from typing import Any

from epochfuzz.model.kafka.vocabulary.effects import Effect, Heals
from epochfuzz.model.kafka.vocabulary.event_codes import encode, replica_of, verb_number
from epochfuzz.model.kafka.vocabulary.in_force import (
    begins_epochs,
    has_consumer,
    has_heartbeats,
    has_late_requests,
    has_retention,
    registers_in_two_steps,
    requests_isr_changes,
    requests_may_fail,
    rival_decides,
    rival_overwrites,
    shrinking_opens_epoch,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import Registration
from epochfuzz.model.kafka.vocabulary.names import nearest

REPLICA_NAMES = "ABCDE"


def _never(p: Any) -> bool:
    return False


def _always(p: Any) -> bool:
    return True


@dataclass(frozen=True)
class _Verb:
    """The declaration of a verb. `Verb` describes the fields."""

    number: int
    module: str
    meaning: str
    _: KW_ONLY
    dealt: int
    progress: int | None = None
    setting: str | None = None
    at_least: int = 1
    when: Callable[[Any], bool] | None = None
    at_no_replica: bool = False
    opens_epoch: Callable[[Any], bool] = _never
    effect: Effect | None = None
    heals: Heals | None = None
    appends: bool = False
    is_vital: bool = False
    is_particular: bool = False


_late = partial(
    _Verb, module="clients.late_requests", setting="late_requests", when=has_late_requests, is_particular=True
)


class Verb(IntEnum):
    """A kind of event at a replica. The rule of a verb is the function with the verb's name in `module`, see step.py.

    A verb's number is part of the format of a schedule: append verbs, never change a number. Random schedules draw
    events from a deck, a weighted list (phrases.py). `dealt` is the number of copies of the event in this deck.
    `is_vital`: no partition makes progress without the verb. `is_particular`: random schedules have the verb only under
    protocols that can enable it. So a new verb does not change the random schedules of other protocols. `progress` is
    None for a fault. For an event that happens in a healthy partition or repairs a partition, `progress` is the
    position in shrinking's order of preference. `setting` names a setting that must be on for the event to happen. If
    the setting is a number, it must be at least `at_least`. `when(p)` must also be true for the constants of the state.
    `at_no_replica`: the event happens to the controller or to a client, and schedules name replica A. `opens_epoch(p)`
    is true if the constants of the state let the event open a leader epoch. `appends`: the event may write a client's
    record. effects.py describes `effect` and `heals`. These fields and the rule are all that the harness needs to know
    about a verb.
    """

    module: str
    meaning: str
    dealt: int
    progress: int | None
    setting: str | None
    at_least: int
    when: Callable[[Any], bool] | None
    at_no_replica: bool
    opens_epoch: Callable[[Any], bool]
    effect: Effect | None
    heals: Heals | None
    appends: bool
    is_vital: bool
    is_particular: bool

    def __new__(cls, declared: _Verb) -> "Verb":
        """Create the enum member: an int that also has the fields of the declaration."""
        verb = int.__new__(cls, declared.number)
        verb._value_ = declared.number
        for each in fields(declared):
            if each.name != "number":
                setattr(verb, each.name, getattr(declared, each.name))
        return verb

    PRODUCE = _Verb(
        0,
        "partition.replication",
        "a client sends the next record to the replica",
        dealt=11,
        progress=4,
        appends=True,
        is_vital=True,
    )
    FETCH = _Verb(
        1,
        "partition.replication",
        "the replica's request reaches its leader, and the response is on its way",
        dealt=8,
        progress=1,
        heals=Heals.ROUND,
        is_vital=True,
    )
    RECEIVE = _Verb(
        2,
        "partition.replication",
        "the response in flight to the replica arrives",
        dealt=2,
        progress=0,
        heals=Heals.ROUND,
        is_vital=True,
    )
    DROP = _Verb(3, "partition.replication", "the response in flight to the replica is lost", dealt=1)
    CRASH = _Verb(4, "broker.faults", "the replica's process dies, and its disk is kept", dealt=1, effect=Effect.ENDS)
    POWER_LOSS = _Verb(
        5,
        "broker.faults",
        "the replica loses power, and with it its unflushed records",
        dealt=2,
        setting="power_loss",
        effect=Effect.ENDS,
    )
    RESTART = _Verb(
        6,
        "broker.faults",
        "the replica's process starts again",
        dealt=2,
        progress=3,
        # a returning broker counts as failed first; in KRaft, `expire` has ended its session by then
        opens_epoch=lambda p: p.registration == Registration.FENCED and not has_heartbeats(p),
        effect=Effect.STARTS,
        heals=Heals.RETURN,
        is_vital=True,
    )
    NOTIFY = _Verb(
        7,
        "partition.leadership",
        "the replica learns the controller's next leader-and-ISR update",
        dealt=2,
        progress=2,
        effect=Effect.INFORMS,
        heals=Heals.LEARN,
        is_vital=True,
    )
    CATCH_UP = _Verb(
        8,
        "partition.leadership",
        "the replica learns the latest leader-and-ISR update, and skips all earlier ones",
        dealt=2,
        effect=Effect.INFORMS,
    )
    ELECT = _Verb(9, "controller.controller", "the controller makes the replica leader", dealt=4, opens_epoch=_always)
    EXPIRE = _Verb(
        10,
        "controller.controller",
        "the replica's session expires, though it may be alive",
        dealt=1,
        opens_epoch=_always,
    )
    SHRINK = _Verb(11, "partition.isr", "the leader takes the replica, which lags, out of the ISR", dealt=2)
    EXPAND = _Verb(
        12,
        "partition.isr",
        "the leader takes the replica, which has caught up, into the ISR",
        dealt=1,
        heals=Heals.ROUND,
    )
    FLUSH = _Verb(13, "broker.faults", "the replica's log is forced to disk", dealt=2, progress=5, setting="power_loss")
    CHECKPOINT = _Verb(
        14,
        "broker.faults",
        "the replica writes its high watermark to disk",
        dealt=4,
        progress=6,
        setting="asynchronous_checkpoint",
    )
    ALTER = _Verb(
        15,
        "partition.alter_partition",
        "the controller handles the replica's AlterPartition request",
        dealt=4,
        progress=7,
        when=requests_isr_changes,
        opens_epoch=shrinking_opens_epoch,
        heals=Heals.ROUND,
    )
    ALTERED = _Verb(
        16,
        "partition.alter_partition",
        "the replica gets the response to its AlterPartition request",
        dealt=4,
        progress=8,
        when=requests_isr_changes,
        heals=Heals.ROUND,
    )
    RESEND = _Verb(
        17,
        "partition.alter_partition",
        "the response to the replica's AlterPartition request is lost, and the replica sends the request again",
        dealt=1,
        when=requests_isr_changes,
    )
    REFUSE = _Verb(
        18,
        "partition.alter_partition",
        "a controller that is no longer active rejects the replica's AlterPartition request",
        dealt=1,
        when=requests_may_fail,
    )
    SHUTDOWN = _Verb(
        19,
        "broker.registration",
        "the replica's process ends by a controlled shutdown",
        dealt=1,
        when=has_heartbeats,
        opens_epoch=_always,
        effect=Effect.ENDS,
    )
    UNFENCE = _Verb(
        20,
        "broker.registration",
        "the controller receives heartbeats from the fenced replica again",
        dealt=4,
        progress=9,
        when=has_heartbeats,
        heals=Heals.UNFENCE,
    )
    RETRY = _Verb(
        21,
        "clients.producer",
        "the producer sends its oldest unacknowledged record again, to the replica",
        dealt=6,
        progress=10,
        setting="retries",
        appends=True,
    )
    CONSUME = _Verb(
        22,
        "clients.consumer",
        "the consumer reads the next record from the replica",
        dealt=8,
        progress=11,
        setting="consumer",
    )
    REFRESH = _Verb(
        23,
        "clients.consumer",
        "the consumer learns that the replica leads, and checks whether it can continue there",
        dealt=4,
        progress=12,
        setting="consumer",
    )
    COMMIT = _Verb(
        24,
        "clients.coordinator",
        "the transaction is committed, and the replica writes the marker",
        dealt=4,
        progress=13,
        setting="transactions",
    )
    ABORT = _Verb(
        25,
        "clients.coordinator",
        "the transaction is aborted, and the replica writes the marker",
        dealt=4,
        setting="transactions",
    )
    FAILOVER = _Verb(
        26,
        "controller.fail_over",
        "another broker becomes controller, and the old one does not know",
        dealt=4,
        setting="controllers",
        at_least=2,
        at_no_replica=True,
    )
    RIVAL_ELECT = _Verb(
        27,
        "controller.deposed_controller",
        "the old controller makes the replica leader",
        dealt=6,
        setting="controllers",
        at_least=2,
        when=rival_decides,
        opens_epoch=_always,
    )
    RIVAL_NOTIFY = _Verb(
        28,
        "partition.leadership",
        "the replica learns the old controller's update",
        dealt=6,
        setting="controllers",
        at_least=2,
        when=rival_overwrites,
        effect=Effect.INFORMS,
    )
    LAPSE = _Verb(
        29,
        "partition.lag_time",
        "the lag time passes at the leader (replica.lag.time.max.ms)",
        dealt=4,
        setting="lag_time",
    )
    EXPIRE_FETCH = _Verb(
        30,
        "partition.delayed_fetch",
        "the replica's fetch has waited long enough, and its leader responds without records",
        dealt=4,
        progress=14,
        setting="delayed_fetch",
        heals=Heals.ROUND,
    )
    REGISTER = _Verb(
        31,
        "broker.registration",
        "the controller registers the replica's new process, and fences the broker",
        dealt=4,
        progress=15,
        when=registers_in_two_steps,
        heals=Heals.REGISTER,
        is_vital=True,
        is_particular=True,
    )
    COMMIT_OFFSET = _Verb(
        32,
        "clients.consumer_group",
        "the consumer commits its position",
        dealt=12,
        progress=16,
        setting="consumer_group",
        when=has_consumer,
        at_no_replica=True,
        is_particular=True,
    )
    RESET = _Verb(
        33,
        "clients.consumer_group",
        "the consumer restarts at its committed position, and learns that the replica leads",
        dealt=4,
        setting="consumer_group",
        when=has_consumer,
        is_particular=True,
    )
    WIPE = _Verb(
        34,
        "broker.faults",
        "the replica loses its log directory, and its process dies",
        dealt=2,
        setting="lost_directory",
        effect=Effect.ENDS,
        is_particular=True,
    )
    BUMP = _Verb(
        35,
        "clients.producer",
        "the replica rejects an unacknowledged record, and the producer begins a new producer epoch",
        dealt=6,
        progress=17,
        setting="producer_epochs",
        when=begins_epochs,
        is_particular=True,
    )
    BEGIN = _late(
        36,
        meaning="the producer begins a transaction, and has sent no record of it",
        dealt=6,
        progress=18,
        at_no_replica=True,
    )
    DELAY = _late(
        37,
        meaning="the producer sends the next record of the transaction, and the request is late",
        dealt=8,
        at_no_replica=True,
    )
    ARRIVE = _late(38, meaning="the late record arrives at the replica", dealt=6, progress=19, appends=True)
    MARK = _late(39, meaning="a copy of the last transaction's marker arrives at the replica", dealt=4)
    TRIM = _Verb(
        40,
        "storage.log_start",
        "the replica deletes the first record of its log",
        dealt=8,
        progress=20,
        setting="retention",
        when=has_retention,
        is_particular=True,
    )

    @property
    def text(self) -> str:
        """The name of the verb in schedules, such as `fetch`."""
        return self.name.lower()

    def is_set(self, settings: Any) -> bool:
        """Return whether `settings` turns on the setting that the verb needs.

        `settings` is a configuration or a state. Returns True for a verb that needs no setting.
        """
        return self.setting is None or getattr(settings, self.setting) >= self.at_least

    def possible(self, p: Any) -> bool:
        """Return whether an event with this verb can ever happen under the protocol and settings of the state `p`."""
        return self.is_set(p) and (self.when is None or self.when(p))


VERBS = tuple(verb.text for verb in Verb)

# Verbs that happen in a healthy partition or repair one, in the order in which shrinking prefers them.
PROGRESS = tuple(sorted((verb for verb in Verb if verb.progress is not None), key=lambda verb: verb.progress or 0))

_VERB_OF = tuple(Verb)
if [*Verb] != [*range(len(Verb))]:
    raise TypeError("verbs are numbered from 0, in order and without a gap")


class EventError(ValueError):
    """A text is not a valid event; the message shows the right form, or suggests a name."""


def verb_of(event: int) -> Verb:
    """Return the verb of an event byte."""
    return _VERB_OF[verb_number(event)]


def renamed_event(event: int, names: Sequence[int]) -> int:
    """Return the event with its replica r replaced by the replica `names[r]`.

    An event of the controller or of a client is returned unchanged.
    """
    verb = verb_of(event)
    return event if verb.at_no_replica else encode(verb, names[replica_of(event)])


def event_text(event: int) -> str:
    """Return the text of an event byte, such as `fetch B`."""
    return f"{verb_of(event).text} {REPLICA_NAMES[replica_of(event)]}"


def parse_event(text: str) -> int:
    """Return the event byte for a text such as `fetch B`. Raises EventError."""
    words = text.split() if isinstance(text, str) else []
    if len(words) != 2:
        raise EventError(f"an event is a verb and a replica, such as 'fetch B'; got {text!r}")
    verb, replica = words
    if verb not in VERBS:
        raise EventError(f"unknown event {verb!r}; {nearest(verb, VERBS, 'the events are')}")
    if len(replica) != 1 or replica not in REPLICA_NAMES:
        raise EventError(f"unknown replica {replica!r}; the replicas are {', '.join(REPLICA_NAMES)}")
    return encode(VERBS.index(verb), REPLICA_NAMES.index(replica))


def parse_schedule(texts: Iterable[str]) -> bytes:
    """Return the byte string for texts such as `fetch B`. Raises EventError for the first text that is not an event."""
    return bytes(parse_event(text) for text in texts)


def schedule_texts(schedule: bytes) -> list[str]:
    """Return the events of a schedule as texts such as `fetch B`, in the order of the schedule."""
    return [event_text(event) for event in schedule]


def alphabet(replicas: int) -> bytes:
    """Return every event of a partition with `replicas` replicas, as bytes in ascending order."""
    return bytes(sorted(encode(verb, r) for verb in Verb for r in range(1 if verb.at_no_replica else replicas)))


def in_order(alphabet: bytes) -> bytes:
    """Sort events as shrinking prefers them: events that finish a step, events that begin a step, then faults.

    During shrinking, Hypothesis sorts the events of a schedule if it can. In this order responses arrive, and replicas
    learn updates, as early as possible. So schedules that differ only in the order of independent events usually shrink
    to the same schedule.
    """
    order = [*PROGRESS, *(verb for verb in Verb if verb not in PROGRESS)]
    events: list[int] = sorted(alphabet, key=lambda event: order.index(verb_of(event)))
    return bytes(events)
