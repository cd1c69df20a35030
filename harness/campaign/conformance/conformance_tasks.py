"""Spark tasks that start the system under test: one shrinks failures, the other asks for the supported events."""

from dataclasses import replace
from typing import Any

import pyarrow as pa

from epochfuzz.harness.campaign.conformance import rows
from epochfuzz.harness.campaign.conformance.conformance_job import Trials
from epochfuzz.harness.campaign.conformance.tours_job import Tours
from epochfuzz.harness.campaign.run.worker import Batches, each, work
from epochfuzz.harness.conform.exhaustive.counts import counts
from epochfuzz.harness.conform.exhaustive.crew import no_answer, verbs_of
from epochfuzz.harness.conform.exhaustive.tour_progress import TourProgress
from epochfuzz.harness.conform.protocol.discrepancy import SubjectFailed
from epochfuzz.harness.conform.run import block_rows
from epochfuzz.harness.conform.run.conformance_finding import conformance_finding
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol


def shrink_sightings(argument: dict[str, Any], numbers: Batches) -> Batches:
    """Confirm and shrink the failures with the given numbers. Yields a row of rows.NONCONFORMITIES for each.

    `argument` has four keys: `work` is the text of the job, `protocol` is the name of a protocol, and `failed` lists
    the failures, each with the number of schedules that showed it. `numbers` are indices of this list. `seconds` limits
    the shrinking of a failure.
    """
    asked = work(argument["work"])
    assert isinstance(asked, Trials)
    protocol = parse_protocol(argument["protocol"])
    for number in each(numbers):
        row, seen = argument["failed"][number]
        one = replace(block_rows.failed(row, asked.plan), seen=seen)
        found = rows.nonconformity_row(conformance_finding(asked.plan, protocol, one, argument["seconds"]))
        yield pa.RecordBatch.from_pylist([found], schema=rows.NONCONFORMITIES)


def ask_subject(text: str, numbers: Batches) -> Batches:
    """Ask the system under test for the events that it supports. Yields a row of rows.SUBJECT.

    `text` is the text of the job. Raises SubjectUnable and CommandError.
    """
    asked = work(text)
    assert isinstance(asked, Tours)
    for _ in each(numbers):
        try:
            verbs = verbs_of(asked.plan, asked.protocol)
        except SubjectFailed as failed:
            (one,) = no_answer(asked.plan, asked.protocol, failed.fault).failed
            row: dict[str, Any] = {"events": None, "failed": block_rows.failed_row(one), "transitions": None}
        else:
            found = asked.graph_of(verbs)
            standing = TourProgress.of_none(found, asked.protocol)
            row = {"events": verbs, "failed": None, "transitions": counts(found, standing, refused=False).reachable}
        yield pa.RecordBatch.from_pylist([row], schema=rows.SUBJECT)
