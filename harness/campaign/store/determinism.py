"""Compare the blocks that ran twice. If any result differs, none of the campaign's results can be trusted."""

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.run.job import Job
from epochfuzz.harness.documents.records import Checked

SAMPLED = 64  # every 64th block runs twice, beginning with block 0
_NUMBER = "number of the block"


def compare(written: DataFrame | None, work: Job[Any]) -> Checked:
    """Compare all results of each block that ran twice, and return numbers about the comparison.

    If the results of a block differ, the function calls Job.refuse, which raises an error for most kinds of job.
    """
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


def differing(written: DataFrame, work: Job[Any]) -> list[int]:
    """Return the numbers of the blocks that had different results in two runs.

    Results of blocks that ran once are not read.
    """
    twice = _by_number(written, work).where("times > 1")
    numbered = written.withColumn(_NUMBER, work.number()).join(twice, _NUMBER, "left_semi")
    result = F.sha2(F.to_json(F.struct(*work.compared())), 256)
    results = numbered.groupBy(_NUMBER).agg(F.count_distinct(result).alias("results"))
    return sorted(row[0] for row in results.where("results > 1").select(_NUMBER).collect())


def _by_number(written: DataFrame, work: Job[Any]) -> DataFrame:
    """Return a row for each block: how often it ran, in how many processes, and the peak memory of these processes."""
    return written.groupBy(work.number().alias(_NUMBER)).agg(
        F.count("worker").alias("times"), F.count_distinct("worker").alias("workers"), F.max("memory").alias("memory")
    )
