"""The request of an audit, and its result for all partitions.

All runners (this process, Spark, a broker's host) return the same result.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from epochfuzz.harness.audit.attribution import Attribution, releases_of
from epochfuzz.harness.audit.disks.found import disks_among
from epochfuzz.harness.audit.errors import AuditError
from epochfuzz.harness.audit.gaps import counted, gaps_of, notes_of
from epochfuzz.harness.audit.judgement.findings import PartitionFinding, in_order
from epochfuzz.harness.audit.judgement.rules import Judged
from epochfuzz.harness.audit.lines.facts import LogFacts
from epochfuzz.harness.audit.lines.layouts import Frame, frames
from epochfuzz.harness.audit.lines.reading import Part
from epochfuzz.harness.audit.lines.sources import Source, expression_of, found
from epochfuzz.harness.audit.summary import moment
from epochfuzz.harness.audit.unpacking.forms import TEXT

if TYPE_CHECKING:
    from epochfuzz.harness.audit.disks.disk_audit import DiskAudit
    from epochfuzz.harness.documents import evidence

_PART = 64 << 20  # bytes


@dataclass(frozen=True)
class AuditRequest:
    """The input of an audit.

    `sources` are log files, and `disks` are data directories of brokers. `layouts` are the patterns of --layout.
    `broker` is the pattern of --broker: a regular expression that finds the broker's number in a path, or in the text
    before a line.
    """

    sources: tuple[Source, ...]
    layouts: tuple[str, ...] = ()
    broker: str | None = None
    disks: tuple[str, ...] = ()

    @classmethod
    def of(cls, paths: Iterable[str], layouts: Sequence[str] = (), broker: str | None = None) -> "AuditRequest":
        """Return the request for the named paths, which may be files or directories. Raises AuditError."""
        named = list(paths)
        disks = disks_among(named)
        frames(layouts)
        if broker is not None:
            expression_of(broker)
        return cls(tuple(found(named, disks)), tuple(layouts), broker, tuple(disks))

    @cached_property
    def frames(self) -> list[Frame]:
        """Return one function per --layout. The function splits a line into its time and message (layouts.py)."""
        return frames(self.layouts)

    @property
    def size(self) -> int:
        """Estimate the number of bytes in all readable files after unpacking."""
        return sum(source.unpacked for source in self.sources if source.problem is None)

    def parts(self) -> list[Part]:
        """Divide all readable files into parts for several workers. Only large text files have several parts."""
        return [part for source in self.sources if source.problem is None for part in _parts(source)]

    def whole(self) -> list[Part]:
        """Return all readable files. Each file is a single part."""
        return [_whole(source) for source in self.sources if source.problem is None]

    def text(self) -> str:
        """Return the request as text. Equal requests have equal texts."""
        return json.dumps(asdict(self), sort_keys=True)


def _whole(source: Source) -> Part:
    return Part(file=source.path, form=source.form, location=source.location, size=source.size)


def _parts(source: Source) -> list[Part]:
    if source.form != TEXT or source.size <= _PART:
        return [_whole(source)]
    starts = range(0, source.size, _PART)
    ends = [*starts[1:], None]  # the last part of a file that grows includes the lines written until it is read
    return [
        Part(
            file=source.path,
            form=source.form,
            number=i,
            start=start,
            end=end,
            location=source.location,
            size=source.size,
        )
        for i, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


class AuditVerdict(StrEnum):
    """The verdict of an audit."""

    LOST = "lost"  # committed records are gone
    FOUND = "found"  # there are findings, but none proves that committed records are gone
    INCONCLUSIVE = "inconclusive"  # nothing was found, but a gap may hide a loss
    NOTHING = "nothing"  # nothing was found, and there is no gap


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The result of an audit.

    `passed` holds dangers that passed without a loss. `gaps` holds the reasons why the audit may have missed a loss.
    `notes` holds sentences about lines that audit ignored on purpose, and about a --layout that matches no line.
    `latest` has the greatest leader epoch that the lines show, by partition. `period` has the times of the first and
    the last line about a partition, in milliseconds.
    """

    files: int
    lines: int
    events: int
    partitions: int
    brokers: tuple[int, ...]
    releases: tuple[str, ...]
    findings: list[PartitionFinding]
    passed: list[PartitionFinding]
    gaps: list[str]
    notes: list[str] = field(default_factory=list)
    layouts: dict[str, int] = field(default_factory=dict)  # number of files, by layout
    latest: dict[str, int] = field(default_factory=dict)
    period: tuple[int, int] | None = None
    size: int = 0
    disks: "DiskAudit | None" = None  # the result for data directories, if there are any
    seconds: float = field(default=0.0, compare=False)

    @property
    def verdict(self) -> AuditVerdict:
        """Return the verdict that follows from all findings and gaps."""
        if any(finding.is_loss for finding in self.findings):
            return AuditVerdict.LOST
        if self.findings:
            return AuditVerdict.FOUND
        return AuditVerdict.INCONCLUSIVE if self.gaps else AuditVerdict.NOTHING

    def plain(self) -> "evidence.AuditNumbers":
        """Return the fields that the audit has in the document of `--json`, except its findings."""
        return {
            "verdict": str(self.verdict),
            "files": self.files,
            "lines": self.lines,
            "events": self.events,
            "partitions": self.partitions,
            "brokers": list(self.brokers),
            "releases": list(self.releases),
            "layouts": self.layouts,
            "period": None if self.period is None else [moment(time) for time in self.period],
            "passed": [finding.plain() for finding in self.passed],
            "gaps": self.gaps,
            "notes": self.notes,
            "disks": None if self.disks is None else self.disks.plain(),
            "seconds": round(self.seconds, 2),
        }


@dataclass(kw_only=True)
class AuditVerdicts:
    """The results of the partitions that an audit has checked, added one by one."""

    partitions: int = 0
    findings: list[PartitionFinding] = field(default_factory=list)
    unseen: dict[str, int] = field(default_factory=dict)  # by partition: number of leader epochs that no line shows
    mixed: list[str] = field(default_factory=list)  # partitions whose lives (history.py) could not be separated
    silent: dict[int, list[str]] = field(default_factory=dict)  # by broker: partitions about which it has no line
    leaderless: list[str] = field(default_factory=list)  # partitions with a shorter log, of which no leader is named
    latest: dict[str, int] = field(default_factory=dict)  # by partition: the greatest leader epoch that a line shows
    undecided: list[tuple[str, str]] = field(default_factory=list)  # a partition, and a possible loss, in words

    def add(self, name: str, judged: Judged) -> None:
        """Add the result of one partition."""
        self.partitions += 1
        self.findings += judged.findings
        if judged.unseen:
            self.unseen[name] = judged.unseen
        if not judged.told_apart:
            self.mixed.append(name)
        if judged.lacks_leader:
            self.leaderless.append(name)
        self.latest[name] = judged.latest
        for broker in judged.silent:
            self.silent.setdefault(broker, []).append(name)
        self.undecided += [(name, each) for each in judged.undecided]


def concluded(request: AuditRequest, files: Sequence[LogFacts], whose: Attribution, verdicts: AuditVerdicts) -> Audit:
    """Return the result of an audit of logs.

    Raises AuditError if no line of the logs is from a broker, and the request names no disks.
    """
    no_lines = _no_lines_of_brokers(request, files)
    if no_lines is not None and not request.disks:
        raise AuditError(no_lines)
    was_read = any(source.problem is None for source in request.sources)
    gaps = [no_lines] if no_lines is not None and was_read else []
    layouts: dict[str, int] = {}
    for facts in files:
        if facts.layout is not None:
            layouts[facts.layout] = layouts.get(facts.layout, 0) + 1
    return Audit(
        files=len({facts.file for facts in files} | {source.path for source in request.sources if source.problem}),
        lines=sum(facts.lines for facts in files),
        events=sum(facts.events for facts in files),
        partitions=verdicts.partitions,
        brokers=tuple(sorted({b for facts in files for b in facts.brokers} | set(whose.brokers.values()))),
        releases=tuple(sorted({release for facts in files for release in releases_of(facts)})),
        findings=in_order(each for each in verdicts.findings if not each.passed),
        passed=in_order(each for each in verdicts.findings if each.passed),
        gaps=gaps + gaps_of(request, files, whose, verdicts),
        latest=verdicts.latest,
        period=_period(files),
        notes=notes_of(request, files),
        layouts=dict(sorted(layouts.items(), key=lambda pair: (-pair[1], pair[0]))),
        size=request.size,
    )


def _period(files: Sequence[LogFacts]) -> tuple[int, int] | None:
    """Return the times of the first and the last dated line about a partition; None if no line has a date."""
    dated = [time for facts in files for time in (facts.begins, facts.last, facts.latest) if time is not None]
    return (min(dated), max(dated)) if dated else None


def _no_lines_of_brokers(request: AuditRequest, files: Sequence[LogFacts]) -> str | None:
    """Return an error message if no line of the files is from a broker, else None.

    An audit of files without lines of brokers finds no loss, but this result means nothing.
    """
    if any(facts.is_broker for facts in files):
        return None
    number = counted(len(request.sources), "file")
    problems = [f"{source.path} {source.problem}" for source in request.sources if source.problem]
    problems += [f"{facts.file} {facts.problem}" for facts in files if facts.problem]
    first = next((facts for facts in files if facts.first is not None), None)
    if first is not None:
        return (
            f"audit found no line of a Kafka broker in {number}; {first.file} begins with {first.first!r}. Name"
            " server.log, state-change.log and controller.log, or the output of kubectl logs, docker logs or journalctl"
            " for a broker"
        )
    reason = problems[0] if problems else "every file is empty"
    return f"audit read no line of {number}: {reason}. Name the logs of brokers, or directories that hold them"
