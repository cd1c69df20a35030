"""Findings: the statements of an audit about partitions, with the lines that show them."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from epochfuzz.harness.audit.lines.events import Event

if TYPE_CHECKING:
    from epochfuzz.harness.documents import evidence as documents


class What(StrEnum):
    """The kinds of findings. `committed-loss` is first in reports, because its records are gone."""

    COMMITTED_LOSS = "committed-loss"
    RE_ELECTED_LEADER = "re-elected-leader"
    UNCLEAN_ELECTION = "unclean-election"
    TRUNCATED_BELOW_HIGH_WATERMARK = "truncated-below-high-watermark"
    DIVERGED = "diverged"


@dataclass(frozen=True, kw_only=True)
class PartitionFinding:
    """A finding about a partition. `evidence` holds the lines that show it, and `around` also the lines near them.

    `first_offset` and `last_offset` are the offsets of the first and the last record concerned, or None if the lines
    don't show them. `told` is the finding in words. `passed` is true for a danger if no line
    shows that records were lost.
    """

    what: str
    topic: str
    partition: int
    first_offset: int | None
    last_offset: int | None
    leader_epoch: int | None
    time: int
    told: str
    evidence: tuple[Event, ...]
    around: tuple[Event, ...] = ()
    passed: bool = False  # True for a danger without a loss

    @property
    def name(self) -> str:
        """Return the name of the partition."""
        return f"{self.topic}-{self.partition}"

    @property
    def is_loss(self) -> bool:
        """Return whether the finding proves that committed records are gone."""
        return self.what in (What.COMMITTED_LOSS, What.TRUNCATED_BELOW_HIGH_WATERMARK)

    @property
    def offsets(self) -> str:
        """Return the offsets as text, such as `5 to 7`, or `?` if the lines don't show them."""
        if self.first_offset is None or self.last_offset is None:
            return "?"
        if self.first_offset == self.last_offset:
            return f"{self.first_offset:,}"
        return f"{self.first_offset:,} to {self.last_offset:,}"

    def plain(self) -> "documents.AuditFinding":
        """Return the finding as fields of the document of `--json`."""
        return {
            "kind": self.what,
            "topic": self.topic,
            "partition": self.partition,
            "first_offset": self.first_offset,
            "last_offset": self.last_offset,
            "leader_epoch": self.leader_epoch,
            "told": self.told,
            "evidence": [{"file": e.file, "line": e.line, "broker": e.broker, "text": e.text} for e in self.evidence],
        }

    def row(self) -> dict[str, Any]:
        """Return the finding as a row of the table of findings."""
        rows = {name: [event.row() for event in getattr(self, name)] for name in ("evidence", "around")}
        return vars(self) | rows

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> "PartitionFinding":
        """Return the finding that a row of the table of findings holds."""
        events = {name: tuple(Event.from_row(each) for each in row[name]) for name in ("evidence", "around")}
        return cls(**row | events)


def in_order(findings: Iterable[PartitionFinding]) -> list[PartitionFinding]:
    """Return findings in the order of the report: by kind, with losses first, then by partition and epoch."""
    kinds = list(What)
    return sorted(
        findings,
        key=lambda f: (
            kinds.index(What(f.what)),
            f.topic,
            f.partition,
            -1 if f.leader_epoch is None else f.leader_epoch,
            -1 if f.first_offset is None else f.first_offset,
            f.told,
        ),
    )
