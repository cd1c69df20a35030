"""Rows: what comes of blocks and of failures as plain data, which Spark carries and Parquet keeps."""

import json
from collections import Counter
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from epochfuzz.harness.conform.oracle.fault import Fault, Kind
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.run.block import BlockResult, Failed
from epochfuzz.harness.conform.run.drive import Shown, Sighting
from epochfuzz.harness.conform.run.nonconformity import Nonconformity
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

_COUNTS = pa.map_(pa.string(), pa.int64())
_FAILED = pa.struct(
    {
        "schedule": pa.int64(),  # its number; null for a case
        "case": pa.string(),  # its id; null for a schedule
        "kind": pa.string(),
        "field": pa.string(),  # that differs, or the property that broke; null where there was no answer to judge
        "expected": pa.string(),  # JSON
        "observed": pa.string(),  # JSON
        "output": pa.string(),  # the end of what the subject printed
        "events": pa.list_(pa.string()),  # sent up to there
    }
)
BLOCKS = pa.schema(
    {
        "protocol": pa.string(),
        "number": pa.int64(),  # of the block under its protocol, from 0
        "schedules": pa.int64(),  # drawn ones that were run
        "cases": pa.int64(),
        "steps": pa.int64(),  # events sent, answered and judged
        "applied": _COUNTS,  # by verb, events that the subject applied
        "fields": _COUNTS,  # by field, observations that showed it
        "failed": pa.list_(_FAILED),
        "unable": pa.map_(pa.string(), pa.string()),  # by case, why the subject could not run it
        "unexpected": pa.int64(),  # schedules that failed other than by a known flaw
        "unjudged": pa.int64(),  # schedules that gave no answers to judge
        "given_up": pa.bool_(),  # the last ones were not run, for there was too much of that
    }
)
_ANSWER = pa.struct({"applied": pa.bool_(), "observation": pa.string()})  # JSON
NONCONFORMITIES = pa.schema(
    {
        "protocol": pa.string(),
        "failure": _FAILED,  # on the shortest schedule found
        "configuration": pa.string(),  # JSON: that of a case, or what of it the failure needs
        "answers": pa.list_(_ANSWER),  # to each event
        "shrunk_from": pa.int64(),  # events
        "seen": pa.int64(),  # how many schedules failed alike
        "known_flaw": pa.string(),  # why it was to be expected; null where it was not
    }
)


def failed_row(failed: Failed) -> dict[str, Any]:
    """Return a failed trial."""
    fault, trial = failed.fault, failed.trial
    return {
        "schedule": trial.number,
        "case": trial.case,
        "kind": str(fault.kind),
        "field": fault.field,
        "expected": json.dumps(fault.expected),
        "observed": json.dumps(fault.observed),
        "output": fault.output,
        "events": schedule_texts(failed.sighting.sent),
    }


def failed(row: dict[str, Any], plan: Plan) -> Failed:
    """Return the failed trial of a row."""
    expected, observed = json.loads(row["expected"]), json.loads(row["observed"])
    fault = Fault(Kind(row["kind"]), row["field"], expected, observed, row["output"])
    return Failed(plan.trial(row["schedule"], row["case"]), Sighting(fault, parse_schedule(row["events"])))


def block_row(protocol: str, number: int, result: BlockResult) -> dict[str, Any]:
    """Return what came of a block."""
    return {
        "protocol": protocol,
        "number": number,
        "schedules": result.schedules,
        "cases": result.cases,
        "steps": result.shown.steps,
        "applied": list(result.shown.applied.items()),
        "fields": list(result.shown.fields.items()),
        "failed": [failed_row(each) for each in result.failed],
        "unable": list(result.unable.items()),
        "unexpected": result.unexpected,
        "unjudged": result.unjudged,
        "given_up": result.given_up,
    }


def block_result(row: dict[str, Any], plan: Plan) -> BlockResult:
    """Return what came of the block of a row."""
    return BlockResult(
        schedules=row["schedules"],
        cases=row["cases"],
        shown=Shown(row["steps"], Counter(dict(row["applied"])), Counter(dict(row["fields"]))),
        failed=[failed(each, plan) for each in row["failed"]],
        unable=dict(row["unable"]),
        unexpected=row["unexpected"],
        unjudged=row["unjudged"],
        given_up=row["given_up"],
    )


def nonconformity_row(nonconformity: Nonconformity) -> dict[str, Any]:
    """Return a nonconformity."""
    return {
        "protocol": nonconformity.protocol.name,
        "failure": failed_row(Failed(nonconformity.trial, nonconformity.sighting)),
        "configuration": json.dumps(asdict(nonconformity.trial.settings)),
        "answers": [{"applied": applied, "observation": json.dumps(seen)} for applied, seen in nonconformity.answers],
        "shrunk_from": nonconformity.shrunk_from,
        "seen": nonconformity.seen,
        "known_flaw": nonconformity.known_flaw,
    }


def nonconformity(row: dict[str, Any], plan: Plan) -> Nonconformity:
    """Return the nonconformity of a row."""
    one = failed(row["failure"], plan)
    return Nonconformity(
        protocol=parse_protocol(row["protocol"]),
        sighting=one.sighting,
        answers=[(answer["applied"], wire.parse_observation(answer["observation"])) for answer in row["answers"]],
        trial=one.trial.under(Configuration(**json.loads(row["configuration"]))),
        shrunk_from=row["shrunk_from"],
        seen=row["seen"],
        known_flaw=row["known_flaw"],
    )
