"""The table of finished blocks. A row has the columns of the job (Job.BLOCKS), and columns about the block's run."""

import os
import platform
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.run.job import Job
from epochfuzz.harness.campaign.store.directory import CampaignDirectory
from epochfuzz.harness.campaign.store.identity import refuse_foreign_to
from epochfuzz.harness.environment.memory import most_memory

_OF_EVERY_KIND = (
    pa.field("again", pa.bool_()),  # whether this was a second run, to compare the results
    pa.field("worker", pa.string()),  # host and process that ran it
    pa.field("memory", pa.int64()),  # peak memory of that process up to the end of the block, in bytes
    pa.field("campaign", pa.string()),  # Job.campaign, which identifies the block's campaign
)
_NUMBER = "number of the block"


def schema(work: type[Job[Any]] | Job[Any]) -> pa.Schema:
    """Return the schema of the table of blocks for a job."""
    return pa.schema([*work.BLOCKS, *_OF_EVERY_KIND])


def row(work: Job[Any], number: int, again: bool) -> dict[str, Any]:
    """Run a block, and return its row for the table of blocks. `again` marks a second run."""
    return work.block(number) | {
        "again": again,
        "worker": f"{platform.node()}/{os.getpid()}",
        "memory": most_memory(),
        "campaign": work.campaign,
    }


def written(directory: CampaignDirectory, work: Job[Any]) -> DataFrame | None:
    """Return all rows of the table of blocks, with second runs. None if no block was written yet."""
    return directory.read("blocks", schema(work))


def finished(directory: CampaignDirectory, work: Job[Any]) -> DataFrame | None:
    """Return the rows of finished blocks, each block once. None if no block was written yet."""
    rows = written(directory, work)
    if rows is None:
        return None
    return rows.where("not again").withColumn(_NUMBER, work.number()).dropDuplicates([_NUMBER]).drop(_NUMBER)


def refuse_foreign(directory: CampaignDirectory, work: Job[Any]) -> None:
    """Raise CampaignError if the directory holds blocks of another campaign.

    A block without the name of a campaign comes from an older version, and is accepted.
    """
    rows = written(directory, work)
    foreign = None if rows is None else rows.where(F.col("campaign") != work.campaign).select("campaign").head()
    if foreign is not None:
        refuse_foreign_to(directory, work, foreign)
