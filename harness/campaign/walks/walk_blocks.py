"""Blocks of walks and machines: a row for each, which is all that is kept of the schedules in it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.machines.own import MachineFailure
from epochfuzz.harness.engine.coverage.coverage import Coverage
from epochfuzz.harness.engine.walk.walk import KEPT, Tally
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary import goals
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_SHORTEST = pa.struct(
    {
        "length": pa.int64(),  # applied events until it broke
        "schedule": pa.int64(),  # the number of the schedule
    }
)
_FAILURE = pa.struct(
    {
        "property": pa.string(),
        "kind": pa.int32(),  # event and role of its replica where it broke first, see situations.kind_of
        "schedules": pa.int64(),  # how many broke it in this way
        "shortest": pa.list_(_SHORTEST),  # the shortest few of them, the shortest first
    }
)
_MET = pa.struct(
    {
        "situation": pa.int32(),  # see situations.describe; the table of situations has it in words
        "schedules": pa.int64(),  # how many met it
        "first": pa.int64(),  # the number of the first of them
    }
)
_RESULT = pa.struct(
    {
        "protocol": pa.string(),
        "events": pa.int64(),  # applied, and checked after each one
        "seen": pa.map_(pa.string(), pa.int64()),  # property: how many schedules broke it, where any did
        "goals": pa.map_(pa.string(), pa.int64()),  # goal: how many schedules met it, where any did
        "failures": pa.list_(_FAILURE),
        "met": pa.list_(_MET),
    }
)
_ERROR = pa.struct(
    {
        "error": pa.string(),  # the class of the exception
        "message": pa.string(),  # what it says, cut where that is long
        "steps": pa.list_(pa.string()),  # of the machine, as Hypothesis has them
        "schedule": pa.int64(),  # the number of the run
    }
)
_NO_KIND = 0

SCHEMA = pa.schema(
    {
        "first": pa.int64(),  # the number of the block's first schedule
        "schedules": pa.int64(),  # how many it has
        "results": pa.list_(_RESULT),  # one for each protocol, in the order of the parameters
        "steps": pa.int64(),  # that a machine of the user's own took; 0 otherwise
        "errors": pa.list_(_ERROR),  # how it failed
    }
)


def row(first: int, tally: Tally, protocols: Sequence[Protocol]) -> dict[str, Any]:
    """Return the row of the block that begins with schedule `first`."""
    results = [_result(protocol.name, index, tally) for index, protocol in enumerate(protocols)]
    return {"first": first, "schedules": tally.schedules, "results": results, "steps": 0, "errors": []}


def machine_row(first: int, count: int, steps: int, failures: Sequence[MachineFailure]) -> dict[str, Any]:
    """Return the row of a block of runs of a machine of the user's own."""
    errors = [asdict(failure) for failure in failures]
    return {"first": first, "schedules": count, "results": [], "steps": steps, "errors": errors}


def _result(protocol: str, index: int, tally: Tally) -> dict[str, Any]:
    return {
        "protocol": protocol,
        "events": int(tally.events[index]),
        "seen": _nonzero(properties.NAMES, tally.seen[index]),
        "goals": _nonzero(goals.NAMES, tally.goals[index]),
        "failures": list(_failures(index, tally)),
        "met": [
            {"situation": number, "schedules": count, "first": first}
            for number, count, first in tally.met[index].rows()
        ],
    }


def _failures(index: int, tally: Tally) -> Iterator[dict[str, Any]]:
    for bit, kind in np.argwhere(tally.failures[index]).tolist():
        yield {
            "property": properties.NAMES[bit],
            "kind": kind,
            "schedules": int(tally.failures[index, bit, kind]),
            "shortest": [asdict(failure) for failure in tally.kept(index, bit, kind)],
        }


def _nonzero(names: Sequence[str], counts: np.ndarray) -> list[tuple[str, int]]:
    return [(name, int(count)) for name, count in zip(names, counts, strict=True) if count]


def total(blocks: DataFrame | None, protocols: Sequence[Protocol]) -> Tally:
    """Return the tally of all blocks.

    Spark adds up; what reaches this process does not grow with the number of blocks.
    """
    tally = counted(blocks, protocols)
    if blocks is None:
        return tally
    index = {protocol.name: i for i, protocol in enumerate(protocols)}
    for each in _rows(_shortest(blocks)):
        bit = properties.named(each["property"]).number
        tally.shortest[index[each["protocol"]], bit, each["kind"], each["rank"] - 1] = each["length"], each["schedule"]
    tally.met = coverage(blocks, protocols)
    return tally


def counted(blocks: DataFrame | None, protocols: Sequence[Protocol]) -> Tally:
    """Return the counters of the tally of all blocks, without situations and without the shortest failures."""
    tally = Tally.empty(KAFKA, len(protocols))
    if blocks is None:
        return tally
    index = {protocol.name: i for i, protocol in enumerate(protocols)}
    for each in _rows(_counts(blocks)):
        protocol, name, kind, count = index.get(each["protocol"], 0), each["name"], each["kind"], each["count"]
        if each["counted"] == "schedules":
            tally.schedules = count
        elif each["counted"] == "events":
            tally.events[protocol] = count
        elif each["counted"] == "goals":
            tally.goals[protocol, goals.NAMES.index(name)] = count
        else:
            tally.failures[protocol, properties.named(name).number, kind] = count
    return tally


def _counts(blocks: DataFrame) -> DataFrame:
    """Return the counters of all blocks: what is counted, under which protocol, of which name and
    kind, and the count.
    """
    goals_met = F.transform(F.map_entries("goals"), lambda goal: _count("goals", goal["key"], _NO_KIND, goal["value"]))
    failures = F.transform(
        "failures", lambda failure: _count("failures", failure["property"], failure["kind"], failure["schedules"])
    )
    events = F.array(_count("events", F.lit(""), _NO_KIND, F.col("events")))
    by_protocol = blocks.select(F.inline("results")).select("protocol", F.inline(F.concat(events, goals_met, failures)))
    schedules = F.array(_count("schedules", F.lit(""), _NO_KIND, F.col("schedules")))
    whole = blocks.select(F.lit("").alias("protocol"), F.inline(schedules))
    return whole.union(by_protocol).groupBy("counted", "protocol", "name", "kind").agg(F.sum("count").alias("count"))


def _count(counted: str, name: Column, kind: Column | int, count: Column) -> Column:
    number = F.lit(kind) if isinstance(kind, int) else kind
    return F.struct(
        F.lit(counted).alias("counted"), name.alias("name"), number.cast("int").alias("kind"), count.alias("count")
    )


def coverage(blocks: DataFrame, protocols: Sequence[Protocol]) -> list[Coverage]:
    """Return what all blocks met, for each protocol."""
    met = blocks.select(F.inline("results")).select("protocol", F.inline("met")).groupBy("protocol", "situation")
    table = met.agg(F.sum("schedules").alias("schedules"), F.min("first").alias("first")).toArrow().sort_by("situation")
    covered = []
    for protocol in protocols:
        rows = table.filter(pc.equal(table["protocol"], protocol.name))
        columns = (rows[name].to_numpy() for name in ("situation", "schedules", "first"))
        covered.append(Coverage(*(column.astype(np.int64) for column in columns)))
    return covered


def _rows(rows: DataFrame) -> list[dict[str, Any]]:
    return list(rows.toArrow().to_pylist())


def _shortest(blocks: DataFrame) -> DataFrame:
    """Return the KEPT shortest failures of each protocol, property and kind, ranked from 1 as a Tally ranks them."""
    failures = blocks.select(F.inline("results")).select("protocol", F.inline("failures"))
    flat = failures.select("protocol", "property", "kind", F.inline("shortest"))
    shortest_first = Window.partitionBy("protocol", "property", "kind").orderBy("length", "schedule")
    return flat.withColumn("rank", F.row_number().over(shortest_first)).where(F.col("rank") <= KEPT)


def errors(blocks: DataFrame) -> list[dict[str, Any]]:
    """Each error of a machine of the user's own once: the run with the fewest steps, and how many runs it ended."""
    flat = blocks.select(F.inline("errors")).withColumn("length", F.size("steps"))
    soonest = Window.partitionBy("error").orderBy("length", "schedule")
    everywhere = Window.partitionBy("error")
    ranked = flat.withColumn("rank", F.row_number().over(soonest)).withColumn("seen", F.count("error").over(everywhere))
    return _rows(ranked.where("rank = 1").drop("rank").orderBy("error"))


def steps(blocks: DataFrame | None) -> int:
    """How many steps a machine of the user's own took."""
    return 0 if blocks is None else blocks.agg(F.coalesce(F.sum("steps"), F.lit(0))).collect()[0][0]
