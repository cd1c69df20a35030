"""Segments on Spark: each task reads the headers of several segments, and a table keeps the results."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from epochfuzz.harness.audit.disks.files import size_of
from epochfuzz.harness.audit.disks.producers import ProducerRun
from epochfuzz.harness.audit.disks.segments import BatchHeader, EpochRun, Segment, segment_of
from epochfuzz.harness.audit.tables import RANGES, SEGMENTS
from epochfuzz.harness.campaign.spark import versions
from epochfuzz.harness.campaign.spark.workers import Workers
from epochfuzz.harness.campaign.store.directory import CampaignDirectory

_RANGE = 4 << 30  # bytes of a task
_FILES = 256  # of a task
_WAVE = 64  # tasks, after which the table is written

Report = Callable[[str], None]


class SegmentReader:
    """Read segments on Spark workers, except for the segments that an earlier run has already read."""

    def __init__(self, directory: CampaignDirectory, workers: Workers) -> None:
        self._directory, self._workers = directory, workers

    def __call__(self, files: Sequence[str], report: Report) -> Iterable[Segment]:
        """Return the segments of files, in any order."""
        known = {segment.file for segment in self._kept()}
        missing = list(ranges([file for file in files if file not in known]))
        done = len(known)
        for start in range(0, len(missing), _WAVE):
            wave = missing[start : start + _WAVE]
            report(f"reading segments {done + 1:,} to {done + sum(map(len, wave)):,} of {len(files):,}")
            rows = pa.Table.from_pylist([{"files": each} for each in wave], RANGES)
            numbered = versions.from_arrow(self._directory.spark, rows).repartition(len(wave))
            read = self._workers.map(numbered, f"{__name__}:read_segments", "", SEGMENTS)
            self._directory.write(read, "segments", f"wave={done:08d}")
            done += sum(map(len, wave))
        return self._kept()

    def _kept(self) -> list[Segment]:
        return [_segment(row) for row in self._directory.read_rows("segments", SEGMENTS)]


def ranges(files: Iterable[str]) -> Iterator[list[str]]:
    """Divide files into tasks of consecutive files, each with a limited number of bytes and of files."""
    taken: list[str] = []
    size = 0
    for file in files:
        own = size_of(file)
        if taken and (size + own > _RANGE or len(taken) == _FILES):
            yield taken
            taken, size = [], 0
        taken.append(file)
        size += own
    if taken:
        yield taken


def read_segments(_: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read segments in a task of Spark. Each row of `batches` (schema RANGES) names files. Yields rows of SEGMENTS."""
    for batch in batches:
        for row in batch.to_pylist():
            segments = [asdict(segment_of(file)) for file in row["files"]]
            yield pa.RecordBatch.from_pylist(segments, schema=SEGMENTS)


def _segment(row: dict[str, Any]) -> Segment:
    runs = (
        EpochRun(
            file=row["file"],
            epoch=each["epoch"],
            first=BatchHeader(**each["first"]),
            last=BatchHeader(**each["last"]),
            batches=each["batches"],
        )
        for each in row["runs"]
    )
    producers = None if row["producers"] is None else tuple(ProducerRun(**each) for each in row["producers"])
    names = ("file", "base", "size", "holes", "problem", "is_torn")
    return Segment(runs=tuple(runs), producers=producers, **{name: row[name] for name in names})
