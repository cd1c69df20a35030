"""What happened in a run, moment by moment: who led, logs and high watermarks, what producers and consumers saw."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from epochfuzz.harness.cluster.broker.broker_log import Line
from epochfuzz.harness.cluster.broker.clients import UNKNOWN_OFFSET, Acknowledged, Read
from epochfuzz.harness.cluster.broker.node import Node
from epochfuzz.harness.cluster.broker.segments import Record, records
from epochfuzz.harness.plain import fields_of

if TYPE_CHECKING:
    from epochfuzz.harness.documents import evidence as documents


class Verdict(StrEnum):
    """How a run ended."""

    LOST = "LOST"  # an acknowledged record is not where its producer was told it is
    KEPT = "KEPT"
    NOT_REACHED = "NOT REACHED"  # a step waited for what this cluster did not do


@dataclass(frozen=True)
class ReplicaView:
    """A replica at a moment."""

    state: str  # running, paused, ending or down
    role: str  # as the broker itself has said last: leads e1, follows A e1
    log: tuple[Record, ...]
    high_watermark: int | None  # of a leader: as it has logged, or served to a consumer

    @property
    def end(self) -> int:
        """The log end offset."""
        return self.log[-1].offset + 1 if self.log else 0

    def told(self) -> str:
        """Return the log as the project's other timelines have it: below the high watermark in [], above it in ()."""
        if self.high_watermark is None:
            return " ".join(record.value for record in self.log) or "empty"
        known = self.high_watermark
        below = " ".join(record.value for record in self.log if record.offset < known)
        above = " ".join(record.value for record in self.log if record.offset >= known)
        return (f"[{below}]" if below else "") + (f"({above})" if above else "") or "empty"


@dataclass(frozen=True)
class Moment:
    """A step that has been reached."""

    after: float  # seconds since the run began
    step: str
    what: str
    replicas: dict[str, ReplicaView]
    acknowledged: tuple[Acknowledged, ...]  # since the moment before
    read: tuple[Read, ...]


@dataclass
class Loss:
    """An acknowledged record that is not at its offset any more."""

    value: str
    partition: int
    offset: int
    instead: str | None  # the value that is there now
    was_read: bool


@dataclass
class Run:
    """A run of a scenario."""

    verdict: Verdict = Verdict.NOT_REACHED
    seconds: float = 0.0
    acknowledged: int = 0
    lost: list[Loss] = field(default_factory=list)
    why: str = ""  # it was not reached
    moments: list[Moment] = field(default_factory=list)
    evidence: list[tuple[str, str]] = field(default_factory=list)  # broker and line of its log
    clients: list[str] = field(default_factory=list)  # what they were told besides

    def judge(self, acknowledged: Sequence[Acknowledged], left: Sequence[Read], read: Sequence[Read] = ()) -> None:
        """Judge by what is left, as a consumer that comes now reads it: what was acknowledged is at its offset."""
        now = {(each.partition, each.offset): each.value for each in left}
        present = {(each.partition, each.value) for each in left}
        were_read = {each.value for each in read}
        self.acknowledged = len(acknowledged)
        self.lost = [
            Loss(each.value, each.partition, each.offset, found, each.value in were_read)
            for each in acknowledged
            if (found := now.get((each.partition, each.offset))) != each.value
            and not (each.offset == UNKNOWN_OFFSET and (each.partition, each.value) in present)
        ]
        self.verdict = Verdict.LOST if self.lost else Verdict.KEPT

    def plain(self) -> "documents.ClusterRun":
        """For JSON."""
        return {
            "verdict": self.verdict.value,
            "seconds": round(self.seconds, 2),
            "acknowledged": self.acknowledged,
            "lost": [fields_of(loss) for loss in self.lost],
            "not_reached": self.why or None,
            "moments": [fields_of(moment) for moment in self.moments],
            "evidence": [{"broker": broker, "line": line} for broker, line in self.evidence],
            "clients": self.clients,
        }


class Recorder:
    """Looks at the replicas of one partition, and notes moments."""

    def __init__(self, brokers: dict[str, Node], partition: str) -> None:
        self.run = Run()
        self._brokers, self._partition = brokers, partition
        self._began = time.time()
        self._seen_acknowledged = self._seen_read = 0

    def records(self, name: str) -> list[Record]:
        """Return the log of a replica as its files have it."""
        return records(self._brokers[name].data / self._partition)

    def lines(self, name: str) -> list[Line]:
        """Return what a broker has logged of the partition."""
        return self._brokers[name].log.lines(self._partition)

    def role(self, name: str) -> Line | None:
        """Return the last line by which a broker became leader or follower."""
        return next((line for line in reversed(self.lines(name)) if line.kind != "truncation"), None)

    def _succeeded_at(self, leader: Line) -> float:
        """When the next leader has said that it leads."""
        leaders = [line for name in self._brokers for line in self.lines(name) if line.kind == "leader"]
        return min((line.at for line in leaders if line.epoch > leader.epoch), default=math.inf)

    def note(self, step: str, what: str, acknowledged: Sequence[Acknowledged], read: Sequence[Read]) -> None:
        """Note a moment: how everything is now, and what clients were told since the one before."""
        ordered = sorted(acknowledged, key=lambda each: each.at)
        new_acknowledged, new_read = ordered[self._seen_acknowledged :], list(read)[self._seen_read :]
        self._seen_acknowledged, self._seen_read = len(ordered), len(read)
        views = {name: self._view(name, read) for name in self._brokers}
        moment = Moment(time.time() - self._began, step, what, views, tuple(new_acknowledged), tuple(new_read))
        self.run.moments.append(moment)

    def _view(self, name: str, read: Sequence[Read]) -> ReplicaView:
        node, line = self._brokers[name], self.role(name)
        known = None
        if line is not None and line.kind == "leader":
            ends = self._succeeded_at(line)
            known = max([line.high_watermark, *(each.offset + 1 for each in read if line.at <= each.at < ends)])
        return ReplicaView(node.state, "" if line is None else self._told(line), tuple(self.records(name)), known)

    def _told(self, line: Line) -> str:
        if line.kind == "leader":
            return f"leads e{line.epoch}"
        leader = next((name for name, node in self._brokers.items() if node.number == line.leader), None)
        return f"follows {leader} e{line.epoch}" if leader else f"follows, e{line.epoch}"
