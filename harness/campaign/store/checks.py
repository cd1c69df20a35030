"""Checks: some blocks are done twice, and have to come out the same, or nothing of the campaign can be trusted."""

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.run.work import Work

SAMPLED = 64  # one block in so many is done twice, the first of all among them
_NUMBER = "number of the block"


@dataclass(frozen=True)
class Checked:
    """How many blocks were done more than once, and how many of these by more than one process.

    `memory` is what any process had at the most, in bytes.
    """

    blocks: int
    elsewhere: int
    memory: int


def compare(written: DataFrame | None, work: Work[Any]) -> Checked:
    """Compare all that was written of each block. Where it differs, Work.refuse says what that means."""
    if written is None:
        return Checked(0, 0, 0)
    for number in differing(written, work)[:1]:
        work.refuse(number)
    twice, elsewhere, memory = (
        _by_number(written, work)
        .agg(F.count_if(F.col("times") > 1), F.count_if(F.col("workers") > 1), F.max("memory"))
        .collect()[0]
    )
    return Checked(twice, elsewhere, memory or 0)


def differing(written: DataFrame, work: Work[Any]) -> list[int]:
    """Return the numbers of blocks that came out otherwise the second time; results of all others need
    not even be read.
    """
    twice = _by_number(written, work).where("times > 1")
    numbered = written.withColumn(_NUMBER, work.number()).join(twice, _NUMBER, "left_semi")
    result = F.sha2(F.to_json(F.struct(*work.compared())), 256)
    results = numbered.groupBy(_NUMBER).agg(F.count_distinct(result).alias("results"))
    return sorted(row[0] for row in results.where("results > 1").select(_NUMBER).collect())


def _by_number(written: DataFrame, work: Work[Any]) -> DataFrame:
    """How often each block was done, by how many workers, and the memory that they had."""
    return written.groupBy(work.number().alias(_NUMBER)).agg(
        F.count("worker").alias("times"), F.count_distinct("worker").alias("workers"), F.max("memory").alias("memory")
    )
