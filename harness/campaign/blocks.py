"""Blocks: one row for each finished block of schedules, which is all that is kept of the schedules in it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from harness.engine.walk import KEPT, Tally
from model import goals, properties
from model.protocols import Protocol

_FAILURE = pa.struct(
    {
        "property": pa.string(),
        "length": pa.int64(),  # applied events until it broke
        "schedule": pa.int64(),  # the number of the schedule
    }
)
_RESULT = pa.struct(
    {
        "protocol": pa.string(),
        "events": pa.int64(),  # applied, and checked after each one
        "seen": pa.map_(pa.string(), pa.int64()),  # property: how many schedules broke it, where any did
        "goals": pa.map_(pa.string(), pa.int64()),  # goal: how many schedules met it, where any did
        "failures": pa.list_(_FAILURE),  # the shortest few of each property, the shortest first
    }
)
SCHEMA = pa.schema(
    {
        "first": pa.int64(),  # the number of the block's first schedule
        "schedules": pa.int64(),  # how many it has
        "results": pa.list_(_RESULT),  # one for each protocol, in the order of the parameters
    }
)


def row(first: int, tally: Tally, protocols: Sequence[Protocol]) -> dict[str, Any]:
    """The row of the block that begins with schedule `first`."""
    results = [_result(protocol.name, index, tally) for index, protocol in enumerate(protocols)]
    return {"first": first, "schedules": tally.schedules, "results": results}


def _result(protocol: str, index: int, tally: Tally) -> dict[str, Any]:
    return {
        "protocol": protocol,
        "events": int(tally.events[index]),
        "seen": _nonzero(properties.PROPERTIES, tally.seen[index]),
        "goals": _nonzero(goals.NAMES, tally.goals[index]),
        "failures": [
            {"property": name, "length": failure.length, "schedule": failure.schedule}
            for bit, name in enumerate(properties.PROPERTIES)
            for failure in tally.failures(index, bit)
        ],
    }


def _nonzero(names: Sequence[str], counts: np.ndarray) -> list[tuple[str, int]]:
    return [(name, int(count)) for name, count in zip(names, counts, strict=True) if count]


def total(blocks: DataFrame | None, protocols: Sequence[Protocol]) -> Tally:
    """The tally of all blocks. Spark adds up; what reaches this process does not grow with the number of blocks."""
    tally = Tally.empty(len(protocols))
    if blocks is None:
        return tally
    index = {protocol.name: i for i, protocol in enumerate(protocols)}
    arrays = {"events": (tally.events[:, None], [""]), "seen": (tally.seen, properties.PROPERTIES)}
    arrays["goals"] = (tally.goals, goals.NAMES)
    tally.schedules = blocks.agg(F.coalesce(F.sum("schedules"), F.lit(0))).collect()[0][0]
    for counted in _counts(blocks).toArrow().to_pylist():
        array, names = arrays[counted["kind"]]
        array[index[counted["protocol"]], names.index(counted["name"])] = counted["count"]
    for failure in _shortest(blocks).toArrow().to_pylist():
        place = index[failure["protocol"]], properties.PROPERTIES.index(failure["property"]), failure["rank"] - 1
        tally.shortest[place] = failure["length"], failure["schedule"]
    return tally


def _counts(blocks: DataFrame) -> DataFrame:
    """The counters of all blocks: protocol, kind of counter, name, count."""

    def named(kind: str) -> Column:
        return F.transform(F.map_entries(kind), lambda entry: _count(kind, entry["key"], entry["value"]))

    counts = F.concat(F.array(_count("events", F.lit(""), F.col("events"))), named("seen"), named("goals"))
    flat = blocks.select(F.inline("results")).select("protocol", F.inline(counts))
    return flat.groupBy("protocol", "kind", "name").agg(F.sum("count").alias("count"))


def _count(kind: str, name: Column, count: Column) -> Column:
    return F.struct(F.lit(kind).alias("kind"), name.alias("name"), count.alias("count"))


def _shortest(blocks: DataFrame) -> DataFrame:
    """The KEPT shortest failures of each protocol and property, ranked from 1 as a Tally ranks them."""
    failures = blocks.select(F.inline("results")).select("protocol", F.inline("failures"))
    shortest_first = Window.partitionBy("protocol", "property").orderBy("length", "schedule")
    return failures.withColumn("rank", F.row_number().over(shortest_first)).where(F.col("rank") <= KEPT)
