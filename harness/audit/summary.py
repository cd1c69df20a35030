"""Summary: one line for each partition with findings: the offsets, the number of records, the cause, and the time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from epochfuzz.harness.audit.judgement.findings import PartitionFinding, What
from epochfuzz.harness.audit.lines.events import MessageKind
from epochfuzz.harness.audit.lines.times import DAY, is_dated

if TYPE_CHECKING:
    from epochfuzz.harness.documents import evidence

_CAUSES = {
    What.RE_ELECTED_LEADER: "re-elected leader",
    What.UNCLEAN_ELECTION: "unclean election",
    What.DIVERGED: "two leaders of one epoch",
}
_UNKNOWN = "a leader without the records"


@dataclass(frozen=True)
class Affected:
    """A partition with findings. `ranges` holds the first and the last offset of each range of lost records.

    `ranges` is empty if no line shows the offsets.
    """

    topic: str
    partition: int
    ranges: tuple[tuple[int, int], ...]
    cause: str
    time: int

    @property
    def name(self) -> str:
        """Return the name of the partition."""
        return f"{self.topic}-{self.partition}"

    @property
    def records(self) -> int | None:
        """Return the number of offsets that are gone, or None if no line shows offsets."""
        return sum(last - first + 1 for first, last in self.ranges) or None

    def plain(self) -> "evidence.AuditPartition":
        """Return the partition as fields of the document of `--json`."""
        return {
            "topic": self.topic,
            "partition": self.partition,
            "ranges": [list(each) for each in self.ranges],
            "records": self.records,
            "cause": self.cause,
            "time": moment(self.time),
        }


def affected(findings: Iterable[PartitionFinding]) -> list[Affected]:
    """Return the partitions with findings. Partitions with the most lost records are first."""
    by_partition: dict[tuple[str, int], list[PartitionFinding]] = {}
    for finding in findings:
        by_partition.setdefault((finding.topic, finding.partition), []).append(finding)
    found = [
        Affected(topic, partition, _ranges(own), _cause(own), min(each.time for each in own if each in _first_of(own)))
        for (topic, partition), own in by_partition.items()
    ]
    return sorted(found, key=lambda each: (-(each.records or 0), each.topic, each.partition))


def _first_of(findings: Sequence[PartitionFinding]) -> list[PartitionFinding]:
    """Return the findings that show when the loss happened: those of kind COMMITTED_LOSS, or all if there are none."""
    return [each for each in findings if each.what == What.COMMITTED_LOSS] or list(findings)


def _ranges(findings: Sequence[PartitionFinding]) -> tuple[tuple[int, int], ...]:
    """Return the ranges of offsets in findings, sorted. Ranges that overlap or touch are merged."""
    ranges: list[tuple[int, int]] = []
    told = ((e.first_offset, e.last_offset) for e in findings)
    for first, last in sorted((a, b) for a, b in told if a is not None and b is not None):
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], last))
        else:
            ranges.append((first, last))
    return tuple(ranges)


def _cause(findings: Sequence[PartitionFinding]) -> str:
    kinds = {each.what for each in findings}
    for what, cause in _CAUSES.items():
        if what in kinds:
            return cause
    if any(_was_made_again(each) for each in findings):
        return "a log that was made again, as on a replaced disk"
    return _UNKNOWN


def _was_made_again(finding: PartitionFinding) -> bool:
    """Return whether the leader had created its log again just before the loss."""
    leads = next(
        (e for e in finding.evidence if e.kind == MessageKind.LEADER and e.leader_epoch == finding.leader_epoch), None
    )
    if leads is None or leads.offset != 0:
        return False
    return any(
        e.kind == MessageKind.CREATED and e.broker == leads.broker and e.line < leads.line for e in finding.around
    )


def moment(time: int) -> str:
    """Return a time in milliseconds as text, such as `2026-09-04 03:00:00.101`. Leaves out an unknown date or year."""
    text = datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    if is_dated(time):
        return text
    return text[5:] if time >= DAY else text[11:] if time else "no time"
