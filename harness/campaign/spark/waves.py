"""Run the blocks of a campaign in waves.

A wave is a group of blocks that Spark runs at once. Spark writes the results of a wave when all of its blocks are done.
A killed driver loses only the waves that are running. The measured speed decides how many blocks a wave has, but not
the contents of a block. The findings of a campaign therefore don't depend on its waves. The next wave is queued while a
wave runs, so that no core is idle while the running wave has too few tasks left or is being written.

Each wave has its own directory. On a Spark Connect server, the last waves of a killed driver may still run when the
next driver resumes the campaign, so a block may be written several times. Each block counts once (store/tables.py).
"""

import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.run.job import BlockRange, Job
from epochfuzz.harness.campaign.run.pace import Pace
from epochfuzz.harness.campaign.run.runner import BlockRuns, Report
from epochfuzz.harness.campaign.spark import versions
from epochfuzz.harness.campaign.spark.spark_tables import SparkTables
from epochfuzz.harness.campaign.spark.workers import Workers
from epochfuzz.harness.campaign.store import blocks
from epochfuzz.harness.campaign.store.blocks import SAMPLED, WAVES
from epochfuzz.harness.campaign.store.local_tables import WAVE
from epochfuzz.harness.campaign.store.tables import Numbers, Tables

_IN_LINE = 2  # waves that are running or queued at once
_MANY = 10_000  # more numbers than any cluster has cores, so that every worker receives some
_NUMBER = pa.schema({"id": pa.int64()})
_AGAIN = "-id - 1 AS id"  # encodes the number of a block that runs a second time


@dataclass(frozen=True)
class _Wave:
    """A submitted wave. `size` is its number of blocks, and `counted` has its counts once it is written."""

    name: str
    size: int
    counted: "Future[dict[str, int | None]]"


class Waves(BlockRuns):
    """Runs the unfinished blocks of a campaign in waves on Spark."""

    def __init__(self, tables: SparkTables, read: Tables, work: Job[Any]) -> None:
        """`tables` writes the waves, and `read` reads the finished blocks."""
        super().__init__(read, work)
        self._tables = tables
        self._spark = tables.spark
        self._workers = Workers(tables.spark, work.module)
        self._pace: Pace | None = None

    def do(self, stage: BlockRange, report: Report) -> bool:
        """Run the blocks of a stage. Returns False if time ran out before the end of the stage."""
        line: deque[_Wave] = deque()
        missing = self.resume(stage)
        report(self.counts, self.seconds)
        if not len(missing) and self.is_over(stage):
            return True
        pace = self._pace = self._pace or Pace(self._get_ready(), self._work.LONGEST_WAVE, self._work.TASK)
        started = time.monotonic() - self.seconds
        notes: deque[Future[None]] = deque()
        with ThreadPoolExecutor(_IN_LINE + 1) as pool:
            try:
                if len(missing):
                    line.append(self._wave_of_missing(pool, missing, pace))
                while self._fill(line, pool, pace, stage):
                    wave = line.popleft()
                    counted = wave.counted.result()
                    before, self.seconds = self.seconds, time.monotonic() - started
                    pace.done(wave.size)
                    self._add(counted)
                    report(self.counts, self.seconds)
                    notes.append(pool.submit(self._note, wave, counted["schedules"], self.seconds - before))
                    while len(notes) > 1 and notes[0].done():
                        notes.popleft().result()
                for note in notes:
                    note.result()
            except BaseException:
                versions.interrupt(self._spark)
                raise
        return self.is_over(stage)

    def _get_ready(self) -> int:
        """Prepare every worker, and return the number of workers.

        Spark splits the numbers into one partition per core, so each core has a task.
        """
        numbers = self._spark.range(_MANY)
        return self._workers.map(numbers, "get_ready", self._work.text_for_workers, _NUMBER).count()

    def _wave_of_missing(self, pool: ThreadPoolExecutor, missing: Numbers, pace: Pace) -> _Wave:
        size = len(missing)
        again = missing[(missing % SAMPLED == 0) & self._work.is_repeatable]
        numbers, twice = (versions.from_arrow(self._spark, pa.table({"id": each})) for each in (missing, again))
        return self._wave(pool, numbers.repartition(pace.tasks(size)).union(twice.selectExpr(_AGAIN)), size)

    def _fill(self, line: deque[_Wave], pool: ThreadPoolExecutor, pace: Pace, stage: BlockRange) -> bool:
        """Submit waves until _IN_LINE of them are queued or no block is left. Returns False if the queue is empty."""
        while len(line) < _IN_LINE and (size := self._size_of_next(line, pace, stage)):
            numbers = self._spark.range(self.next, self.next + size, 1, pace.tasks(size))
            numbers = numbers.union(self._again(self.next, self.next + size))
            line.append(self._wave(pool, numbers, size))
            self.next += size
        return bool(line)

    def _again(self, start: int, end: int) -> DataFrame:
        """Return the numbers of the blocks from `start` to `end` - 1 that run a second time: one block in 64.

        epochfuzz compares the results of both runs. _AGAIN encodes the numbers. One Spark task does all second runs of
        a wave.
        """
        sampled = range(-(-start // SAMPLED) * SAMPLED, end, SAMPLED)
        if not sampled or not self._work.is_repeatable:
            return self._spark.range(0)
        return self._spark.range(sampled.start, sampled.stop, SAMPLED, 1).selectExpr(_AGAIN)

    def _size_of_next(self, line: deque[_Wave], pace: Pace, stage: BlockRange) -> int:
        if self.is_over(stage):
            return 0
        seconds = self._work.seconds
        seconds_in_line = sum(pace.seconds(wave.size) for wave in line)
        return pace.wave(
            self.seconds,
            blocks_remaining=None if stage.end is None else stage.end - self.next,
            seconds_remaining=None if seconds is None else seconds - self.seconds - seconds_in_line,
        )

    def _wave(self, pool: ThreadPoolExecutor, numbers: DataFrame, size: int) -> _Wave:
        name = datetime.now(UTC).strftime(WAVE)
        return _Wave(name, size, pool.submit(self._do_and_write, numbers, name))

    def _do_and_write(self, numbers: DataFrame, name: str) -> dict[str, int | None]:
        """Run the blocks with the given numbers, write their rows as one wave, and return their counts."""
        sums = [F.sum(F.when(~F.col("again"), F.col("counts")[name])).alias(name) for name in self._work.counted]
        tables, schema = self._tables, blocks.schema(self._work)
        versions.describe(self._spark, f"epochfuzz: blocks of {self._work.NAME}, {self._work.heading}")
        rows = self._workers.map(numbers, "do_blocks", self._work.text_for_workers, schema)
        return versions.observed(
            rows,
            sums,
            write=lambda observed: tables.write(observed, "blocks", name),
            written=lambda: tables.read(f"blocks/{name}", schema),
        )

    def _note(self, wave: _Wave, schedules: int | None, seconds: float) -> None:
        """Write the seconds that a wave took. Spark delays this write until all tasks of the next wave are assigned."""
        self._tables.write_rows([{"schedules": schedules, "seconds": seconds}], WAVES, "waves", wave.name)

    def _add(self, counted: dict[str, int | None]) -> None:
        self.counts.update({name: count or 0 for name, count in counted.items()})
