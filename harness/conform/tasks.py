"""The work of Spark's Python workers for a run of conformance: each starts the command of the subject where it is."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from epochfuzz.harness.conform import rows
from epochfuzz.harness.conform.block import run_block
from epochfuzz.harness.conform.nonconformity import nonconformity
from epochfuzz.harness.conform.plan import Plan
from epochfuzz.model.protocols import parse_protocol

Batches = Iterator[pa.RecordBatch]

# Their names, for campaign/workers.py.
RUN_BLOCKS = f"{__name__}:run_blocks"
SHRINK_SIGHTINGS = f"{__name__}:shrink_sightings"


def run_blocks(argument: dict[str, Any], numbers: Batches) -> Batches:
    """Run the blocks numbered; a row of rows.BLOCKS for each. Raises SubjectUnable and CommandError."""
    plan, protocol = Plan.from_document(argument["plan"]), parse_protocol(argument["protocol"])
    for number in _each(numbers):
        row = rows.block_row(protocol.name, number, run_block(plan.block_of(protocol, number)))
        yield pa.RecordBatch.from_pylist([row], schema=rows.BLOCKS)


def shrink_sightings(argument: dict[str, Any], numbers: Batches) -> Batches:
    """Confirm and shrink the failed trials numbered; a row of rows.NONCONFORMITIES for each."""
    plan, protocol = Plan.from_document(argument["plan"]), parse_protocol(argument["protocol"])
    for number in _each(numbers):
        failed, seen = argument["failed"][number]
        row = rows.nonconformity_row(nonconformity(plan, protocol, rows.failed(failed, plan), seen))
        yield pa.RecordBatch.from_pylist([row], schema=rows.NONCONFORMITIES)


def _each(numbers: Batches) -> Iterator[int]:
    for batch in numbers:
        yield from batch.column(0).to_pylist()
