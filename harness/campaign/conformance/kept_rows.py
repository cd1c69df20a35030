"""Read the progress and the failures of a conformance campaign from its tables."""

from typing import Any

from epochfuzz.harness.campaign.conformance import rows
from epochfuzz.harness.campaign.store.tables import Tables
from epochfuzz.harness.conform.run import block_rows
from epochfuzz.harness.conform.run.block import FailedTrial
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.documents.records import CampaignFinding
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol


def played(tables: Tables) -> int:
    """Return the number of different transitions that the finished blocks have played."""
    return len(set().union(*(row["played"] for row in tables.blocks(rows.TOURS))))


def found(tables: Tables, plan: Plan) -> tuple[CampaignFinding, ...]:
    """Return the findings of a finished campaign, or the failures so far of an unfinished one.

    Failures with the same protocol and cause are one entry, with the length of the shortest failure.
    """
    if tables.is_finished:
        return tuple(_nonconformity(row, plan) for row in tables.read_rows("findings", rows.NONCONFORMITIES))
    failed = (
        (row["protocol"], block_rows.failed(each, plan)) for row in tables.blocks(rows.BLOCKS) for each in row["failed"]
    )
    by_cause: dict[tuple[str, str], CampaignFinding] = {}
    for protocol, one in failed:
        new = _failure(protocol, one)
        known = by_cause.get((protocol, new.property), new)
        seen = known.seen + (known is not new)
        by_cause[protocol, new.property] = CampaignFinding(
            protocol=protocol,
            property=new.property,
            seen=seen,
            length=min(known.length, new.length),
            is_shrunk=False,
            known_flaw=known.known_flaw,
        )
    return tuple(by_cause.values())


def _failure(protocol: str, one: FailedTrial) -> CampaignFinding:
    flaw = one.known_flaw(parse_protocol(protocol))
    cause = _cause(*one.fault.signature)
    return CampaignFinding(
        protocol=protocol, property=cause, seen=1, length=len(one.sighting.sent), is_shrunk=False, known_flaw=flaw
    )


def _nonconformity(row: dict[str, Any], plan: Plan) -> CampaignFinding:
    one = block_rows.failed(row["failure"], plan)
    cause, length = _cause(*one.fault.signature), len(one.sighting.sent)
    return CampaignFinding(
        protocol=row["protocol"],
        property=cause,
        seen=row["seen"],
        length=length,
        is_shrunk=True,
        known_flaw=row["known_flaw"],
    )


def _cause(kind: str, field: str) -> str:
    return f"{kind}: {field}" if field else str(kind)
