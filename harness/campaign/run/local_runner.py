"""Run a campaign in processes of this machine, without Spark. Spark can resume such a campaign, and the reverse."""

import multiprocessing.util
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from epochfuzz.harness.campaign.run.job import BlockRange, Job
from epochfuzz.harness.campaign.run.pace import wave_seconds
from epochfuzz.harness.campaign.run.runner import BlockRuns, Report
from epochfuzz.harness.campaign.run.worker import work as work_of_text
from epochfuzz.harness.campaign.store import blocks
from epochfuzz.harness.campaign.store.local_tables import WAVE, LocalTables, function_of
from epochfuzz.harness.campaign.store.location import on_this_machine
from epochfuzz.harness.campaign.store.tables import Numbers
from epochfuzz.harness.jobs.processes import ProcessPool


class LocalDirectory(LocalTables):
    """Reads and writes the tables in a campaign's directory on this machine. Each file is either complete or absent."""

    @property
    def uri(self) -> str:
        """The path of the directory, as text."""
        return str(self.directory)

    @property
    def local(self) -> Path:
        """The path of the directory."""
        return self.directory

    def write_rows(self, rows: list[dict[str, Any]], schema: pa.Schema, *table: str) -> None:
        """Write rows into one file. Replaces the files that a killed process left."""
        place = self.directory.joinpath(*table)
        place.mkdir(parents=True, exist_ok=True)
        unfinished, finished = place / "_unfinished", place / "part-00000.parquet"  # readers ignore names with _
        pq.write_table(pa.Table.from_pylist(rows, schema), unfinished, write_page_checksum=True)
        for old in place.glob("*.parquet"):
            if old != finished:
                old.unlink()
        os.replace(unfinished, finished)


class LocalRunner:
    """Runs the blocks and tasks of a job in processes of this machine. `directory` must be on this machine."""

    def __init__(self, pool: ProcessPool, directory: str) -> None:
        here = on_this_machine(directory)
        assert here is not None, "only Spark can write other file systems"
        self.directory = self.tables = LocalDirectory(here)
        self._pool = pool

    def blocks_of(self, work: Job[Any]) -> "LocalBlocks":
        """Return an object that runs the unfinished blocks of a job."""
        return LocalBlocks(self.directory, self._pool, work)

    def map(self, task: str, argument: Any, count: int, schema: pa.Schema, module: str | None) -> list[dict[str, Any]]:
        """Apply a task to the numbers from 0 to `count` - 1 in the processes, and return its rows."""
        tasks = [_Task(task, argument, number) for number in range(count)]
        with closing(self._pool.in_order(_run_task, tasks)) as results:
            tables = [pa.Table.from_batches(batches, schema) for batches in results]
        return [row for table in tables for row in table.to_pylist()]


class LocalBlocks(BlockRuns):
    """Runs the unfinished blocks of a campaign in processes, and writes their rows in waves."""

    def __init__(self, directory: LocalDirectory, pool: ProcessPool, work: Job[Any]) -> None:
        super().__init__(directory, work)
        self._directory = directory
        self._pool = pool
        self._rows: list[dict[str, Any]] = []  # of finished blocks that are not written yet
        self._written = self.seconds  # time of the last write

    def do(self, stage: BlockRange, report: Report) -> bool:
        """Run the blocks of a stage. Returns False if time ran out before the end of the stage."""
        missing = self.resume(stage)
        report(self.counts, self.seconds)
        if not len(missing) and self.is_over(stage):
            return True
        started = time.monotonic() - self.seconds
        try:
            with closing(self._pool.in_order(_run_block, self._requests(stage, missing))) as results:
                for rows in results:
                    self._rows += rows
                    self.counts.update(dict(rows[0]["counts"]))
                    self.seconds = time.monotonic() - started
                    report(self.counts, self.seconds)
                    if self.seconds - self._written >= wave_seconds(self.seconds, self._work.LONGEST_WAVE):
                        self._write()
        finally:  # after Ctrl-C, too
            self._write()
        return self.is_over(stage)

    def _requests(self, stage: BlockRange, missing: Numbers) -> Iterator["_Request"]:
        """Yield the blocks of a stage that are not finished. Stops when the time is over, or after enough results."""
        text = self._work.text_for_workers
        for number in missing.tolist():
            yield _Request(text, number, self._runs_twice(number))
        while not self.is_over(stage) and (self._work.seconds is None or self.seconds < self._work.seconds):
            self.next += 1
            yield _Request(text, self.next - 1, self._runs_twice(self.next - 1))

    def _runs_twice(self, number: int) -> bool:
        return self._work.is_repeatable and number % blocks.SAMPLED == 0

    def _write(self) -> None:
        """Write the rows of finished blocks as a wave."""
        if self._rows:
            name = datetime.now(UTC).strftime(WAVE)
            schedules = sum(dict(row["counts"]).get("schedules", 0) for row in self._rows if not row["again"])
            self._directory.write_rows(self._rows, blocks.schema(self._work), "blocks", name)
            noted = {"schedules": schedules, "seconds": self.seconds - self._written}
            self._directory.write_rows([noted], blocks.WAVES, "waves", name)
            self._rows, self._written = [], self.seconds


@dataclass(frozen=True)
class _Request:
    """A block to run in a process. `text` is the text of the job."""

    text: str
    number: int
    twice: bool


@dataclass(frozen=True)
class _Task:
    """A task, which is a function `module:function`, and the number that a process passes to it."""

    task: str
    argument: Any
    number: int


class _Equipment:
    """The resources that a process keeps open for the blocks of a job (Job.equipped)."""

    def __init__(self) -> None:
        self._text: str | None = None
        self._stack = ExitStack()
        multiprocessing.util.Finalize(None, self.close, exitpriority=1)  # an ending process runs no atexit functions

    def of(self, text: str) -> Job[Any]:
        """Return the job with a text, with its resources open. Closes the resources of the job before."""
        work = work_of_text(text)
        if text != self._text:
            self.close()
            work.get_ready()
            self._stack.enter_context(work.equipped())
            self._text = text
        return work

    def close(self) -> None:
        """Close the resources."""
        self._text = None
        self._stack.close()


_equipment: _Equipment | None = None


def _run_block(request: _Request) -> list[dict[str, Any]]:
    """Run a block once or twice, and return the row of each run."""
    global _equipment
    _equipment = _equipment or _Equipment()
    try:
        work = _equipment.of(request.text)
        return [blocks.row(work, request.number, again) for again in (False, True)[: 1 + request.twice]]
    except SystemExit:  # after SIGTERM, which ends the process without a call of its finalizers
        _equipment.close()
        raise


def _run_task(task: _Task) -> list[pa.RecordBatch]:
    """Apply a task to its number, and return the batches of its results."""
    numbers = pa.RecordBatch.from_arrays([pa.array(np.array([task.number], np.int64))], ["id"])
    return list(function_of(task.task)(task.argument, iter([numbers])))
