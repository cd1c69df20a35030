"""Audit data directories: read their files, and compare the replicas of each partition."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from epochfuzz.harness.audit.disks.checkpoints import META, LogDirectory, directory_of
from epochfuzz.harness.audit.disks.commits import Commits, commits_of
from epochfuzz.harness.audit.disks.comparing import DiskPartition, compared
from epochfuzz.harness.audit.disks.divergence import ReadBudget
from epochfuzz.harness.audit.disks.dumped import Dumped, dumped
from epochfuzz.harness.audit.disks.found import METADATA, OFFSETS, LocatedReplica, located
from epochfuzz.harness.audit.disks.metadata_log import MetadataLog, metadata_log
from epochfuzz.harness.audit.disks.replicas import DiskReplica, replica_of
from epochfuzz.harness.audit.disks.segments import Segment, segment_of
from epochfuzz.harness.audit.errors import AuditError
from epochfuzz.harness.audit.judgement.findings import PartitionFinding

if TYPE_CHECKING:
    from epochfuzz.harness.documents import evidence

Report = Callable[[str], None]
ReadSegments = Callable[[Sequence[str], Report], Iterable[Segment]]


@dataclass(kw_only=True)
class DiskAudit:
    """The result of an audit of data directories."""

    directories: list[str] = field(default_factory=list)
    brokers: set[int] = field(default_factory=set)
    clusters: dict[str, str] = field(default_factory=dict)  # a directory of each cluster, by cluster id
    partitions: int = 0
    replicas: int = 0
    segments: int = 0
    bytes: int = 0
    changed_leaders: dict[str, int] = field(default_factory=dict)  # latest epochs of partitions with several epochs
    findings: list[PartitionFinding] = field(default_factory=list)
    passed: list[PartitionFinding] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        """The number of directories, replicas, partitions, segments and bytes, in words."""
        return (
            f"{_counted(len(self.directories), 'data director', 'y', 'ies')} with {_counted(self.replicas, 'replica')}"
            f" of {_counted(self.partitions, 'partition')}, {_counted(self.segments, 'segment')} of"
            f" {self.bytes / 1e9:,.3f} GB"
        )

    def plain(self) -> "evidence.Disks":
        """Return the counts as plain data for JSON."""
        return {
            "directories": self.directories,
            "replicas": self.replicas,
            "segments": self.segments,
            "bytes": self.bytes,
        }


def _counted(number: int, what: str, one: str = "", many: str = "s") -> str:
    return f"{number:,} {what}{one if number == 1 else many}"


def in_this_process(files: Sequence[str], report: Report) -> Iterable[Segment]:
    """Yield the segments of files, read one after the other in this process, without Spark."""
    for number, file in enumerate(files, start=1):
        report(f"reading {file}, {number:,} of {len(files):,}")
        yield segment_of(file)


def audit_disks(paths: Sequence[str], report: Report, read: ReadSegments = in_this_process) -> DiskAudit:
    """Audit the data directories and dumps at paths that `disks_among` has returned. Raises AuditError.

    `read` is the function that reads segments: `in_this_process`, or a SegmentReader on Spark.
    """
    audit = DiskAudit(directories=list(paths))
    places: list[tuple[LogDirectory, LocatedReplica]] = []
    dumps: list[tuple[LogDirectory, Dumped]] = []
    for path in paths:
        directory, found = directory_of(path), located(path)
        audit.gaps += [*directory.problems, *found.left_out]
        if directory.broker is not None:
            audit.brokers.add(directory.broker)
        if directory.cluster is not None:
            audit.clusters.setdefault(directory.cluster, path)
        places += [(directory, replica) for replica in found.replicas]
        dumps += [(directory, dumped(file, directory.broker)) for file in found.dumps]
    _check_clusters(audit)
    logs = [metadata_log(place, directory.broker) for directory, place in places if place.topic == METADATA]
    logs += [log for _, dump in dumps for log in dump.metadata]
    replicas = _replicas(audit, places, dumps, report, read)
    _name_topics(replicas, logs)
    offsets = [commits_of(place, each.broker, replicas) for each, place in places if place.topic == OFFSETS]
    offsets += [dump.commits for _, dump in dumps]
    for problems in (*(log.problems for log in logs), *(each.problems for each in offsets)):
        audit.gaps += problems
    for _, dump in dumps:
        audit.gaps += dump.problems
    _compare(audit, replicas, logs, offsets, report)
    audit.gaps = list(dict.fromkeys(audit.gaps))
    return audit


def _check_clusters(audit: DiskAudit) -> None:
    if len(audit.clusters) > 1:
        told = ", ".join(f"{cluster} in {path}" for cluster, path in sorted(audit.clusters.items())[:3])
        raise AuditError(
            f"the disks belong to {len(audit.clusters)} clusters ({told}); audit the disks of one cluster at a time"
        )


Replicas = dict[tuple[str, int], list[DiskReplica]]


def _replicas(
    audit: DiskAudit,
    places: Sequence[tuple[LogDirectory, LocatedReplica]],
    dumps: Sequence[tuple[LogDirectory, Dumped]],
    report: Report,
    read: ReadSegments,
) -> Replicas:
    """Read the segments of all replicas, and return the replicas of each partition."""
    own = [(directory, place) for directory, place in places if place.topic not in (METADATA, OFFSETS)]
    files = [file for _, place in own for file in place.segments]
    segments = {segment.file: segment for segment in read(files, report)}
    whole = [(directory, place, [segments[file] for file in place.segments]) for directory, place in own]
    whole += [
        (directory, place, parts)
        for directory, dump in dumps
        for place, parts in dump.replicas
        if place.topic != OFFSETS
    ]
    replicas: Replicas = defaultdict(list)
    for directory, place, parts in whole:
        replica = replica_of(directory, place, parts)
        replicas[place.topic, place.partition].append(replica)
        audit.bytes += replica.bytes
        audit.segments += len(parts)
    audit.replicas, audit.partitions = len(whole), len(replicas)
    return replicas


def _name_topics(replicas: Replicas, logs: Sequence[MetadataLog]) -> None:
    """Set the topic id of replicas without partition.metadata, such as dumps, if their topic has had only one id."""
    for (topic, _), own in replicas.items():
        ids = {topic_id for log in logs for topic_id in log.ids_of(topic)}
        if len(ids) == 1 and all(log.is_whole for log in logs):
            for replica in own:
                replica.topic_id = replica.topic_id or next(iter(ids))


def _compare(
    audit: DiskAudit,
    replicas: Replicas,
    logs: Sequence[MetadataLog],
    offsets: Sequence[Commits],
    report: Report,
) -> None:
    by_partition = defaultdict(list)
    for commits in offsets:
        for commit in commits.greatest.values():
            by_partition[commit.topic, commit.partition].append(commit)
    named = {(log.names.get(topic_id, ""), number) for log in logs for topic_id, number in log.partitions} - {("", 0)}
    budget = ReadBudget()
    keys = sorted(replicas.keys() | named)
    if not keys:
        audit.gaps.append("these disks hold no replica of a topic's partition; add all directories of log.dirs")
    for number, key in enumerate(keys, start=1):
        report(f"comparing partition {number:,} of {len(keys):,}")
        own = replicas.get(key, [])
        partition = DiskPartition(*key, own, logs, by_partition[key])
        result = compared(partition, budget)
        for finding in result.findings:
            (audit.passed if finding.passed else audit.findings).append(finding)
        audit.gaps += result.gaps
        audit.gaps += [problem for replica in own for problem in replica.problems]
        if any(len(replica.epochs) > 1 or replica.latest > 0 for replica in own):
            audit.changed_leaders[partition.name] = max(replica.latest for replica in own)
        audit.gaps += _missing(partition)


def _missing(partition: DiskPartition) -> list[str]:
    """Return messages about replicas of a partition that are not on the audited disks."""
    here = {replica.broker for replica in partition.replicas}
    gaps, is_known = [], False
    if None in here:
        unnamed = next(replica for replica in partition.replicas if replica.broker is None)
        return [f"{unnamed.path} does not name its broker; copy the broker's {META} next to its directories or dumps"]
    for topic_id in {replica.topic_id for replica in partition.replicas}:
        wanted = {broker for _, history in partition.histories(topic_id) for broker in history.state.replicas}
        is_known = is_known or bool(wanted)
        if wanted - here:
            gone = ", ".join(map(str, sorted(wanted - here)))
            of = f"replica of broker {gone} is" if len(wanted - here) == 1 else f"replicas of brokers {gone} are"
            gaps.append(f"{partition.name}: the {of} not among these disks; add the data directories of these brokers")
    if not is_known and len(here) == 1:
        gaps.append(
            f"{partition.name}: only the replica of broker {next(iter(here))} is among these disks, and no metadata"
            " name the others; add the data directories of the other brokers"
        )
    return gaps
