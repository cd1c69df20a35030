"""The levels of an exhaustive search, as tables in its directory.

A level has the states at one distance from the initial state. The distance is a number of events. A level is complete
once its counts are written. A killed driver may have left parts of an incomplete level, which the next driver
overwrites.
"""

from dataclasses import asdict, dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.search import search_tasks
from epochfuzz.harness.campaign.search.expander import Keys
from epochfuzz.harness.campaign.spark.workers import Workers
from epochfuzz.harness.campaign.store.directory import CampaignDirectory
from epochfuzz.harness.findings.search_request import SearchRequest

# Number of hash partitions of the keys, for joins. Spark merges them into fewer tasks if there is little data.
_PARTS = "64"

COUNTED = pa.schema(
    {
        "level": pa.int64(),
        "states": pa.int64(),  # states that are on no earlier level
        "transitions": pa.int64(),  # number of transitions from the states of the previous level
        "broken": pa.bool_(),  # whether a transition breaks the property; if true, `states` is 0
        "seconds": pa.float64(),  # time that the level took
    }
)


@dataclass(frozen=True)
class LevelCount:
    """The counts of a level, as in a row of the table with the schema COUNTED.

    `transitions` counts the transitions from the level before. If one of these breaks the property, `broken` is True
    and `states` is 0.
    """

    level: int
    states: int
    transitions: int
    broken: bool
    seconds: float


class Levels:
    """Reads, computes and writes the levels of a search in its directory."""

    def __init__(self, directory: CampaignDirectory, asked: SearchRequest) -> None:
        self._directory, self._text = directory, asked.text()
        self._workers = Workers(directory.spark)
        directory.spark.conf.set("spark.sql.shuffle.partitions", _PARTS)

    def noted(self) -> list[LevelCount]:
        """Return the counts of the complete levels, from level 0 on."""
        rows = self._directory.read_rows("counted", COUNTED)
        return sorted((LevelCount(**row) for row in rows), key=lambda each: each.level)

    def note(self, counted: LevelCount) -> None:
        """Write the counts of a level, which marks it as complete."""
        self._directory.write_rows([asdict(counted)], COUNTED, "counted", f"level={counted.level}")

    def begin(self, keys: Keys) -> None:
        """Write level 0: the keys of the initial states."""
        rows = [{"key": key.tobytes()} for key in keys]
        self._directory.write_rows(rows, search_tasks.KEYS, *_place(0))

    def expand(self, level: int) -> tuple[int, bool]:
        """Write the successors of a level's states.

        Returns the number of transitions, and whether a transition breaks the property.
        """
        self._write(self._mapped("expand", level, search_tasks.SUCCESSORS), "successors")
        counted = self._read("successors", schema=search_tasks.SUCCESSORS)
        transitions, broken = counted.agg(F.sum("applied"), F.max("broken")).collect()[0]
        return transitions or 0, bool(broken)

    def add(self, level: int) -> int:
        """Write a new level: the successors that no earlier level has. Returns the number of its states."""
        before = self._read("levels").where(F.col("level") < level)
        successors = self._read("successors", schema=search_tasks.SUCCESSORS).select("key").distinct()
        self._write(successors.join(before, "key", "left_anti"), *_place(level))
        return self._read(*_place(level)).count()

    def breaking(self, level: int) -> None:
        """Write the first rows of the table `leading`: states of `level` with an event that breaks the property."""
        self._write(self._mapped("breaking", level, search_tasks.KEYS), "leading", f"level={level}")

    def leading(self, level: int) -> None:
        """Add to the table `leading` those states of a level that lead to a violation.

        A state leads to a violation if it has an event to a state of the next level, and `leading` already has that
        state.
        """
        onwards = self._read("leading", f"level={level + 1}")
        edges = self._mapped("edges", level, search_tasks.EDGES)
        parents = edges.join(onwards, "key", "left_semi").select(F.col("parent").alias("key")).distinct()
        self._write(parents, "leading", f"level={level}")

    def leads(self, level: int, keys: Keys) -> set[bytes]:
        """Return those of `keys` that the table `leading` has for `level`: keys of states that lead to a violation."""
        wanted = [key.tobytes() for key in keys]
        found = self._read("leading", f"level={level}").where(F.col("key").isin(wanted)).collect()
        return {bytes(row["key"]) for row in found}

    def _mapped(self, task: str, level: int, schema: pa.Schema) -> DataFrame:
        """Run a task of search_tasks.py on the states of a level, and return its rows."""
        return self._workers.map(self._read(*_place(level)), f"{search_tasks.__name__}:{task}", self._text, schema)

    def _read(self, *table: str, schema: pa.Schema = search_tasks.KEYS) -> DataFrame:
        rows = self._directory.read("/".join(table), schema)
        assert rows is not None, f"{'/'.join(table)} was written"
        return rows

    def _write(self, rows: DataFrame, *table: str) -> None:
        rows.write.mode("overwrite").parquet(self._directory.path(*table))


def _place(level: int) -> tuple[str, str]:
    return "levels", f"level={level}"
