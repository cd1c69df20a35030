"""Waves: a campaign's blocks are walked some at a time, and each wave is written when it is done.

A driver that is killed loses the waves under way, and nothing else. How many blocks go into a wave follows the clock;
what a block is does not, so that waves leave no trace in what a campaign finds. While one wave is walked the next one
waits in line, so that no core is idle when the first runs out of tasks, or is being written.

Each wave has a directory of its own, and a block counts once however often it was written (`finished_blocks`): on a
Spark Connect server, the last waves of a killed driver may still be under way when the next driver takes over.
"""

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from epochfuzz.harness.campaign import blocks
from epochfuzz.harness.campaign.checks import SAMPLED
from epochfuzz.harness.campaign.directory import Directory
from epochfuzz.harness.campaign.pace import Pace
from epochfuzz.harness.campaign.parameters import Parameters
from epochfuzz.harness.campaign.workers import Workers
from epochfuzz.harness.search.walk import Tally
from epochfuzz.model import properties

SCHEMA = pa.schema(
    {
        "schedules": pa.int64(),  # walked in this wave
        "seconds": pa.float64(),  # since the wave before was done, or since the workers were ready
    }
)

_IN_LINE = 2  # waves under way at once
_MANY = 10_000  # more numbers than there are cores
_NUMBER = pa.schema({"id": pa.int64()})
_AGAIN = "-id - 1 AS id"  # the number of a block that is to be walked again


@dataclass
class Counts:
    """What can be counted while a wave is walked. `events` is by protocol, `seen` by protocol and property.

    `steps` are those of a machine of the user's own, counted from where this driver took over.
    """

    schedules: int
    events: np.ndarray
    seen: np.ndarray
    steps: int = 0

    @staticmethod
    def of(tally: Tally) -> "Counts":
        """The counts of a tally."""
        return Counts(tally.schedules, tally.events.copy(), tally.seen)


Report = Callable[[Counts, float], None]


def written_blocks(directory: Directory) -> DataFrame | None:
    """What was written of blocks, some of them more than once; None before the first wave."""
    return directory.read("blocks", blocks.SCHEMA)


def finished_blocks(directory: Directory) -> DataFrame | None:
    """The finished blocks, each once; None before the first wave."""
    written = written_blocks(directory)
    return None if written is None else written.dropDuplicates(["first"])


def seconds_walked(directory: Directory, schedules: int) -> float:
    """For how long a campaign has walked so many schedules, start-up not counted.

    A driver that is killed has not noted what its last waves took. They are taken to have gone at the pace of the rest.
    """
    written = directory.read("waves", SCHEMA)
    if written is None:
        return 0.0
    noted, seconds = written.agg(F.sum("schedules"), F.sum("seconds")).collect()[0]
    return float(seconds * schedules / noted) if noted else 0.0


@dataclass(frozen=True)
class _Wave:
    """A wave under way: its name, how many blocks it has, and what will have been counted when it is written."""

    name: str
    size: int
    counted: "Future[dict[str, int | None]]"


class Waves:
    """The walk of a campaign, from where it is.

    `counts` has what is walked so far; `seconds` is how long that took.
    """

    def __init__(self, directory: Directory, parameters: Parameters) -> None:
        finished = finished_blocks(directory)
        self.counts = Counts.of(blocks.counted(finished, parameters.protocols))
        self.seconds = seconds_walked(directory, self.counts.schedules)
        self._directory = directory
        self._parameters = parameters
        self._pace: Pace | None = None
        self._spark = directory.spark
        self._workers = Workers(directory.spark, parameters.module)
        self._next, self._lost = self._unfinished(finished)

    @property
    def blocks(self) -> int:
        """How many blocks were asked for so far."""
        return self._next

    def walk(self, end: int | None, report: Report) -> None:
        """Walk up to block number `end`, or until time is up; `report` is called after every wave."""
        pace = self._pace = self._pace or Pace(self._get_ready())
        started = time.monotonic() - self.seconds
        report(self.counts, self.seconds)
        line: deque[_Wave] = deque()
        notes: deque[Future[None]] = deque()
        with ThreadPoolExecutor(_IN_LINE + 1) as pool:
            try:
                while self._fill(line, pool, pace, end):
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
                self._spark.interruptAll()
                raise

    def _unfinished(self, finished: DataFrame | None) -> tuple[int, DataFrame | None]:
        """The number after the last finished block's, and the numbers below it whose files were lost, if any."""
        if finished is None:
            return 0, None
        number = F.floor(F.col("first") / self._parameters.block)
        count, last = finished.agg(F.count("first"), F.coalesce(F.max(number), F.lit(-1))).collect()[0]
        if count == last + 1:
            return count, None
        return last + 1, self._spark.range(last).join(finished.select(number.alias("id")), "id", "left_anti")

    def _get_ready(self) -> int:
        """Have every worker compile, and count them: Spark makes as many partitions of its own accord."""
        numbers = self._spark.range(_MANY)
        return self._workers.map(numbers, "get_ready", self._parameters.text(), _NUMBER).count()

    def _fill(self, line: deque[_Wave], pool: ThreadPoolExecutor, pace: Pace, end: int | None) -> bool:
        """Put waves in line while there is something left to walk. False: nothing is, and the line is empty."""
        if self._lost is not None:
            size = self._lost.count()
            again = self._lost.where(F.col("id") % SAMPLED == 0).selectExpr(_AGAIN)
            line.append(self._wave(pool, self._lost.repartition(pace.tasks(size)).union(again), size))
            self._lost = None
        while len(line) < _IN_LINE and (size := self._size_of_next(line, pace, end)):
            numbers = self._spark.range(self._next, self._next + size, 1, pace.tasks(size))
            numbers = numbers.union(self._again(self._next, self._next + size))
            line.append(self._wave(pool, numbers, size))
            self._next += size
        return bool(line)

    def _again(self, start: int, end: int) -> DataFrame:
        """The sampled ones of some blocks, as numbers that have them walked again, by a task of their own."""
        sampled = range(-(-start // SAMPLED) * SAMPLED, end, SAMPLED)
        if not sampled:
            return self._spark.range(0)
        return self._spark.range(sampled.start, sampled.stop, SAMPLED, 1).selectExpr(_AGAIN)

    def _size_of_next(self, line: deque[_Wave], pace: Pace, end: int | None) -> int:
        parameters = self._parameters
        seconds_in_line = sum(pace.seconds(wave.size) for wave in line)
        return pace.wave(
            self.seconds,
            blocks_left=None if end is None else max(0, end - self._next),
            seconds_left=None if parameters.seconds is None else parameters.seconds - self.seconds - seconds_in_line,
        )

    def _wave(self, pool: ThreadPoolExecutor, numbers: DataFrame, size: int) -> _Wave:
        name = f"wave={datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}"
        return _Wave(name, size, pool.submit(self._walk_and_write, numbers, name))

    def _walk_and_write(self, numbers: DataFrame, name: str) -> dict[str, int | None]:
        """Walk the blocks numbered and write them; returns what was counted meanwhile."""
        counted = Observation()
        rows = self._workers.map(numbers, "walk_blocks", self._parameters.text(), blocks.SCHEMA)
        self._directory.write(rows.observe(counted, *self._counters()), "blocks", name)
        return counted.get

    def _note(self, wave: _Wave, schedules: int | None, seconds: float) -> None:
        """Write down what a wave took. Spark gets round to it when the tasks of the next wave are all taken."""
        self._directory.write_rows([{"schedules": schedules, "seconds": seconds}], SCHEMA, "waves", wave.name)

    def _counters(self) -> list[Column]:
        """What to count of a wave for progress; findings are made of what was written."""

        def counted(column: Column) -> Column:
            return F.sum(F.when(~F.col("again"), column))

        columns = [counted(F.col("schedules")).alias("schedules"), counted(F.col("steps")).alias("steps")]
        for i in range(len(self._parameters.protocols)):
            result = F.col("results")[i]
            columns.append(counted(result["events"]).alias(f"events {i}"))
            columns += [counted(result["seen"][name]).alias(f"seen {i} {name}") for name in properties.NAMES]
        return columns

    def _add(self, counted: dict[str, int | None]) -> None:
        self.counts.schedules += counted["schedules"] or 0
        self.counts.steps += counted["steps"] or 0
        for i in range(len(self._parameters.protocols)):
            self.counts.events[i] += counted[f"events {i}"] or 0
            self.counts.seen[i] += [counted[f"seen {i} {name}"] or 0 for name in properties.NAMES]
