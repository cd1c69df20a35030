"""Levels: the states of a search in its directory, by how many events it takes to reach them, and what each comes to.

A level counts once it is noted. What else there is of another, a killed driver has left, and it is written over.
"""

from dataclasses import asdict, dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.search import search_tasks
from epochfuzz.harness.campaign.search.expander import Keys
from epochfuzz.harness.campaign.spark.workers import Workers
from epochfuzz.harness.campaign.store.directory import Directory
from epochfuzz.harness.findings.asked import Asked

# Into how many parts keys are put by their hashes, for joins. Spark makes fewer tasks of them where there is little.
_PARTS = "64"

COUNTED = pa.schema(
    {
        "level": pa.int64(),
        "states": pa.int64(),  # that are on no level before
        "transitions": pa.int64(),  # from the states of the level before
        "broken": pa.bool_(),  # one of these breaks what is wanted; then nothing else of the level is known
        "seconds": pa.float64(),  # that all this took
    }
)


@dataclass(frozen=True)
class Counted:
    """What a level comes to, as a row of COUNTED."""

    level: int
    states: int
    transitions: int
    broken: bool
    seconds: float


class Levels:
    """The levels of a search, in its directory."""

    def __init__(self, directory: Directory, asked: Asked) -> None:
        self._directory, self._text = directory, asked.text()
        self._workers = Workers(directory.spark)
        directory.spark.conf.set("spark.sql.shuffle.partitions", _PARTS)

    def noted(self) -> list[Counted]:
        """Return the levels that are complete, from the first."""
        rows = self._directory.read_rows("counted", COUNTED)
        return sorted((Counted(**row) for row in rows), key=lambda each: each.level)

    def note(self, counted: Counted) -> None:
        """Note that a level is complete."""
        self._directory.write_rows([asdict(counted)], COUNTED, "counted", f"level={counted.level}")

    def begin(self, keys: Keys) -> None:
        """Write the first level."""
        rows = [{"key": key.tobytes()} for key in keys]
        self._directory.write_rows(rows, search_tasks.KEYS, *_place(0))

    def expand(self, level: int) -> tuple[int, bool]:
        """Write the successors of a level; how many events led to them, and whether one is broken."""
        self._write(self._mapped("expand", level, search_tasks.SUCCESSORS), "successors")
        counted = self._read("successors", schema=search_tasks.SUCCESSORS)
        transitions, broken = counted.agg(F.sum("applied"), F.max("broken")).collect()[0]
        return transitions or 0, bool(broken)

    def add(self, level: int) -> int:
        """Write as a level those of the successors that are on none before; how many there are."""
        before = self._read("levels").where(F.col("level") < level)
        successors = self._read("successors", schema=search_tasks.SUCCESSORS).select("key").distinct()
        self._write(successors.join(before, "key", "left_anti"), *_place(level))
        return self._read(*_place(level)).count()

    def breaking(self, level: int) -> None:
        """Write which states of a level have a broken successor."""
        self._write(self._mapped("breaking", level, search_tasks.KEYS), "leading", f"level={level}")

    def leading(self, level: int) -> None:
        """Write which states of a level lead on to those that were written of the next one."""
        onwards = self._read("leading", f"level={level + 1}")
        edges = self._mapped("edges", level, search_tasks.EDGES)
        parents = edges.join(onwards, "key", "left_semi").select(F.col("parent").alias("key")).distinct()
        self._write(parents, "leading", f"level={level}")

    def leads(self, level: int, keys: Keys) -> set[bytes]:
        """Those of some keys that were written as leading on from a level."""
        wanted = [key.tobytes() for key in keys]
        found = self._read("leading", f"level={level}").where(F.col("key").isin(wanted)).collect()
        return {bytes(row["key"]) for row in found}

    def _mapped(self, task: str, level: int, schema: pa.Schema) -> DataFrame:
        """Return what a task answers to the states of a level."""
        return self._workers.map(self._read(*_place(level)), f"{search_tasks.__name__}:{task}", self._text, schema)

    def _read(self, *table: str, schema: pa.Schema = search_tasks.KEYS) -> DataFrame:
        rows = self._directory.read("/".join(table), schema)
        assert rows is not None, f"{'/'.join(table)} was written"
        return rows

    def _write(self, rows: DataFrame, *table: str) -> None:
        rows.write.mode("overwrite").parquet(self._directory.path(*table))


def _place(level: int) -> tuple[str, str]:
    return "levels", f"level={level}"
