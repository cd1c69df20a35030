"""The directory of a campaign, which Spark reads and writes.

Every write makes one file. Spark's committer gives the file its final name only when the file is complete. A table is
therefore either complete or absent, and the blocks of a wave are either all there or all absent.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from epochfuzz.harness.campaign.spark import versions
from epochfuzz.harness.campaign.store.errors import CampaignError, sentence
from epochfuzz.harness.campaign.store.location import absolute, on_this_machine

_PATTERN_CHARACTERS = frozenset("*?[]{}\\")
# Spark's error conditions for absent tables. A table that was never written has no path. An empty table has no file
# from which Spark could infer columns.
_NOTHING_THERE = ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")
_PATIENCE = 30.0  # seconds in which a file system must respond, because Hadoop's clients retry for many minutes
_NO_CONNECTOR = ("No FileSystem for scheme", "FileSystem not found")  # parts of Hadoop's messages


class CampaignDirectory:
    """Reads and writes the tables of a campaign with Spark.

    The constructor raises CampaignError if the URI has a character that Spark reads as part of a pattern, such as `*`.
    """

    def __init__(self, spark: SparkSession, uri: str) -> None:
        if _PATTERN_CHARACTERS & set(uri):
            raise CampaignError(
                f"{uri} must not contain {' '.join(sorted(_PATTERN_CHARACTERS))}, because Spark reads them as"
                " patterns; choose another name"
            )
        self.spark = spark
        self.uri = absolute(uri)
        self._has_responded = self.local is not None

    @property
    def local(self) -> Path | None:
        """The path of the directory, or None if it is not on this machine."""
        return None if versions.is_remote() else on_this_machine(self.uri)

    def path(self, *names: str) -> str:
        """Return the URI of a file or table in the directory."""
        return "/".join((self.uri.rstrip("/"), *names))

    def read(self, table: str, schema: pa.Schema) -> DataFrame | None:
        """Return a table as a DataFrame, or None if it was never written."""
        try:
            with self._complaining("read"):
                rows = self._reader().schema(from_arrow_schema(schema)).parquet(self.path(table))
                rows.schema  # noqa: B018 - makes Spark Connect look up the path now instead of at the first read
        except AnalysisException:
            return None
        return rows

    def has(self, table: str) -> bool:
        """Return whether a table exists and has at least one row."""
        return bool(self.read_rows_as_they_are(table, most=1))

    def read_rows_as_they_are(self, table: str, most: int | None = None) -> list[dict[str, Any]]:
        """Return the rows of a small table with the columns of its file. `most` limits the number of rows.

        The list is empty if the table is absent.
        """
        try:
            with self._complaining("read"):
                rows = self._reader().parquet(self.path(table))
                return list(versions.to_arrow(rows if most is None else rows.limit(most)).to_pylist())
        except AnalysisException:
            return []

    def read_rows(self, table: str, schema: pa.Schema) -> list[dict[str, Any]]:
        """Return the rows of a small table with the columns of a schema. The list is empty if the table is absent."""
        rows = self.read(table, schema)
        return [] if rows is None else versions.to_arrow(rows).to_pylist()

    def write(self, rows: DataFrame, *table: str) -> None:
        """Compute rows on all cores, and write them into one file. Replaces a file that a killed driver left."""
        rows.repartition(1).write.mode("overwrite").parquet(self.path(*table))

    def write_rows(self, rows: list[dict[str, Any]], schema: pa.Schema, *table: str) -> None:
        """Write rows that this process has in memory into one file."""
        at_hand = versions.from_arrow(self.spark, pa.Table.from_pylist(rows, schema))
        with self._complaining("written"):
            at_hand.coalesce(1).write.mode("overwrite").parquet(self.path(*table))

    @contextmanager
    def _complaining(self, what: str) -> Iterator[None]:
        """Turn an error of Spark in the with statement into a CampaignError that names the directory.

        An error about an absent table is raised unchanged. `what` is a participle for the message, such as `read`.
        """
        try:
            yield
        except (PySparkException, Py4JError) as error:
            if isinstance(error, AnalysisException) and versions.condition(error) in _NOTHING_THERE:
                raise
            reason = sentence(str(error))
            if any(part in reason for part in _NO_CONNECTOR):
                reason = f"Spark has no connector for it ({reason}); add one with spark.jars.packages"
            raise CampaignError(f"{self.uri} cannot be {what}: {reason}") from None

    def _reader(self) -> DataFrameReader:
        """Wait until the file system responds, and return Spark's reader.

        Raises CampaignError if the file system does not respond in time, and AnalysisException for other problems.
        """
        if self._has_responded:
            return self.spark.read
        responded: Future[None] = Future()

        def look() -> None:
            try:
                self.spark.read.schema("engine string").parquet(self.uri).schema  # noqa: B018 - looks up the path
                responded.set_result(None)
            except Exception as error:
                responded.set_exception(error)

        threading.Thread(target=look, daemon=True).start()  # it may never end
        try:
            responded.result(_PATIENCE)
        except TimeoutError:
            raise CampaignError(
                f"{self.uri} did not respond within {_PATIENCE:g} s; check the address and the network, or choose"
                " another directory"
            ) from None
        except AnalysisException as error:
            if versions.condition(error) not in _NOTHING_THERE:
                raise
        self._has_responded = True
        return self.spark.read
