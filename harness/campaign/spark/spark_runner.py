"""Run a campaign on Spark, and keep its tables in any file system that Spark can write."""

from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from epochfuzz.harness.campaign.run.job import Job
from epochfuzz.harness.campaign.spark import versions
from epochfuzz.harness.campaign.spark.spark_tables import SparkTables
from epochfuzz.harness.campaign.spark.waves import Waves
from epochfuzz.harness.campaign.spark.workers import Workers
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.campaign.store.tables import Tables


class SparkRunner:
    """Runs the blocks and tasks of a job in Spark's workers."""

    def __init__(self, spark: SparkSession, uri: str) -> None:
        self.directory = SparkTables(spark, uri)

    @property
    def tables(self) -> Tables:
        """A reader of the tables. It reads a directory on this machine without Spark, which is faster by seconds."""
        return self.directory if self.directory.local is None else LocalTables(self.directory.local)

    def blocks_of(self, work: Job[Any]) -> Waves:
        """Return an object that runs the unfinished blocks of a job."""
        return Waves(self.directory, self.tables, work)

    def map(self, task: str, argument: Any, count: int, schema: pa.Schema, module: str | None) -> list[dict[str, Any]]:
        """Apply a task to the numbers from 0 to `count` - 1, each in a Spark task, and return its rows."""
        spark = self.directory.spark
        numbers = spark.range(0, count, 1, max(1, count))
        return list(versions.to_arrow(Workers(spark, module).map(numbers, task, argument, schema)).to_pylist())
