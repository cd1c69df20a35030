"""Read the tables of a campaign with Spark, from any file system that Spark supports."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.run.job import Counts, Job
from epochfuzz.harness.campaign.spark import versions
from epochfuzz.harness.campaign.spark.workers import Workers
from epochfuzz.harness.campaign.store import blocks
from epochfuzz.harness.campaign.store.directory import CampaignDirectory
from epochfuzz.harness.campaign.store.identity import refuse_foreign_to
from epochfuzz.harness.campaign.store.local_tables import wave_begun
from epochfuzz.harness.campaign.store.tables import Numbers, Tables
from epochfuzz.harness.documents.records import Checked

_NOTHING = pa.schema({})


class SparkTables(CampaignDirectory, Tables):
    """Reads and writes the tables in a campaign's directory."""

    def is_written(self, table: str, schema: pa.Schema) -> bool:
        """Return whether a table exists, perhaps without rows. `schema` is the table's schema."""
        return self.read(table, schema) is not None

    @property
    def is_finished(self) -> bool:
        """True if the campaign has written its outcome."""
        return self.has("outcome")

    def refuse_foreign(self, work: Job[Any]) -> None:
        """Raise CampaignError if the directory has blocks of another campaign, or of an older epochfuzz."""
        rows = self._written()
        if rows is not None:
            campaign = F.when(F.col("block_number").isNotNull(), F.col("campaign"))
            refuse_foreign_to(self, work, [row[0] for row in rows.select(campaign).distinct().collect()])

    @property
    def begun(self) -> datetime | None:
        """The time when the first blocks were submitted. None if it is unknown."""
        rows = self._written()
        wave = None if rows is None else rows.agg(F.min("wave")).collect()[0][0]  # a column that Spark adds
        return None if wave is None else wave_begun(f"wave={wave}")

    def seconds(self, schedules: int) -> float:
        """Return the estimated seconds that the campaign spent on `schedules` schedules."""
        written = self.read("waves", blocks.WAVES)
        if written is None:
            return 0.0
        noted, seconds = written.agg(F.sum("schedules"), F.sum("seconds")).collect()[0]
        return float(seconds * schedules / noted) if noted else 0.0

    def numbers(self) -> Numbers:
        """Return the numbers of the finished blocks, in ascending order."""
        rows = self._finished()
        return (
            np.zeros(0, np.int64)
            if rows is None
            else np.sort(versions.to_arrow(rows.select("block_number"))[0].to_numpy())
        )

    def counts(self, names: Sequence[str]) -> Counts:
        """Return the sums of Job.counts over the finished blocks."""
        rows = self._finished()
        sums = [F.sum(F.col("counts")[name]).alias(name) for name in names]
        summed = {} if rows is None else rows.agg(*sums).collect()[0].asDict()
        return Counter({name: count or 0 for name, count in summed.items()})

    def blocks(self, schema: pa.Schema, first: int = 0, end: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows of the finished blocks from `first` to `end` - 1, ordered by block number.

        Spark reads one partition at a time, so memory doesn't grow with the number of blocks.
        """
        rows = self._finished(schema)
        if rows is not None:
            block = F.col("block_number")
            within = rows.where((block >= first) & (F.lit(True) if end is None else block < end))
            for row in within.select("block_number", *schema.names).orderBy("block_number").toLocalIterator():
                yield row.asDict(recursive=True)

    def again(self, schema: pa.Schema, numbers: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Yield the rows of the second runs of blocks, with the column `block_number`."""
        rows = self._written(schema)
        if rows is not None:
            again = rows.where(F.col("again") & F.col("block_number").isin(list(numbers)))
            for row in again.select("block_number", *schema.names).toLocalIterator():
                yield row.asDict(recursive=True)

    def map_blocks(self, task: str, argument: Any, given: pa.Schema, schema: pa.Schema) -> Iterator[pa.Table]:
        """Apply a task to the finished blocks in Spark's workers, and yield its results as tables with `schema`."""
        rows = self._finished(given)
        if rows is not None:
            yield versions.to_arrow(Workers(self.spark).map(rows.select(*given.names), task, argument, schema))

    def differing(self) -> list[int]:
        """Return the numbers of the blocks that had different results in two runs."""
        rows = self._written()
        if rows is None:
            return []
        results = rows.groupBy("block_number").agg(F.count_distinct("digest").alias("results"))
        return sorted(row[0] for row in results.where("results > 1").select("block_number").collect())

    def checked(self) -> Checked:
        """Return numbers about the blocks that ran twice."""
        rows = self._written()
        if rows is None:
            return Checked(0, 0, 0)
        by_block = rows.groupBy("block_number").agg(
            F.count("worker").alias("times"),
            F.count_distinct("worker").alias("workers"),
            F.max("memory").alias("memory"),
        )
        sums = by_block.agg(F.count_if(F.col("times") > 1), F.count_if(F.col("workers") > 1), F.max("memory"))
        twice, elsewhere, memory = sums.collect()[0]
        return Checked(twice, elsewhere, memory or 0)

    def _written(self, schema: pa.Schema = _NOTHING) -> DataFrame | None:
        """Return all rows of the table of blocks, with second runs. None if no block was written yet.

        The rows have the columns of `schema`, and the columns of every kind of job.
        """
        return self.read("blocks", pa.schema([*schema, *blocks.OF_EVERY_KIND]))

    def _finished(self, schema: pa.Schema = _NOTHING) -> DataFrame | None:
        rows = self._written(schema)
        return None if rows is None else rows.where("not again").dropDuplicates(["block_number"])
