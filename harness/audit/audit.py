"""Audit: what is asked, whose lines are whose, and what all of it comes to: the same, whoever reads and judges."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

from epochfuzz.harness.audit.disks.found import disks_among
from epochfuzz.harness.audit.errors import AuditError
from epochfuzz.harness.audit.judgement.findings import Finding, in_order
from epochfuzz.harness.audit.judgement.rules import Judged
from epochfuzz.harness.audit.lines.layouts import Frame, frames
from epochfuzz.harness.audit.lines.reading import Facts, Part
from epochfuzz.harness.audit.lines.sources import Source, brokers_by_name, found

if TYPE_CHECKING:
    from epochfuzz.harness.audit.disks.disk_audit import DiskAudit
    from epochfuzz.harness.documents import evidence

_PART = 64 << 20  # bytes
_NAMED = 3  # of many files, in a sentence


@dataclass(frozen=True)
class Request:
    """What is audited: files, layouts of their lines, a pattern by which their paths name brokers, and the data
    directories of brokers."""

    sources: tuple[Source, ...]
    layouts: tuple[str, ...] = ()
    broker: str | None = None
    disks: tuple[str, ...] = ()

    @classmethod
    def of(cls, paths: Iterable[str], layouts: Sequence[str] = (), broker: str | None = None) -> "Request":
        """Return the request for all files of paths. Raises AuditError."""
        named = list(paths)
        disks = disks_among(named)
        request = cls(tuple(found(named, disks)), tuple(layouts), broker, tuple(disks))
        frames(layouts)
        brokers_by_name(request.sources, broker)
        return request

    @cached_property
    def frames(self) -> list[Frame]:
        """What takes lines apart."""
        return frames(self.layouts)

    @property
    def size(self) -> int:
        """How many bytes there are to read, packed ones as they are."""
        return sum(source.size for source in self.sources if source.problem is None)

    def parts(self) -> list[Part]:
        """Return what there is to read, in parts that several workers may read."""
        return [part for source in self.sources if source.problem is None for part in _parts(source)]

    def whole(self) -> list[Part]:
        """Return the same, every file in one part."""
        return [Part(source.path, source.packed) for source in self.sources if source.problem is None]

    def text(self) -> str:
        """As text, the same for equal requests."""
        return json.dumps(asdict(self), sort_keys=True)


def _parts(source: Source) -> list[Part]:
    if source.packed or source.size <= _PART:
        return [Part(source.path, source.packed)]
    starts = range(0, source.size, _PART)
    ends = [*starts[1:], None]  # a file that grows is read to where it ends by then
    return [Part(source.path, False, i, start, end) for i, (start, end) in enumerate(zip(starts, ends, strict=True))]


@dataclass(frozen=True)
class Attribution:
    """Whose lines are whose, by files: the broker of lines that name none, and brokers whose clock went back."""

    brokers: dict[str, int]
    left_out: frozenset[str]  # files whose lines are in no order, or mostly cut
    clocks_back: frozenset[int]
    newest: int | None  # the greatest major release


def attributed(request: Request, files: Sequence[Facts]) -> Attribution:
    """Find out whose files are. Raises AuditError where they are of several clusters."""
    clusters = {cluster: facts.file for facts in files for cluster in sorted(facts.clusters)}
    if len(clusters) > 1:
        told = ", ".join(f"{cluster} in {file}" for cluster, file in sorted(clusters.items())[:_NAMED])
        raise AuditError(f"these are logs of {len(clusters)} clusters ({told}): audit those of one cluster at a time")
    by_name = brokers_by_name(request.sources, request.broker)
    in_directory: dict[str, set[int]] = {}
    for facts in files:
        in_directory.setdefault(_directory(facts.file), set()).update(facts.brokers)
    brokers = {}
    for facts in files:
        own = facts.brokers or in_directory[_directory(facts.file)]
        if facts.file in by_name:
            brokers[facts.file] = by_name[facts.file]
        elif len(own) == 1:
            brokers[facts.file] = next(iter(own))
    back = {broker for f in files if f.back is not None for broker in (*f.brokers, *_known(brokers, f.file))}
    majors = [int(release.split(".")[0]) for f in files for release in f.releases if release.split(".")[0].isdecimal()]
    left_out = frozenset(facts.file for facts in files if not (facts.is_in_order and facts.is_whole))
    return Attribution(brokers, left_out, frozenset(back), max(majors, default=None))


def _known(brokers: Mapping[str, int], file: str) -> list[int]:
    return [brokers[file]] if file in brokers else []


def _directory(file: str) -> str:
    return str(PurePath(file).parent)


@dataclass(frozen=True)
class Audit:
    """What an audit has shown. `passed` has dangers of which nothing came, `gaps` what could not be known, and why."""

    files: int
    lines: int
    events: int
    partitions: int
    brokers: tuple[int, ...]
    releases: tuple[str, ...]
    findings: list[Finding]
    passed: list[Finding]
    gaps: list[str]
    size: int = 0
    disks: "DiskAudit | None" = None  # what data directories have shown, if there were any
    seconds: float = field(default=0.0, compare=False)

    def plain(self) -> "evidence.AuditNumbers":
        """For JSON."""
        return {
            "files": self.files,
            "lines": self.lines,
            "events": self.events,
            "partitions": self.partitions,
            "brokers": list(self.brokers),
            "releases": list(self.releases),
            "passed": [finding.plain() for finding in self.passed],
            "gaps": self.gaps,
            "disks": None if self.disks is None else self.disks.plain(),
            "seconds": round(self.seconds, 2),
        }


@dataclass
class Verdicts:
    """What comes of all partitions together."""

    partitions: int = 0
    findings: list[Finding] = field(default_factory=list)
    unseen: int = 0
    with_unseen: int = 0
    mixed: list[str] = field(default_factory=list)  # partitions whose lives are not told apart
    silent: dict[int, int] = field(default_factory=dict)  # by broker, how many partitions

    def add(self, name: str, judged: Judged) -> None:
        """Add one partition."""
        self.partitions += 1
        self.findings += judged.findings
        self.unseen += judged.unseen
        self.with_unseen += judged.unseen > 0
        if not judged.told_apart:
            self.mixed.append(name)
        for broker in judged.silent:
            self.silent[broker] = self.silent.get(broker, 0) + 1


def concluded(request: Request, files: Sequence[Facts], whose: Attribution, verdicts: Verdicts) -> Audit:
    """Return what all of it comes to. Raises AuditError where a file cannot be read, and no line of any other was."""
    unreadable = [facts for facts in files if facts.problem is not None]
    if unreadable and not any(facts.lines for facts in files):
        first = unreadable[0]
        raise AuditError(f"no line of {counted(len(files), 'file')} was read: {first.file} {first.problem}")
    return Audit(
        files=len(request.sources),
        lines=sum(facts.lines for facts in files),
        events=sum(facts.events for facts in files),
        partitions=verdicts.partitions,
        brokers=tuple(sorted({broker for facts in files for broker in facts.brokers} | set(whose.brokers.values()))),
        releases=tuple(sorted({release for facts in files for release in facts.releases})),
        findings=in_order(each for each in verdicts.findings if not each.passed),
        passed=in_order(each for each in verdicts.findings if each.passed),
        gaps=[*_gaps_of_files(request, files, whose), *_gaps_of_partitions(files, verdicts)],
        size=request.size,
    )


def _gaps_of_files(request: Request, files: Sequence[Facts], whose: Attribution) -> list[str]:
    gaps = [f"{source.path} {source.problem}" for source in request.sources if source.problem is not None]
    for facts in sorted(files, key=lambda facts: facts.file):
        if facts.problem is not None:
            gaps.append(f"{facts.file} {facts.problem}; what stands before was read, {facts.lines:,} lines")
        if facts.unread:
            gaps.append(
                f"{facts.file}, line {facts.unread_line:,}: this and {facts.unread - 1:,} more lines speak of"
                " partitions, and are truncated or in a layout that is not known; --layout says what it is"
                + ("" if facts.is_whole or not facts.events else f"; the {facts.events:,} others were left out")
            )
        if facts.unnamed and facts.file not in whose.brokers:
            gaps.append(
                f"{facts.file}: {facts.unnamed:,} lines do not say of which broker they are, and were left out;"
                " --broker PATTERN finds its number in the path"
            )
        if not facts.is_in_order:
            gaps.append(
                f"{facts.file}: its lines are in no order, their times go back {facts.backs:,} times, from line"
                f" {facts.back:,} on; it was left out"
            )
        elif facts.back is not None:
            gaps.append(
                f"{facts.file}, line {facts.back:,}: the clock had gone back; what depends on the order of this"
                " broker's files was not used"
            )
    return gaps


def _gaps_of_partitions(files: Sequence[Facts], verdicts: Verdicts) -> list[str]:
    gaps = []
    if not any(facts.events for facts in files):
        gaps.append("no line says anything of a partition: are these logs of brokers (server.log, state-change.log)?")
    elif not any(facts.high_watermarks for facts in files):
        gaps.append(
            "no line shows a high watermark, as brokers before 2.2 never do: that committed records are gone cannot be"
            " seen in them"
        )
    for broker, partitions in sorted(verdicts.silent.items()):
        gaps.append(f"broker {broker} is named for {counted(partitions, 'partition')} of which it has no line here")
    if verdicts.unseen:
        gaps.append(
            f"{counted(verdicts.unseen, 'leader epoch')} of {counted(verdicts.with_unseen, 'partition')} between"
            " those that are told of: no line says who led; older files, or those of another broker, may"
        )
    if verdicts.mixed:
        named = ", ".join(sorted(verdicts.mixed)[:_NAMED])
        more = f" and {len(verdicts.mixed) - _NAMED:,} more" if len(verdicts.mixed) > _NAMED else ""
        gaps.append(
            f"{named}{more}: deleted and created again, and not every broker tells how often: each was judged by its"
            " own lines alone"
        )
    return gaps


def counted(number: int, what: str) -> str:
    """Return a number of things, as in `1 line` and `2,000 lines`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
