"""An audit in one process, for machines without Spark. The events of all logs must fit into memory."""

import gc
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from epochfuzz.harness.audit.attribution import attributed
from epochfuzz.harness.audit.audit import Audit, AuditRequest, AuditVerdicts, concluded
from epochfuzz.harness.audit.disks.disk_audit import audit_disks
from epochfuzz.harness.audit.disks.joined import joined
from epochfuzz.harness.audit.judgement.rules import judge
from epochfuzz.harness.audit.lines.events import Event
from epochfuzz.harness.audit.lines.facts import LogFacts
from epochfuzz.harness.audit.lines.reading import read

Report = Callable[[str], None]


def run(request: AuditRequest, report: Report) -> Audit:
    """Read all logs and disks, and check one partition after another. Returns the audit. Raises AuditError."""
    with _no_garbage_collection():
        if not request.disks:
            return _logs(request, report)
        disks = audit_disks(request.disks, report)
        return joined(_logs(request, report) if request.sources else None, disks)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Turn off Python's search for reference cycles, which takes 5 % of the time. Events have no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _logs(request: AuditRequest, report: Report) -> Audit:
    events: list[Event] = []
    files: list[LogFacts] = []
    parts = request.whole()
    for number, part in enumerate(parts, start=1):
        report(f"reading {part.file}, {number:,} of {len(parts):,}")
        for each in read(part, request.frames):
            if isinstance(each, LogFacts):
                files.append(each)
            else:
                events.append(each)
    files.sort(key=lambda facts: facts.file)
    whose = attributed(request, files)
    partitions: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for event in events:
        if whose.counts(event):
            broker = whose.broker_of(event)
            if broker is not None:
                own = event if event.broker is not None else replace(event, broker=broker)
                partitions[event.topic, event.partition].append(own)
    del events
    verdicts = AuditVerdicts()
    for number, ((topic, partition), own_events) in enumerate(sorted(partitions.items()), start=1):
        report(f"checking partition {number:,} of {len(partitions):,}")
        judged = judge(own_events, whose.clocks_back, whose.newest, whose.is_one_cluster, whose.newest_first)
        verdicts.add(f"{topic}-{partition}", judged)
    return concluded(request, files, whose, verdicts)
