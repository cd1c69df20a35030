"""The timeline of a scenario: each broker's role, log and high watermark after each step, and responses to clients."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from epochfuzz.harness.cluster.broker.broker_log import LogLine
from epochfuzz.harness.cluster.broker.clients import UNKNOWN_OFFSET
from epochfuzz.harness.cluster.broker.node import Node
from epochfuzz.harness.cluster.broker.segments import records
from epochfuzz.harness.documents.cluster_records import (
    Acknowledged,
    ConsumedRecord,
    Loss,
    ReachedStep,
    Record,
    ReplicaView,
)
from epochfuzz.harness.text.plain import fields_of

if TYPE_CHECKING:
    from epochfuzz.harness.documents import evidence as documents


class ScenarioVerdict(StrEnum):
    """The verdict on a run of a scenario."""

    LOST = "LOST"  # an acknowledged record is missing at its offset
    KEPT = "KEPT"
    NOT_REACHED = "NOT REACHED"  # a step did not happen on this cluster


@dataclass(kw_only=True)
class ScenarioRun:
    """A run of a scenario: its verdict, the lost records, and its timeline."""

    verdict: ScenarioVerdict = ScenarioVerdict.NOT_REACHED
    seconds: float = 0.0
    acknowledged: int = 0
    lost: list[Loss] = field(default_factory=list)
    why: str = ""  # why the run did not reach its end
    moments: list[ReachedStep] = field(default_factory=list)
    evidence: list[tuple[str, str]] = field(default_factory=list)  # pairs of a broker and a line of its log
    clients: list[str] = field(default_factory=list)  # other errors that clients received

    def judge(
        self, acknowledged: Sequence[Acknowledged], left: Sequence[ConsumedRecord], read: Sequence[ConsumedRecord] = ()
    ) -> None:
        """Set the verdict: LOST if an acknowledged record is not at its offset, else KEPT.

        A record without a known offset may be at any offset. `left` are the records that a new consumer reads at the
        end, and `read` are the records that were read during the run.
        """
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
        self.verdict = ScenarioVerdict.LOST if self.lost else ScenarioVerdict.KEPT

    def plain(self) -> "documents.ClusterRun":
        """Return this run as plain data, for JSON."""
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
    """Records the timeline of one partition."""

    def __init__(self, brokers: dict[str, Node], partition: str) -> None:
        self.run = ScenarioRun()
        self._brokers, self._partition = brokers, partition
        self._began = time.time()
        self._seen_acknowledged = self._seen_read = 0

    def records(self, name: str) -> list[Record]:
        """Return the records in a replica's log files."""
        return records(self._brokers[name].data / self._partition)

    def lines(self, name: str) -> list[LogLine]:
        """Return a broker's log lines about the partition."""
        return self._brokers[name].log.lines(self._partition)

    def _succeeded_at(self, leader: LogLine) -> float:
        """Return the time when a broker first logged that it leads in a later epoch than `leader`, or infinity."""
        leaders = [line for name in self._brokers for line in self.lines(name) if line.kind == "leader"]
        return min((line.at for line in leaders if line.epoch > leader.epoch), default=math.inf)

    def note(self, step: str, what: str, acknowledged: Sequence[Acknowledged], read: Sequence[ConsumedRecord]) -> None:
        """Record the end of a step: the state of every replica, and the responses to clients since the last step."""
        ordered = sorted(acknowledged, key=lambda each: each.at)
        new_acknowledged, new_read = ordered[self._seen_acknowledged :], list(read)[self._seen_read :]
        self._seen_acknowledged, self._seen_read = len(ordered), len(read)
        views = {name: self._view(name, read) for name in self._brokers}
        moment = ReachedStep(
            after=time.time() - self._began,
            step=step,
            what=what,
            replicas=views,
            acknowledged=tuple(new_acknowledged),
            read=tuple(new_read),
        )
        self.run.moments.append(moment)

    def _view(self, name: str, read: Sequence[ConsumedRecord]) -> ReplicaView:
        node = self._brokers[name]
        line = node.log.role(self._partition)
        known = None
        if line is not None and line.kind == "leader":
            ends = self._succeeded_at(line)
            known = max([line.high_watermark, *(each.offset + 1 for each in read if line.at <= each.at < ends)])
        return ReplicaView(node.state, "" if line is None else self._described(line), tuple(self.records(name)), known)

    def _described(self, line: LogLine) -> str:
        if line.kind == "leader":
            return f"leads e{line.epoch}"
        leader = next((name for name, node in self._brokers.items() if node.number == line.leader), None)
        return f"follows {leader} e{line.epoch}" if leader else f"follows, e{line.epoch}"
