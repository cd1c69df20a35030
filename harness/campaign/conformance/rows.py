"""Rows: what comes of blocks and of failures as plain data, which Spark carries and Parquet keeps."""

import json
from collections import Counter
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from epochfuzz.harness.conform.exhaustive.tour_block import TourResult
from epochfuzz.harness.conform.oracle.fault import Fault, Kind
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.run.block import BlockResult, Failed, Trial
from epochfuzz.harness.conform.run.drive import Shown, Sighting
from epochfuzz.harness.conform.run.nonconformity import Nonconformity
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

_NUMBERS = ("played", "differing", "bound")  # of transitions, in a block of tours
_COUNTS = pa.map_(pa.string(), pa.int64())
FAILED = pa.struct(
    {
        "schedule": pa.int64(),  # its number; null for a case, and for a tour
        "case": pa.string(),  # its id; null for a schedule, and for a tour
        "tour": pa.int64(),  # its number; null for what is none
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
        "met": _COUNTS,  # by kind and name, how often it was met; null in campaigns of before
        "failed": pa.list_(FAILED),
        "unable": pa.map_(pa.string(), pa.string()),  # by case, why the subject could not run it
        "unexpected": pa.int64(),  # schedules that failed other than by a known bug
        "unjudged": pa.int64(),  # schedules that gave no answers to judge
        "given_up": pa.bool_(),  # the last ones were not run, for there was too much of that
    }
)
TOURS = pa.schema(
    [
        *BLOCKS,
        pa.field("played", pa.list_(pa.int32())),  # numbers of transitions
        pa.field("differing", pa.list_(pa.int32())),  # those of them from which a tour did not go on as planned
        pa.field("bound", pa.list_(pa.int32())),  # those that only a bound forbids
    ]
)
SUBJECT = pa.schema(
    {
        "events": pa.list_(pa.string()),  # the verbs that the subject has; null where it gave no answer
        "failed": FAILED,  # what there was instead of an answer
        "transitions": pa.int64(),  # that can be reached by these
    }
)
_ANSWER = pa.struct({"applied": pa.bool_(), "observation": pa.string()})  # JSON
NONCONFORMITIES = pa.schema(
    {
        "protocol": pa.string(),
        "failure": FAILED,  # on the shortest schedule found
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
        "tour": trial.tour,
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
    events, tour = parse_schedule(row["events"]), row.get("tour")  # campaigns of before there were tours have no such
    if tour is not None:
        trial = Trial(events, plan.settings, known=plan.known, tour=tour)
    elif row["case"] is not None:
        trial = plan.case_trial(next(case for case in plan.cases if case.id == row["case"]))
    else:
        trial = plan.trial(events, row["schedule"])
    return Failed(trial, Sighting(fault, events))


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
        "met": None if result.shown.met is None else list(result.shown.met.items()),
        "failed": [failed_row(each) for each in result.failed],
        "unable": list(result.unable.items()),
        "unexpected": result.unexpected,
        "unjudged": result.unjudged,
        "given_up": result.given_up,
    }


def block_result(row: dict[str, Any], plan: Plan) -> BlockResult:
    """Return what came of the block of a row."""
    return BlockResult(**_of_every_block(row, plan))


def tours_row(protocol: str, number: int, result: TourResult) -> dict[str, Any]:
    """Return what came of a block of tours."""
    numbers: dict[str, Any] = {name: sorted(getattr(result, name)) for name in _NUMBERS}
    return block_row(protocol, number, result) | numbers


def tours_result(row: dict[str, Any], plan: Plan) -> TourResult:
    """Return what came of the block of tours of a row."""
    numbers: dict[str, Any] = {name: set(row[name]) for name in _NUMBERS}
    return TourResult(**_of_every_block(row, plan), **numbers)


def _of_every_block(row: dict[str, Any], plan: Plan) -> dict[str, Any]:
    return {
        "shown": Shown(
            row["steps"],
            Counter(dict(row["applied"])),
            Counter(dict(row["fields"])),
            None if row["met"] is None else Counter(dict(row["met"])),
        ),
        "failed": [failed(each, plan) for each in row["failed"]],
        "unable": dict(row["unable"]),
        **{name: row[name] for name in ("schedules", "cases", "unexpected", "unjudged", "given_up")},
    }


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
