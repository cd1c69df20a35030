"""The Spark task that shrinks findings by replay on the task's own Kafka cluster."""

from typing import Any

import pyarrow as pa

from epochfuzz.harness.campaign.clusters import plays
from epochfuzz.harness.campaign.clusters.cluster_job import Clusters
from epochfuzz.harness.campaign.run.worker import Batches, each, work


def shrink_sightings(argument: dict[str, Any], numbers: Batches) -> Batches:
    """Shrink the findings with the given numbers. Yields a row of plays.SHRUNK for each.

    `argument` has two keys: `work` is the text of the job, and `sightings` lists the findings, each with the number of
    schedules that showed it. `numbers` are indices of this list.
    """
    asked = work(argument["work"])
    assert isinstance(asked, Clusters)
    with asked.equipped():
        for number in each(numbers):
            played, seen = argument["sightings"][number]
            yield pa.RecordBatch.from_pylist([asked.block_player.shrunk(played, seen)], schema=plays.SHRUNK)
