"""An audit in one process: for logs that it has room for, and where there is no Spark."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from epochfuzz.harness.audit.audit import Audit, Request, Verdicts, attributed, concluded
from epochfuzz.harness.audit.disks.disk_audit import audit_disks
from epochfuzz.harness.audit.disks.joined import joined
from epochfuzz.harness.audit.judgement.rules import judge
from epochfuzz.harness.audit.lines.events import Event
from epochfuzz.harness.audit.lines.reading import Facts, read

Report = Callable[[str], None]


def run(request: Request, report: Report) -> Audit:
    """Read everything, and judge partition after partition. Raises AuditError."""
    if not request.disks:
        return _logs(request, report)
    disks = audit_disks(request.disks, report)
    return joined(_logs(request, report) if request.sources else None, disks)


def _logs(request: Request, report: Report) -> Audit:
    by_file: dict[str, list[Event]] = {}
    files: list[Facts] = []
    parts = request.whole()
    for number, part in enumerate(parts, start=1):
        report(f"reading {part.file}, {number:,} of {len(parts):,}")
        by_file[part.file], facts = read(part, request.frames)
        files.append(facts)
    whose = attributed(request, files)
    partitions: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for file, events in by_file.items():
        if file in whose.left_out:
            continue
        broker = whose.brokers.get(file)
        for event in events:
            of_broker = event if event.broker is not None else replace(event, broker=broker)
            if of_broker.broker is not None:
                partitions[event.topic, event.partition].append(of_broker)
    verdicts = Verdicts()
    for number, ((topic, partition), events) in enumerate(sorted(partitions.items()), start=1):
        report(f"judging partition {number:,} of {len(partitions):,}")
        verdicts.add(f"{topic}-{partition}", judge(events, whose.clocks_back, whose.newest))
    return concluded(request, files, whose, verdicts)
