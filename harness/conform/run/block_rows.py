"""Convert results of blocks to plain data and back, for the tables of campaigns and for saved progress."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind
from epochfuzz.harness.conform.run.block import BlockResult, FailedTrial, Trial
from epochfuzz.harness.conform.run.drive import ConformanceFailure, Exercise
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts


def failed_row(failed: FailedTrial) -> dict[str, Any]:
    """Return a failure as a row of plain data."""
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


def failed(row: dict[str, Any], plan: Plan) -> FailedTrial:
    """Return the failure from a row of `failed_row`."""
    expected, observed = json.loads(row["expected"]), json.loads(row["observed"])
    fault = Discrepancy(DiscrepancyKind(row["kind"]), row["field"], expected, observed, row["output"])
    events, tour = parse_schedule(row["events"]), row.get("tour")  # missing in campaigns older than test sequences
    if tour is not None:
        trial = Trial(events, plan.settings, known=plan.known, tour=tour)
    elif row["case"] is not None:
        trial = plan.case_trial(next(case for case in plan.cases if case.id == row["case"]))
    else:
        trial = plan.trial(events, row["schedule"])
    return FailedTrial(trial, ConformanceFailure(fault, events))


def block_row(protocol: str, number: int, result: BlockResult) -> dict[str, Any]:
    """Return the result of a block as a row of plain data. `number` is the block's number under its protocol."""
    return {
        "protocol": protocol,
        "number": number,
        "schedules": result.schedules,
        "cases": result.cases,
        "steps": result.shown.steps,
        "applied": sorted(result.shown.applied.items()),
        "fields": sorted(result.shown.fields.items()),
        "met": None if result.shown.met is None else sorted(result.shown.met.items()),
        "failed": [failed_row(each) for each in result.failed],
        "unable": sorted(result.unable.items()),
        "unexpected": result.unexpected,
        "unjudged": result.unjudged,
        "given_up": result.given_up,
    }


def block_result(row: dict[str, Any], plan: Plan) -> BlockResult:
    """Return the result of a block from its row."""
    return BlockResult(**result_fields(row, plan))


def sum_row(result: BlockResult) -> dict[str, Any]:
    """Return the sum of several results as a row. Unlike `block_row`, the row has the count `seen` of each failure."""
    return block_row("", 0, result) | {"failed": [failed_row(each) | {"seen": each.seen} for each in result.failed]}


def sum_fields(row: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """Return the fields of BlockResult from a row of `sum_row`."""
    return result_fields(row, plan) | {
        "failed": [replace(failed(each, plan), seen=each["seen"]) for each in row["failed"]]
    }


def result_fields(row: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """Return the fields of BlockResult from the row of a block. A subclass of BlockResult has these fields, too."""
    return {
        "shown": Exercise(
            row["steps"],
            Counter(dict(row["applied"])),
            Counter(dict(row["fields"])),
            None if row["met"] is None else Counter(dict(row["met"])),
        ),
        "failed": [failed(each, plan) for each in row["failed"]],
        "unable": dict(row["unable"]),
        **{name: row[name] for name in ("schedules", "cases", "unexpected", "unjudged", "given_up")},
    }
