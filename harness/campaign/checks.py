"""Checks: some blocks are walked twice, and have to come out the same, or nothing of the campaign can be trusted."""

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.campaign.errors import NonDeterminismError

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
    result = F.sha2(F.to_json(F.struct("schedules", "results", "steps", "errors")), 256)
    blocks = written.groupBy("first").agg(
        F.count("first").alias("times"),
        F.count_distinct("worker").alias("workers"),
        F.count_distinct(result).alias("results"),
        F.max("memory").alias("memory"),
    )
    differing, twice, elsewhere, memory = blocks.agg(
        F.min(F.when(F.col("results") > 1, F.col("first"))),
        F.count_if(F.col("times") > 1),
        F.count_if(F.col("workers") > 1),
        F.max("memory"),
    ).collect()[0]
    if differing is not None:
        raise NonDeterminismError(
            f"the block that begins with schedule {differing} was walked more than once, with different results:"
            " some worker cannot be trusted, or epochfuzz cannot"
        )
    return Checked(twice, elsewhere, memory or 0)
