"""Join an audit of logs and an audit of disks. A finding of both audits becomes one finding with all evidence."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from epochfuzz.harness.audit.audit import Audit
from epochfuzz.harness.audit.disks.disk_audit import DiskAudit
from epochfuzz.harness.audit.gaps import counted
from epochfuzz.harness.audit.judgement.findings import PartitionFinding, in_order

_HIDDEN = (
    "{} changed the leader{}: disks show only what some replica still has, and records that every replica has truncated"
    " leave no trace; add the brokers' logs of that time"
)


def joined(logs: Audit | None, disks: DiskAudit) -> Audit:
    """Join the audit of logs and the audit of disks. `logs` is None if there were no logs."""
    shown = {} if logs is None else logs.latest
    unseen = [name for name, epoch in disks.changed_leaders.items() if shown.get(name, -1) < epoch]
    beyond = "" if logs is None else ", and the logs do not show the latest leader epoch"
    hidden = [_HIDDEN.format(counted(len(unseen), "partition"), beyond)] if unseen else []
    if logs is None:
        logs = Audit(files=0, lines=0, events=0, partitions=0, brokers=(), releases=(), findings=[], passed=[], gaps=[])
    return replace(
        logs,
        partitions=max(logs.partitions, disks.partitions),
        brokers=tuple(sorted({*logs.brokers, *disks.brokers})),
        findings=in_order(_merged([*logs.findings, *disks.findings])),
        passed=in_order(_merged([*logs.passed, *disks.passed])),
        gaps=[*logs.gaps, *disks.gaps, *hidden],
        disks=disks,
    )


def _merged(findings: Sequence[PartitionFinding]) -> Iterable[PartitionFinding]:
    """Merge findings of the same kind, partition and leader epoch."""
    by_key: dict[tuple[object, ...], PartitionFinding] = {}
    for each in findings:
        key = each.what, each.topic, each.partition, each.leader_epoch
        by_key[key] = _both(by_key[key], each) if key in by_key else each
    return by_key.values()


def _both(one: PartitionFinding, other: PartitionFinding) -> PartitionFinding:
    firsts = [each.first_offset for each in (one, other) if each.first_offset is not None]
    lasts = [each.last_offset for each in (one, other) if each.last_offset is not None]
    return replace(
        one,
        first_offset=min(firsts, default=None),
        last_offset=max(lasts, default=None),
        told=one.told if one.told == other.told else f"{one.told} {other.told}",
        evidence=tuple(dict.fromkeys((*one.evidence, *other.evidence))),
        around=tuple(dict.fromkeys((*one.around, *other.around))),
    )
