"""The tables of finished blocks and of waves (groups of blocks that are written at once).

A row of a block has the columns of the job (Job.BLOCKS), and columns that every job has.
"""

import hashlib
import json
import os
import platform
from typing import Any

import pyarrow as pa

from epochfuzz.harness.campaign.run.job import Job
from epochfuzz.harness.environment.memory import most_memory

WAVES = pa.schema(
    {
        "schedules": pa.int64(),  # number of schedules that ran in this wave
        "seconds": pa.float64(),  # since the end of the previous wave, or since the workers were ready
    }
)
SAMPLED = 64  # every 64th block runs twice, beginning with block 0

OF_EVERY_KIND = (
    pa.field("block_number", pa.int64()),  # number of the block
    pa.field("counts", pa.map_(pa.string(), pa.int64())),  # Job.counts, without zeros
    pa.field("digest", pa.string()),  # digest of Job.compared; if two runs differ, no result can be trusted
    pa.field("again", pa.bool_()),  # whether this was a second run, to compare the results
    pa.field("worker", pa.string()),  # host and process that ran it
    pa.field("memory", pa.int64()),  # peak memory of that process up to the end of the block, in bytes
    pa.field("campaign", pa.string()),  # Job.campaign, which identifies the block's campaign
)


def schema(work: type[Job[Any]] | Job[Any]) -> pa.Schema:
    """Return the schema of the table of blocks for a job."""
    return pa.schema([*work.BLOCKS, *OF_EVERY_KIND])


def row(work: Job[Any], number: int, again: bool) -> dict[str, Any]:
    """Run a block, and return its row for the table of blocks. `again` marks a second run."""
    result = work.block(number)
    counts = [(name, int(count)) for name, count in work.counts(result).items() if count]
    return result | {
        "block_number": number,
        "counts": counts,
        "digest": _digest(work.compared(result)),
        "again": again,
        "worker": f"{platform.node()}/{os.getpid()}",
        "memory": most_memory(),
        "campaign": work.campaign,
    }


def _digest(result: Any) -> str:
    return hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()[:16]
