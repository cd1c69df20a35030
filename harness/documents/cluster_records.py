"""The results of runs on a Kafka cluster, as dataclasses. JSON documents contain them unchanged."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


@dataclass(frozen=True)
class Record:
    """A record in a replica's log, with its leader epoch."""

    offset: int
    epoch: int
    value: str


@dataclass(frozen=True)
class Acknowledged:
    """A record that was acknowledged to its producer. `at` is a Unix time in seconds."""

    value: str
    partition: int
    offset: int
    at: float


@dataclass(frozen=True)
class ConsumedRecord:
    """A record that a consumer has read. `at` is a Unix time in seconds."""

    value: str
    offset: int
    at: float
    partition: int = 0


@dataclass(frozen=True)
class ReplicaView:
    """A replica at one moment: the state of its process, its role, its log and its high watermark.

    `role` is the last role that the broker logged, such as `leads e1`. `high_watermark` is None if unknown.
    """

    state: str  # running, paused, ending or down
    role: str  # the last role that the broker logged: leads e1, follows A e1
    log: tuple[Record, ...]
    high_watermark: int | None  # for a leader, the highest that it logged or served to a consumer

    @property
    def end(self) -> int:
        """The log end offset."""
        return self.log[-1].offset + 1 if self.log else 0

    def log_text(self) -> str:
        """Return the log as a timeline shows it: records below the high watermark in [], and all other records in ().

        Without a known high watermark, the records have no brackets. The text of an empty log is `empty`.
        """
        if self.high_watermark is None:
            return " ".join(record.value for record in self.log) or "empty"
        known = self.high_watermark
        below = " ".join(record.value for record in self.log if record.offset < known)
        above = " ".join(record.value for record in self.log if record.offset >= known)
        return (f"[{below}]" if below else "") + (f"({above})" if above else "") or "empty"


@dataclass(frozen=True, kw_only=True)
class ReachedStep:
    """The replicas and the clients after a step of a scenario (a fixed sequence of steps on a cluster).

    `after` is the number of seconds since the run began. `acknowledged` lists the records that were acknowledged since
    the previous step. `read` lists the records that consumers have read since then.
    """

    after: float  # seconds since the run began
    step: str
    what: str
    replicas: dict[str, ReplicaView]
    acknowledged: tuple[Acknowledged, ...]  # since the previous step
    read: tuple[ConsumedRecord, ...]


@dataclass
class Loss:
    """An acknowledged record that is no longer at its offset.

    `was_read` is True if a consumer had read the record before. `was_read` is always False for schedules that were
    played on clusters: epochfuzz records reads only in scenarios (fixed sequences of steps on a cluster).
    """

    value: str
    partition: int
    offset: int
    instead: str | None  # the value that is now at the offset
    was_read: bool


class Ended(StrEnum):
    """The outcome of a schedule that was played on a cluster."""

    LOST = "LOST"  # a record that was acknowledged or readable is missing at its offset
    DIVERGED = "DIVERGED"  # the replicas' logs do not become equal
    STUCK = "STUCK"  # the whole ISR has a record, but consumers cannot read it
    KEPT = "KEPT"
    NOT_REACHED = "NOT REACHED"  # the cluster did not carry out an event


class EventOutcome(StrEnum):
    """The outcome of an event that was played on a cluster."""

    DONE = "done"
    NOTHING = "nothing to do"
    REFUSED = "refused"
    NOT_DONE = "not done"  # the effect did not appear in time, which ends the schedule


@dataclass(frozen=True)
class ObservedState:
    """The state after an event: the log of each replica, from its files, and the leader and ISR from the controller."""

    logs: dict[str, tuple[str, ...]]
    leader: str | None
    isr: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PlayedEvent:
    """An event that was played on a cluster: its number from 1, its outcome, and the state after it.

    `what` describes the effect of the event, or the reason why the event had none. `seconds` is the time that the event
    took.
    """

    number: int
    event: str
    outcome: EventOutcome
    what: str
    seconds: float
    seen: ObservedState


@dataclass(kw_only=True)
class Playing:
    """The result of a schedule that was played on a cluster: its outcome `ended`, the reason `why`, and its events.

    `acknowledged` is the number of acknowledged records. `left` lists the records that a new consumer reads at the end.
    """

    ended: Ended = Ended.KEPT
    why: str = ""
    steps: list[PlayedEvent] = field(default_factory=list)
    acknowledged: int = 0
    lost: list[Loss] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)  # records that a consumer could read earlier, but not at the end
    left: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def plain(self) -> Any:
        """Return the result as plain data for JSON."""
        return asdict(self)
