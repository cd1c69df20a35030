"""The schedules that clusters have played, as table rows, and sums over these rows. This module needs no cluster."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from epochfuzz.harness.cluster.schedules.ends import FINDINGS, unlike
from epochfuzz.harness.cluster.schedules.fuzzed import ClusterFinding, Fuzzed
from epochfuzz.harness.documents.cluster_records import Ended
from epochfuzz.harness.documents.records import CampaignFinding
from epochfuzz.model.kafka.vocabulary.events import parse_schedule

PLAYED = pa.struct(
    {
        "schedule": pa.int64(),  # number of the schedule
        "events": pa.list_(pa.string()),
        "steps": pa.int64(),  # number of events that were played
        "ended": pa.string(),  # result of the schedule on the cluster
        "why": pa.string(),  # reason for the result; empty if the cluster kept all guarantees
        "model": pa.string(),  # result of the schedule in the model
        "seconds": pa.float64(),  # from the new topic to the verdict
    }
)
BLOCKS = pa.schema(
    {
        "number": pa.int64(),
        "drawn": pa.int64(),  # number of drawn schedules, from which the model chose the played ones
        "schedules": pa.int64(),  # number of played schedules
        "events": pa.int64(),  # number of played events, over all schedules
        "played": pa.list_(PLAYED),
    }
)
# The result of a worker for one kind of finding: the shortest known schedule of that kind.
SHRUNK = pa.schema(
    {
        "ended": pa.string(),
        "model": pa.string(),  # result of the schedule in the model
        "why": pa.string(),
        "events": pa.list_(pa.string()),
        "length": pa.int64(),  # number of `events`
        "seen": pa.int64(),  # schedules of the campaign with this kind of finding
        "schedule": pa.int64(),  # number of the schedule that was shrunk
        "shrunk_from": pa.int64(),  # number of its events before shrinking
        "replays": pa.int64(),  # number of replays during shrinking
    }
)
TABLE = SHRUNK.append(pa.field("case", pa.string()))  # findings, with the text of a case file


@dataclass(frozen=True)
class ClusterSighting:
    """A kind of finding: the row of its shortest schedule (`played`), and the number of its schedules (`seen`)."""

    played: dict[str, Any]
    seen: int


def block_row(number: int, drawn: int, played: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the played schedules of a block as a row of BLOCKS. The model chose them from `drawn` schedules."""
    events = sum(each["steps"] for each in played)
    return {"number": number, "drawn": drawn, "schedules": len(played), "events": events, "played": played}


def summed(rows: Iterable[dict[str, Any]]) -> Fuzzed:
    """Return the sums over block rows: the numbers of schedules and events, and the count of each kind of result.

    The list of findings stays empty.
    """
    whole = Fuzzed()
    for row in rows:
        whole.drawn += row["drawn"]
        for each in row["played"]:
            whole.add(each["schedule"], each["steps"], Ended(each["ended"]), each["why"], Ended(each["model"]))
    return whole


def sightings(rows: Iterable[dict[str, Any]]) -> list[ClusterSighting]:
    """Return the shortest schedule of each kind of finding, with the number of schedules of this kind."""
    by_kind: dict[tuple[str, str], ClusterSighting] = {}
    for row in rows:
        for each in row["played"]:
            if each["ended"] in FINDINGS:
                kind = each["ended"], each["model"]
                known = by_kind.get(kind, ClusterSighting(each, 0))
                shorter = min(known.played, each, key=lambda one: len(one["events"]))
                by_kind[kind] = replace(known, played=shorter, seen=known.seen + 1)
    return list(by_kind.values())


def finding(row: dict[str, Any]) -> ClusterFinding:
    """Return the finding in a row of SHRUNK."""
    ended, model = Ended(row["ended"]), Ended(row["model"])
    return ClusterFinding(
        number=row["schedule"],
        events=parse_schedule(row["events"]),
        shrunk_from=row["shrunk_from"],
        ended=ended,
        why=row["why"],
        model=model,
    )


def found(protocol: str, rows: Iterable[dict[str, Any]]) -> Iterator[CampaignFinding]:
    """Yield the findings in rows of SHRUNK, in the form that reports of campaigns use."""
    for row in rows:
        length, seen = row["length"], row["seen"]
        yield _found(protocol, Ended(row["ended"]), Ended(row["model"]), seen=seen, length=length, is_shrunk=True)


def sighted(protocol: str, rows: Iterable[dict[str, Any]]) -> Iterator[CampaignFinding]:
    """Yield the findings in block rows, in the form that reports of campaigns use. The findings are not shrunk yet."""
    for each in sightings(rows):
        ended, model, length = Ended(each.played["ended"]), Ended(each.played["model"]), len(each.played["events"])
        yield _found(protocol, ended, model, seen=each.seen, length=length, is_shrunk=False)


def _found(protocol: str, ended: Ended, model: Ended, *, seen: int, length: int, is_shrunk: bool) -> CampaignFinding:
    """Return a finding for reports. The finding is expected if the model and the cluster have the same result."""
    known_flaw = "the model of the release ends so, too" if ended is model else None
    return CampaignFinding(
        protocol=protocol,
        property=kind(ended, model),
        seen=seen,
        length=length,
        is_shrunk=is_shrunk,
        known_flaw=known_flaw,
    )


def kind(ended: Ended, model: Ended) -> str:
    """Return the name of a kind of finding, made from the results of a schedule on the cluster and in the model."""
    return f"{ended}, as in the model" if ended is model else unlike(ended, model)
