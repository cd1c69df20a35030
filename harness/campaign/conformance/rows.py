"""The schemas of a conformance campaign's tables, and conversions between results and table rows."""

import json
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from epochfuzz.harness.conform.exhaustive.tour_block import TourResult
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.run.block import FailedTrial
from epochfuzz.harness.conform.run.block_rows import block_row, failed, failed_row, result_fields
from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

_NUMBERS = ("played", "differing", "bound")  # the columns of TOURS that hold transition numbers
_COUNTS = pa.map_(pa.string(), pa.int64())
FAILED = pa.struct(
    {
        "schedule": pa.int64(),  # number of the schedule; null for a case or a test sequence
        "case": pa.string(),  # id of the case; null for a schedule or a test sequence
        "tour": pa.int64(),  # number of the test sequence; null for a schedule or a case
        "kind": pa.string(),
        "field": pa.string(),  # field that differs, or property that broke; null if there was no response to check
        "expected": pa.string(),  # JSON
        "observed": pa.string(),  # JSON
        "output": pa.string(),  # end of the output of the system under test
        "events": pa.list_(pa.string()),  # events sent until the failure
    }
)
BLOCKS = pa.schema(
    {
        "protocol": pa.string(),
        "number": pa.int64(),  # number of the block under its protocol, from 0
        "schedules": pa.int64(),  # random schedules that ran
        "cases": pa.int64(),
        "steps": pa.int64(),  # events that were sent, answered and checked
        "applied": _COUNTS,  # by verb: events that the system under test applied
        "fields": _COUNTS,  # by field: number of observations with the field
        "met": _COUNTS,  # by kind and name of a coverage point: times that it was met; null in older campaigns
        "failed": pa.list_(FAILED),
        "unable": pa.map_(pa.string(), pa.string()),  # by case: the reason why the system under test could not run it
        "unexpected": pa.int64(),  # number of schedules that failed because of no known bug
        "unjudged": pa.int64(),  # number of schedules without responses to check
        "given_up": pa.bool_(),  # the block stopped early, because too many of its schedules had no responses
    }
)
TOURS = pa.schema(
    [
        *BLOCKS,
        pa.field("played", pa.list_(pa.int32())),  # numbers of transitions
        pa.field("differing", pa.list_(pa.int32())),  # transitions where a test sequence could not continue as planned
        pa.field("bound", pa.list_(pa.int32())),  # transitions that only a bound of the run forbids
    ]
)
SUBJECT = pa.schema(
    {
        "events": pa.list_(pa.string()),  # events that the system under test has; null if it gave no response
        "failed": FAILED,  # the failure, if there was no response
        "transitions": pa.int64(),  # number of transitions that these events can reach
    }
)
_ANSWER = pa.struct({"applied": pa.bool_(), "observation": pa.string()})  # observation is JSON
NONCONFORMITIES = pa.schema(
    {
        "protocol": pa.string(),
        "failure": FAILED,  # with the shortest schedule found
        "configuration": pa.string(),  # JSON: the configuration in which the failure was confirmed
        "answers": pa.list_(_ANSWER),  # responses to the events
        "shrunk_from": pa.int64(),  # number of events before shrinking
        "seen": pa.int64(),  # number of schedules with the same failure
        "known_flaw": pa.string(),  # reason why the failure was expected; null if it was not expected
    }
)


def tours_row(protocol: str, number: int, result: TourResult) -> dict[str, Any]:
    """Return the results of a block of test sequences as a row of TOURS."""
    numbers: dict[str, Any] = {name: sorted(getattr(result, name)) for name in _NUMBERS}
    return block_row(protocol, number, result) | numbers


def tours_result(row: dict[str, Any], plan: Plan) -> TourResult:
    """Return the results of a block of test sequences from a row of TOURS."""
    numbers: dict[str, Any] = {name: set(row[name]) for name in _NUMBERS}
    return TourResult(**result_fields(row, plan), **numbers)


def nonconformity_row(nonconformity: ConformanceFinding) -> dict[str, Any]:
    """Return a finding as a row of NONCONFORMITIES."""
    return {
        "protocol": nonconformity.protocol.name,
        "failure": failed_row(FailedTrial(nonconformity.trial, nonconformity.sighting)),
        "configuration": json.dumps(asdict(nonconformity.trial.settings)),
        "answers": [{"applied": applied, "observation": json.dumps(seen)} for applied, seen in nonconformity.answers],
        "shrunk_from": nonconformity.shrunk_from,
        "seen": nonconformity.seen,
        "known_flaw": nonconformity.known_flaw,
    }


def nonconformity(row: dict[str, Any], plan: Plan) -> ConformanceFinding:
    """Return the finding in a row of NONCONFORMITIES."""
    one = failed(row["failure"], plan)
    return ConformanceFinding(
        protocol=parse_protocol(row["protocol"]),
        sighting=one.sighting,
        answers=[(answer["applied"], wire.parse_observation(answer["observation"])) for answer in row["answers"]],
        trial=one.trial.under(Configuration(**json.loads(row["configuration"]))),
        shrunk_from=row["shrunk_from"],
        seen=row["seen"],
        known_flaw=row["known_flaw"],
    )
