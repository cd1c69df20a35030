"""The tasks of conformance beside its blocks: shrinking, by processes of the subject where the worker is."""

from typing import Any

import pyarrow as pa

from epochfuzz.harness.campaign.conformance import rows
from epochfuzz.harness.campaign.conformance.conformance_work import Trials
from epochfuzz.harness.campaign.spark.worker import Batches, each, work
from epochfuzz.harness.conform.run.nonconformity import nonconformity
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol


def shrink_sightings(argument: dict[str, Any], numbers: Batches) -> Batches:
    """Confirm and shrink the failed trials numbered; a row of rows.NONCONFORMITIES for each."""
    asked = work(argument["work"])
    assert isinstance(asked, Trials)
    protocol = parse_protocol(argument["protocol"])
    for number in each(numbers):
        failed, seen = argument["failed"][number]
        row = rows.nonconformity_row(nonconformity(asked.plan, protocol, rows.failed(failed, asked.plan), seen))
        yield pa.RecordBatch.from_pylist([row], schema=rows.NONCONFORMITIES)
