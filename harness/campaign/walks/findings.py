"""The table of findings: one row for each protocol of a campaign and each property that this protocol broke."""

from typing import Any

import pyarrow as pa

from epochfuzz.harness.campaign.walks.parameters import Parameters
from epochfuzz.harness.engine.explore.certificates import Reproducer
from epochfuzz.harness.engine.walk.walk import Failure
from epochfuzz.harness.findings.findings import Breach, Finding
from epochfuzz.harness.trace.witness import Witness
from epochfuzz.model.kafka.vocabulary.configuration import Bounds
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

_BOUNDS = pa.struct({"records": pa.int64(), "epochs": pa.int64()})

# The result of a worker: the reproducer, and the failure that was shrunk to it.
SHRUNK = pa.schema(
    {
        "protocol": pa.string(),
        "property": pa.string(),
        "events": pa.list_(pa.string()),  # shortest known schedule that breaks the property
        "length": pa.int64(),  # number of `events`
        "variants": pa.list_(pa.list_(pa.string())),  # other schedules of that length that lead to different states
        "certified_minimal": pa.bool_(),  # exhaustive search found no shorter schedule
        "searched": pa.int64(),  # no schedule below this length breaks the property
        "minimal_within": _BOUNDS,  # bounds within which no schedule is shorter; null if unknown
        "seen": pa.int64(),  # number of schedules of the campaign that broke it
        "schedule": pa.int64(),  # number of the schedule that was shrunk
        "shrunk_from": pa.int64(),  # number of events of that schedule until it broke the property
    }
)
SCHEMA = SHRUNK.append(pa.field("case", pa.string()))  # text of a case file; null for a user's own machine
SCHEMA = SCHEMA.append(pa.field("message", pa.string()))  # text of the exception of a user's own machine


def row(finding: Finding) -> dict[str, Any]:
    """Return a finding as a row of SHRUNK."""
    return {**finding.plain()}


def error_row(error: dict[str, Any], machine: str) -> dict[str, Any]:
    """Return an exception of a user's own state machine as a row of SCHEMA. `events` has the machine's steps."""
    return {
        "protocol": machine,
        "property": error["error"],
        "message": error["message"],
        "events": error["steps"],
        "length": len(error["steps"]),
        "variants": [],
        "certified_minimal": False,
        "searched": 0,
        "minimal_within": None,
        "seen": error["seen"],
        "schedule": error["schedule"],
        "shrunk_from": len(error["steps"]),
        "case": None,
    }


def from_row(row: dict[str, Any], parameters: Parameters) -> Finding:
    """Return the finding in a row of SHRUNK."""
    protocol = parse_protocol(row["protocol"])
    schedule = parse_schedule(row["events"])
    return Finding(
        protocol=protocol,
        property=row["property"],
        reproducer=Reproducer(schedule, row["certified_minimal"], row["searched"], _bounds(row["minimal_within"])),
        witness=Witness(schedule, parameters.settings, tuple(parameters.protocols)),
        variants=tuple(map(parse_schedule, row["variants"] or ())),
        seen=row["seen"],
        schedule=row["schedule"],
        shrunk_from=row["shrunk_from"],
    )


def _bounds(row: dict[str, int] | None) -> Bounds | None:
    return None if row is None else Bounds(row["records"], row["epochs"])


def breach_row(breach: Breach) -> dict[str, Any]:
    """Return a violation as plain data, for the worker that shrinks it."""
    failures = [[failure.length, failure.schedule] for failure in breach.failures]
    return {
        "protocol": breach.protocol.name,
        "property": breach.property,
        "seen": breach.seen,
        "failures": failures,
    }


def breach_from_row(row: dict[str, Any]) -> Breach:
    """Return the violation from the plain data of `breach_row`."""
    failures = tuple(Failure(*failure) for failure in row["failures"])
    return Breach(parse_protocol(row["protocol"]), row["property"], row["seen"], failures)
