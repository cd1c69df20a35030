"""Read the tables of a conformance campaign on this machine without Spark: its progress, and its failures."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from epochfuzz.harness.campaign.conformance import rows
from epochfuzz.harness.campaign.run.job import Counts
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.conform.run import block_rows
from epochfuzz.harness.conform.run.block import FailedTrial
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.documents.records import CampaignFinding
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol


def counts(kept: LocalTables) -> Counts:
    """Return the number of steps and of schedules in the finished blocks. Replayed cases count as schedules."""
    counted: Counts = Counter()
    for row in _each_once(kept):
        counted["schedules"] += row["schedules"] + row["cases"]
        counted["steps"] += row["steps"]
    return counted


def played(kept: LocalTables) -> int:
    """Return the number of different transitions that the finished blocks have played."""
    return len(set().union(*(row["played"] for row in _each_once(kept))))


def found(kept: LocalTables, plan: Plan) -> tuple[CampaignFinding, ...]:
    """Return the findings of a finished campaign, or the failures so far of an unfinished one.

    Failures with the same protocol and cause are one entry, with the length of the shortest failure.
    """
    if kept.is_finished:
        return tuple(_nonconformity(row, plan) for row in kept.read_rows("findings", rows.NONCONFORMITIES))
    failed = ((row["protocol"], block_rows.failed(each, plan)) for row in _each_once(kept) for each in row["failed"])
    by_cause: dict[tuple[str, str], CampaignFinding] = {}
    for protocol, one in failed:
        new = _failure(protocol, one)
        known = by_cause.get((protocol, new.property), new)
        seen = known.seen + (known is not new)
        by_cause[protocol, new.property] = CampaignFinding(
            protocol, new.property, seen, min(known.length, new.length), is_shrunk=False, known_flaw=known.known_flaw
        )
    return tuple(by_cause.values())


def _each_once(kept: LocalTables) -> Iterator[dict[str, Any]]:
    seen = set()
    for part in kept.tables("blocks"):
        for row in part.to_pylist():
            block = row["protocol"], row["number"]
            if not row["again"] and block not in seen:
                seen.add(block)
                yield row


def _failure(protocol: str, one: FailedTrial) -> CampaignFinding:
    flaw = one.known_flaw(parse_protocol(protocol))
    cause = _cause(*one.fault.signature)
    return CampaignFinding(protocol, cause, 1, len(one.sighting.sent), is_shrunk=False, known_flaw=flaw)


def _nonconformity(row: dict[str, Any], plan: Plan) -> CampaignFinding:
    one = block_rows.failed(row["failure"], plan)
    cause, length = _cause(*one.fault.signature), len(one.sighting.sent)
    return CampaignFinding(row["protocol"], cause, row["seen"], length, is_shrunk=True, known_flaw=row["known_flaw"])


def _cause(kind: str, field: str) -> str:
    return f"{kind}: {field}" if field else str(kind)
