"""The tasks of conformance beside its blocks: shrinking, by processes of the subject where the worker is."""

from typing import Any

import pyarrow as pa

from epochfuzz.harness.campaign.conformance import rows
from epochfuzz.harness.campaign.conformance.work import Conformance
from epochfuzz.harness.campaign.worker import Batches, each, work
from epochfuzz.harness.conform.finding import finding
from epochfuzz.model.protocols import parse_protocol


def shrink_failures(argument: dict[str, Any], numbers: Batches) -> Batches:
    """Confirm and shrink the failures numbered; a row of rows.FINDINGS for each."""
    asked = work(argument["work"])
    assert isinstance(asked, Conformance)
    protocol = parse_protocol(argument["protocol"])
    for number in each(numbers):
        failure, seen = argument["failures"][number]
        row = rows.finding_row(finding(asked.plan, protocol, rows.failed(failure, asked.plan), seen))
        yield pa.RecordBatch.from_pylist([row], schema=rows.FINDINGS)
