"""Spark tasks of random runs and state machines: add up blocks, shrink and prove findings, search for situations."""

from typing import Any

import pyarrow as pa

from epochfuzz.harness.campaign.run.worker import Batches, each, work
from epochfuzz.harness.campaign.walks import coverage, findings, sums
from epochfuzz.harness.campaign.walks.schedules import Schedules
from epochfuzz.harness.campaign.walks.walk_job import ModelSchedules
from epochfuzz.harness.findings import findings as fuzz
from epochfuzz.harness.findings.unreached import reachable


def sum_blocks(text: str, rows: Batches) -> Batches:
    """Add up the block rows that this worker receives. Yields one row of sums.SUMS. `text` is the text of the job."""
    schedules = work(text)
    assert isinstance(schedules, Schedules)
    protocols = schedules.parameters.protocols
    whole = sums.summed((pa.Table.from_batches([batch]) for batch in rows), protocols)
    yield pa.RecordBatch.from_pylist([sums.sum_row(whole, protocols)], schema=sums.SUMS)


def shrink_breaches(argument: dict[str, Any], numbers: Batches) -> Batches:
    """Shrink the violations with the given numbers. Yields a row of findings.SHRUNK for each.

    `argument` has two keys: `work` is the text of the job, and `breaches` lists the violations. `numbers` are indices
    of this list.
    """
    walks = _walks(argument["work"])
    for number in each(numbers):
        breach = findings.breach_from_row(argument["breaches"][number])
        row = findings.row(fuzz.finding(walks.engine, breach, walks.CANDIDATES))
        yield pa.RecordBatch.from_pylist([row], schema=findings.SHRUNK)


def certify_findings(argument: dict[str, Any], numbers: Batches) -> Batches:
    """Try to prove, for each finding, that no shorter schedule exists. Yields the findings as rows of findings.SHRUNK.

    `argument` has three keys: `work` is the text of the job, `findings` lists the rows of the findings, and `seconds`
    is the time limit (None: no limit).
    """
    asked = _walks(argument["work"]).parameters
    for _ in each(numbers):
        found = [findings.from_row(row, asked) for row in argument["findings"]]
        rows = [findings.row(finding) for finding in fuzz.certified(found, argument["seconds"])]
        yield pa.RecordBatch.from_pylist(rows, schema=findings.SHRUNK)


def reach_situations(text: str, numbers: Batches) -> Batches:
    """Search for reachable situations under the protocols with the given numbers. Yields rows of coverage.REACHABLE.

    A row is a situation that an exhaustive search meets within small bounds. `text` is the text of the job.
    """
    asked = _walks(text).parameters
    for number in each(numbers):
        protocol = asked.protocols[number]
        within = sorted(reachable(protocol, asked.settings).situations)
        rows = [{"protocol": protocol.name, "situation": situation} for situation in within]
        yield pa.RecordBatch.from_pylist(rows, schema=coverage.REACHABLE)


def _walks(text: str) -> ModelSchedules:
    walks = work(text)
    assert isinstance(walks, ModelSchedules)
    return walks
