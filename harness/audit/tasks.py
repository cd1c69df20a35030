"""The tasks of an audit on Spark. Each task maps Arrow batches to batches of rows."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa

from epochfuzz.harness.audit.judgement.rules import judge
from epochfuzz.harness.audit.lines.events import FIELDS, Event
from epochfuzz.harness.audit.lines.facts import LogFacts
from epochfuzz.harness.audit.lines.layouts import frames
from epochfuzz.harness.audit.lines.reading import Part, read
from epochfuzz.harness.audit.tables import JUDGED, READ

Batches = Iterator[pa.RecordBatch]
_ROWS = 5_000  # rows in a batch


def read_parts(layouts: str, batches: Batches) -> Batches:
    """Read parts of files. Yields rows of READ: the events of each part, and the facts of the part."""
    framing = frames(json.loads(layouts))
    for row in _rows(batches):
        part = Part.from_text(row["part"])
        events: list[Event] = []
        for each in read(part, framing):
            if isinstance(each, Event):
                events.append(each)
            if events and (len(events) == _ROWS or isinstance(each, LogFacts)):
                yield _batch(events, part.number)
                events = []
            if isinstance(each, LogFacts):
                last = {"file": each.file, "part": part.number, "facts": each.text()}
                yield pa.RecordBatch.from_pylist([last], schema=READ)


def _batch(events: Sequence[Event], part: int) -> pa.RecordBatch:
    """Return events as rows of READ, built by column, which is several times faster than building them row by row."""
    columns = [pa.array([getattr(event, name) for event in events], READ.field(name).type) for name in FIELDS]
    columns += [pa.array([part] * len(events), pa.int64()), pa.nulls(len(events), pa.string())]
    return pa.RecordBatch.from_arrays(columns, schema=READ)


def judge_partitions(text: str, batches: Batches) -> Batches:
    """Check partitions. In the batches, the events of a partition must be consecutive. Yields rows of JUDGED.

    `text` holds the other arguments of `judge` as JSON.
    """
    said = json.loads(text)
    clocks_back, newest_first = frozenset(said["clocks_back"]), frozenset(said["newest_first"])
    events = (event for batch in batches for event in _events(batch))
    for (topic, partition), own in groupby(events, key=lambda event: (event.topic, event.partition)):
        judged = judge(list(own), clocks_back, said["newest"], said["is_one_cluster"], newest_first)
        findings = [finding.row() for finding in judged.findings]
        row = {"topic": topic, "partition": partition, **vars(judged), "findings": findings}
        yield pa.RecordBatch.from_pylist([row], schema=JUDGED)


def _events(batch: pa.RecordBatch) -> Iterator[Event]:
    columns = {name: batch.column(name).to_pylist() for name in FIELDS}
    columns["isr"] = [None if isr is None else tuple(isr) for isr in columns["isr"]]
    return map(Event, *columns.values())


def _rows(batches: Batches) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist()
