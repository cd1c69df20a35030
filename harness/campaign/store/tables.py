"""The interface of a campaign's tables for readers. local_tables.py reads without Spark, spark_tables.py with Spark."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from typing import Protocol as Interface

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from epochfuzz.harness.campaign.store.identity import SmallTables

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.job import Counts, Job
    from epochfuzz.harness.documents.records import Checked

Numbers = npt.NDArray[np.int64]


class Tables(SmallTables, Interface):
    """The tables of a campaign. In all results about blocks, a block that was written several times counts once."""

    def is_written(self, table: str, schema: pa.Schema) -> bool:
        """Return whether a table exists, perhaps without rows. `schema` is the table's schema."""

    def read_rows(self, table: str, schema: pa.Schema) -> list[dict[str, Any]]:
        """Return the rows of a small table with the columns of a schema. A column that the table lacks is None."""

    def refuse_foreign(self, work: "Job[Any]") -> None:
        """Raise CampaignError if the directory has blocks of another campaign, or of an older epochfuzz."""

    @property
    def is_finished(self) -> bool:
        """True if the campaign has written its outcome."""

    @property
    def begun(self) -> datetime | None:
        """The time when the first blocks were submitted. None if it is unknown."""

    def seconds(self, schedules: int) -> float:
        """Return the time in seconds that the campaign has spent on `schedules` schedules, without start-up.

        A killed process has not recorded the time of its last waves. Their time is estimated from the rate of the
        recorded waves.
        """

    def numbers(self) -> Numbers:
        """Return the numbers of the finished blocks, in ascending order."""

    def counts(self, names: Sequence[str]) -> "Counts":
        """Return the sums of Job.counts over the finished blocks. `names` are the names in Job.counted."""

    def blocks(self, schema: pa.Schema, first: int = 0, end: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows of the finished blocks from `first` to `end` - 1, ordered by block number.

        The rows have the columns of `schema`, and the column `block_number`.
        """

    def again(self, schema: pa.Schema, numbers: Sequence[int]) -> Iterable[dict[str, Any]]:
        """Return the rows of the second runs of blocks, with the columns of `schema`, and the column `block_number`."""

    def map_blocks(self, task: str, argument: Any, given: pa.Schema, schema: pa.Schema) -> Iterator[pa.Table]:
        """Apply a task to the finished blocks, and yield its results as tables with `schema`.

        `task` is `module:function`. The function gets `argument` and batches with the columns `given`, and yields
        batches. Each worker calls it for a part of the blocks.
        """

    def differing(self) -> list[int]:
        """Return the numbers of the blocks that had different results in two runs."""

    def checked(self) -> "Checked":
        """Return numbers about the blocks that ran twice. Ignores their results, which `differing` compares."""
