"""Findings: what a campaign's failures come to, one row for each protocol and property, shrunk on the workers."""

from typing import Any

import pyarrow as pa

from epochfuzz.harness.campaign.walks.parameters import Parameters
from epochfuzz.harness.engine.explore.certificates import Reproducer
from epochfuzz.harness.engine.walk.walk import Failure
from epochfuzz.harness.findings.findings import Breach, Finding
from epochfuzz.harness.witness.witness import Witness
from epochfuzz.model.kafka.vocabulary.configuration import Bounds
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

_BOUNDS = pa.struct({"records": pa.int64(), "epochs": pa.int64()})

# What a worker returns: the reproducer, and what it was made from.
SHRUNK = pa.schema(
    {
        "protocol": pa.string(),
        "property": pa.string(),
        "events": pa.list_(pa.string()),  # the shortest schedule known that breaks the property
        "length": pa.int64(),  # of `events`
        "variants": pa.list_(pa.list_(pa.string())),  # other schedules of that length, which do not come to the same
        "certified_minimal": pa.bool_(),  # exhaustive search found nothing shorter
        "searched": pa.int64(),  # below this length, nothing breaks the property
        "minimal_within": _BOUNDS,  # records and epoch changes with which nothing is shorter; null where none are known
        "seen": pa.int64(),  # how many schedules of the campaign broke it
        "schedule": pa.int64(),  # the number of the one that was shrunk
        "shrunk_from": pa.int64(),  # how many events that took to break it
    }
)
SCHEMA = SHRUNK.append(pa.field("case", pa.string()))  # the text of a case file; null for a machine of the user's own
SCHEMA = SCHEMA.append(pa.field("message", pa.string()))  # of such a machine: what its exception says


def row(finding: Finding) -> dict[str, Any]:
    """Return a finding as a row of SHRUNK."""
    return {**finding.plain()}


def error_row(error: dict[str, Any], machine: str) -> dict[str, Any]:
    """Return an error of a machine of the user's own (blocks.errors) as a row of SCHEMA: its steps are the events."""
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
    """Return a breach as plain data, for a worker to shrink."""
    failures = [[failure.length, failure.schedule] for failure in breach.failures]
    return {
        "protocol": breach.protocol.name,
        "property": breach.property,
        "seen": breach.seen,
        "failures": failures,
    }


def breach_from_row(row: dict[str, Any]) -> Breach:
    """Return the breach of plain data."""
    failures = tuple(Failure(*failure) for failure in row["failures"])
    return Breach(parse_protocol(row["protocol"]), row["property"], row["seen"], failures)
