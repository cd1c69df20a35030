"""The sentences of an audit: the verdict, a line for each partition, and the number of lines and disks read."""

from epochfuzz.harness.audit.audit import Audit, AuditVerdict
from epochfuzz.harness.audit.gaps import counted
from epochfuzz.harness.audit.judgement.findings import PartitionFinding
from epochfuzz.harness.audit.summary import Affected, affected, moment

_RANGES = 3  # number of ranges of offsets that a line names
_LAYOUTS = 10


def title(finding: PartitionFinding) -> str:
    """Return the kind, the partition, the offsets and the leader epoch of a finding, in a single line."""
    where = "" if finding.first_offset is None else f", offsets {finding.offsets}"
    epoch = "" if finding.leader_epoch is None else f", epoch {finding.leader_epoch}"
    return f"{finding.what}: {finding.name}{where}{epoch}"


def partition_line(each: Affected) -> str:
    """Return one line about a partition: its lost offsets, the number of records, the cause, and the time."""
    offsets = ", ".join(f"{a:,} to {b:,}" if a != b else f"{a:,}" for a, b in each.ranges[:_RANGES])
    more = f" and {len(each.ranges) - _RANGES:,} more ranges" if len(each.ranges) > _RANGES else ""
    records = "" if each.records is None else f": offsets {offsets}{more}, {counted(each.records, 'record')}"
    return f"{each.name}{records}{',' if records else ':'} {each.cause}, {moment(each.time)}"


def read_line(audit: Audit) -> str:
    """Return one line with the numbers of lines, files, partitions, brokers and data directories."""
    brokers = ", ".join(map(str, audit.brokers)) or "unknown"
    releases = f" of Kafka {', '.join(audit.releases)}" if audit.releases else ""
    took = f", in {audit.seconds:.1f} s" if audit.seconds else ""
    disks = "" if audit.disks is None else f"{audit.disks.sentence}; "
    if not audit.files and audit.disks is not None:
        return f"{audit.disks.sentence}; brokers {brokers}{took}"
    return disks + (
        f"{counted(audit.lines, 'line')} of {counted(audit.files, 'file')}, {audit.events:,} of them of"
        f" {counted(audit.partitions, 'partition')}; brokers {brokers}{releases}{took}"
    )


def context_lines(audit: Audit) -> list[str]:
    """Return a line with the period of the log lines, and a line for each recognized layout, up to _LAYOUTS layouts."""
    layouts = [f"layout of {counted(files, 'file')}: {layout}" for layout, files in [*audit.layouts.items()][:_LAYOUTS]]
    if audit.period is None:
        return layouts
    first, last = map(moment, audit.period)
    return [f"period of these lines: {first} to {last}. The result says nothing about other times", *layouts]


def conclusion(audit: Audit, accepts_gaps: bool = False) -> str:
    """Return the verdict in a single line. With `accepts_gaps`, gaps don't make the audit inconclusive."""
    gaps = counted(len(audit.gaps), "gap")
    shows = "no line shows" if audit.disks is None else "nothing shows"
    if audit.verdict == AuditVerdict.NOTHING or (audit.verdict == AuditVerdict.INCONCLUSIVE and accepts_gaps):
        why = f"; {gaps} accepted" if audit.gaps else ", and audit knows of no gap that could hide one"
        return f"nothing found: {shows} that a committed record was lost{why}"
    if audit.verdict == AuditVerdict.INCONCLUSIVE:
        return (
            f"inconclusive: {shows} that a committed record was lost, but {gaps} could hide a loss: see the list"
            " of gaps for what to add, or decide with --accept-gaps"
        )
    told = f"{counted(len(audit.findings), 'finding')} in {counted(len(affected(audit.findings)), 'partition')}"
    rest = f"; {gaps} could hide more" if audit.gaps else ""
    lost = affected(finding for finding in audit.findings if finding.is_loss)
    if not lost:
        return f"found: {told}; {shows} that a committed record is gone{rest}"
    records = counted(sum(each.records or 0 for each in lost), "record")
    return f"lost: committed records of {counted(len(lost), 'partition')} are gone ({records}); {told}{rest}"
