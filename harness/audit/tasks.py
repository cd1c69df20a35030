"""The tasks of an audit on Spark: each takes Arrow batches and answers with batches of rows."""

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pyarrow as pa

from epochfuzz.harness.audit.events import Event
from epochfuzz.harness.audit.layouts import frames
from epochfuzz.harness.audit.reading import Part, read
from epochfuzz.harness.audit.rules import judge
from epochfuzz.harness.audit.tables import JUDGED, READ

Batches = Iterator[pa.RecordBatch]
_ROWS = 5_000  # of a batch


def read_parts(layouts: str, batches: Batches) -> Batches:
    """The events of parts of files, and what is known of each part; rows of READ."""
    framing = frames(json.loads(layouts))
    for row in _rows(batches):
        part = Part(**row)
        events, facts = read(part, framing)
        rows = [event.row() | {"part": part.number} for event in events]
        rows.append({"file": part.file, "part": part.number, "facts": facts.text()})
        for start in range(0, len(rows), _ROWS):
            yield pa.RecordBatch.from_pylist(rows[start : start + _ROWS], schema=READ)


def judge_partitions(text: str, batches: Batches) -> Batches:
    """Judge partitions, whose events follow one another; rows of JUDGED."""
    said = json.loads(text)
    clocks_back, newest = frozenset(said["clocks_back"]), said["newest"]
    events = (Event.from_row(row) for row in _rows(batches))
    for (topic, partition), own in groupby(events, key=lambda event: (event.topic, event.partition)):
        judged = judge(list(own), clocks_back, newest)
        row = {
            "topic": topic,
            "partition": partition,
            "findings": [finding.row() for finding in judged.findings],
            "unseen": judged.unseen,
            "silent": list(judged.silent),
            "told_apart": judged.told_apart,
        }
        yield pa.RecordBatch.from_pylist([row], schema=JUDGED)


def _rows(batches: Batches) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist()
