"""Run the blocks of a campaign in waves.

A wave is a group of blocks that Spark runs at once. Spark writes the results of a wave when all of its blocks are done.
A killed driver loses only the waves that are running. The measured speed decides how many blocks a wave has, but not
the contents of a block. The findings of a campaign therefore don't depend on its waves. The next wave is queued while a
wave runs, so that no core is idle while the running wave has too few tasks left or is being written.

Each wave has its own directory. On a Spark Connect server, the last waves of a killed driver may still run when the
next driver resumes the campaign, so a block may be written several times. Each block counts once (`blocks.finished`).
"""

import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.run.job import BlockRange, Counts, Job
from epochfuzz.harness.campaign.run.pace import Pace
from epochfuzz.harness.campaign.spark import versions
from epochfuzz.harness.campaign.spark.workers import Workers
from epochfuzz.harness.campaign.store import blocks
from epochfuzz.harness.campaign.store.determinism import SAMPLED
from epochfuzz.harness.campaign.store.directory import CampaignDirectory
from epochfuzz.harness.campaign.store.local_tables import WAVE

SCHEMA = pa.schema(
    {
        "schedules": pa.int64(),  # number of schedules that ran in this wave
        "seconds": pa.float64(),  # since the end of the previous wave, or since the workers were ready
    }
)

_IN_LINE = 2  # waves that are running or queued at once
_MANY = 10_000  # more numbers than any cluster has cores, so that every worker receives some
_NUMBER = pa.schema({"id": pa.int64()})
_AGAIN = "-id - 1 AS id"  # encodes the number of a block that runs a second time

Report = Callable[[Counts, float], None]


def seconds_worked(directory: CampaignDirectory, schedules: int) -> float:
    """Return the time in seconds that a campaign has spent on `schedules` schedules, without start-up.

    A killed driver has not recorded the time of its last waves. Their time is estimated from the rate of the recorded
    waves.
    """
    written = directory.read("waves", SCHEMA)
    if written is None:
        return 0.0
    noted, seconds = written.agg(F.sum("schedules"), F.sum("seconds")).collect()[0]
    return float(seconds * schedules / noted) if noted else 0.0


@dataclass(frozen=True)
class _Wave:
    """A submitted wave. `size` is its number of blocks, and `counted` has its counts once it is written."""

    name: str
    size: int
    counted: "Future[dict[str, int | None]]"


class Waves:
    """Runs the unfinished blocks of a campaign in waves.

    `counts` are the sums over finished blocks (Job.counted), and `seconds` is their time. `next` is the number of the
    next block to submit.
    """

    def __init__(self, directory: CampaignDirectory, work: Job[Any]) -> None:
        self.counts: Counter[str] = Counter()
        self.next = 0
        self._directory = directory
        self._work = work
        self._spark = directory.spark
        self._workers = Workers(directory.spark, work.module)
        self._pace: Pace | None = None
        self._finished = blocks.finished(directory, work)
        if self._finished is not None:
            sums = [F.sum(column).alias(name) for name, column in work.counted().items()]
            counted = self._finished.agg(*sums, F.coalesce(F.max(work.number()), F.lit(-1)).alias("last"))
            row = counted.collect()[0].asDict()
            self.next = row.pop("last") + 1
            self._add(row)
        self.seconds = seconds_worked(directory, self.counts["schedules"])

    def do(self, stage: BlockRange, report: Report) -> bool:
        """Run the blocks of a stage. Returns False if time ran out before the end of the stage.

        Calls `report` at the start and after every wave.
        """
        line: deque[_Wave] = deque()
        missing = self._resume(stage)
        report(self.counts, self.seconds)
        if missing is None and self._is_over(stage):
            return True
        pace = self._pace = self._pace or Pace(self._get_ready(), self._work.LONGEST_WAVE, self._work.TASK)
        started = time.monotonic() - self.seconds
        notes: deque[Future[None]] = deque()
        with ThreadPoolExecutor(_IN_LINE + 1) as pool:
            try:
                if missing is not None:
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
        return self._is_over(stage)

    def _is_over(self, stage: BlockRange) -> bool:
        return self._work.is_enough(stage, self.counts) or (stage.end is not None and self.next >= stage.end)

    def _resume(self, stage: BlockRange) -> DataFrame | None:
        """Set `next` to the block after the last finished block of a stage.

        Returns the numbers of the stage's unfinished blocks below `next`, or None if all are finished. A stage that
        begins after the blocks of earlier processes has no finished blocks.
        """
        taken_up, self.next = self.next, stage.first
        if self._finished is None or taken_up <= stage.first:
            return None
        finished = self._finished.select(self._work.number().alias("id")).where(F.col("id") >= stage.first)
        if stage.end is not None:
            finished = finished.where(F.col("id") < stage.end)
        count, last = finished.agg(F.count("id"), F.max("id")).collect()[0]
        if not count:
            return None
        self.next = last + 1
        if count == self.next - stage.first:
            return None
        return self._spark.range(stage.first, last).join(finished, "id", "left_anti")

    def _get_ready(self) -> int:
        """Prepare every worker, and return the number of workers.

        Spark splits the numbers into one partition per core, so each core has a task.
        """
        numbers = self._spark.range(_MANY)
        return self._workers.map(numbers, "get_ready", self._work.text_for_workers, _NUMBER).count()

    def _wave_of_missing(self, pool: ThreadPoolExecutor, missing: DataFrame, pace: Pace) -> _Wave:
        size = missing.count()
        again = missing.where((F.col("id") % SAMPLED == 0) & F.lit(self._work.is_repeatable)).selectExpr(_AGAIN)
        return self._wave(pool, missing.repartition(pace.tasks(size)).union(again), size)

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
        if self._is_over(stage):
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
        sums = [F.sum(F.when(~F.col("again"), column)).alias(key) for key, column in self._work.counted().items()]
        directory, schema = self._directory, blocks.schema(self._work)
        versions.describe(self._spark, f"epochfuzz: blocks of {self._work.NAME}, {self._work.heading}")
        rows = self._workers.map(numbers, "do_blocks", self._work.text_for_workers, schema)
        return versions.observed(
            rows,
            sums,
            write=lambda observed: directory.write(observed, "blocks", name),
            written=lambda: directory.read(f"blocks/{name}", schema),
        )

    def _note(self, wave: _Wave, schedules: int | None, seconds: float) -> None:
        """Write the seconds that a wave took. Spark delays this write until all tasks of the next wave are assigned."""
        self._directory.write_rows([{"schedules": schedules, "seconds": seconds}], SCHEMA, "waves", wave.name)

    def _add(self, counted: dict[str, int | None]) -> None:
        self.counts.update({name: count or 0 for name, count in counted.items()})
