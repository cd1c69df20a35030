"""The interface of a runner, which runs the blocks and the tasks of a job: processes of this machine, or Spark."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any
from typing import Protocol as Interface

import numpy as np
import pyarrow as pa

from epochfuzz.harness.campaign.run.job import BlockRange, Counts, Job
from epochfuzz.harness.campaign.store.tables import Numbers, Tables

Report = Callable[[Counts, float], None]


class Directory(Interface):
    """The directory of a campaign, for writers."""

    @property
    def uri(self) -> str:
        """The location of the directory."""

    @property
    def local(self) -> Path | None:
        """The path of the directory, or None if it is not on this machine."""

    def write_rows(self, rows: list[dict[str, Any]], schema: pa.Schema, *table: str) -> None:
        """Write rows into one file. Replaces a file that a killed process left."""


class JobRunner(Interface):
    """Runs the blocks and tasks of a job, and writes the tables of the campaign."""

    @property
    def directory(self) -> Directory:
        """The directory of the campaign, for writers."""

    @property
    def tables(self) -> Tables:
        """The tables of the campaign, for readers."""

    def blocks_of(self, work: Job[Any]) -> "BlockRuns":
        """Return an object that runs the unfinished blocks of a job."""

    def map(self, task: str, argument: Any, count: int, schema: pa.Schema, module: str | None) -> list[dict[str, Any]]:
        """Apply a task to the numbers from 0 to `count` - 1 in workers, and return its rows, which have `schema`.

        `task` is `module:function`. The function gets `argument` and Arrow batches of numbers, and yields batches.
        `module` is Job.module.
        """


class BlockRuns(ABC):
    """Runs the unfinished blocks of a campaign in waves. A wave is a group of blocks that are written at once.

    `counts` are the sums over finished blocks (Job.counts), and `seconds` is their time. `next` is the number of the
    next block to run.
    """

    def __init__(self, tables: Tables, work: Job[Any]) -> None:
        self.counts = tables.counts(work.counted)
        self.seconds = tables.seconds(self.counts["schedules"])
        self._work = work
        self._finished = tables.numbers()
        self.next = int(self._finished[-1]) + 1 if len(self._finished) else 0

    @abstractmethod
    def do(self, stage: BlockRange, report: Report) -> bool:
        """Run the blocks of a stage. Returns False if time ran out before the end of the stage.

        Calls `report` at the start, and whenever blocks have finished.
        """

    def resume(self, stage: BlockRange) -> Numbers:
        """Set `next` to the block after the last finished block of a stage.

        Returns the numbers of the stage's unfinished blocks below `next`.
        """
        end = np.iinfo(np.int64).max if stage.end is None else stage.end
        finished = self._finished[(self._finished >= stage.first) & (self._finished < end)]
        self.next = int(finished[-1]) + 1 if len(finished) else stage.first
        return np.setdiff1d(np.arange(stage.first, self.next), finished, assume_unique=True)

    def is_over(self, stage: BlockRange) -> bool:
        """Return whether a stage needs no more blocks."""
        return self._work.is_enough(stage, self.counts) or (stage.end is not None and self.next >= stage.end)
