"""Checks: some blocks are walked twice, and have to come out the same, or nothing of the campaign can be trusted."""

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.errors import NonDeterminismError

SAMPLED = 64  # one block in so many is walked twice, the first of all among them


@dataclass(frozen=True)
class Checked:
    """How many blocks were walked more than once, and how many of these by more than one process.

    `memory` is what any process had at the most, in bytes.
    """

    blocks: int
    elsewhere: int
    memory: int


def compare(written: DataFrame | None) -> Checked:
    """Compare all that was written of each block. Raises NonDeterminismError where it differs."""
    if written is None:
        return Checked(0, 0, 0)
    blocks = written.groupBy("first").agg(
        F.count("first").alias("times"), F.count_distinct("worker").alias("workers"), F.max("memory").alias("memory")
    )
    _refuse_differences(written.join(blocks.where("times > 1"), "first", "left_semi"))
    twice, elsewhere, memory = blocks.agg(
        F.count_if(F.col("times") > 1), F.count_if(F.col("workers") > 1), F.max("memory")
    ).collect()[0]
    return Checked(twice, elsewhere, memory or 0)


def _refuse_differences(twice: DataFrame) -> None:
    """Compare the results of blocks that were written more than once; those of all others need not even be read."""
    result = F.sha2(F.to_json(F.struct("schedules", "results", "steps", "errors")), 256)
    blocks = twice.groupBy("first").agg(F.count_distinct(result).alias("results"))
    differing = blocks.where("results > 1").agg(F.min("first")).collect()[0][0]
    if differing is not None:
        raise NonDeterminismError(
            f"the block that begins with schedule {differing} was walked more than once, with different results:"
            " some worker cannot be trusted, or epochfuzz cannot"
        )
