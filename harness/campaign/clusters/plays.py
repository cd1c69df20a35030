"""Plays: schedules that clusters have played, as rows, and what they come to. It takes no cluster to read them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from epochfuzz.harness.campaign.run.status import Found
from epochfuzz.harness.campaign.store.kept import Kept
from epochfuzz.harness.cluster.schedules.ends import FINDINGS, Ended, unlike
from epochfuzz.harness.cluster.schedules.fuzzed import Finding, Fuzzed
from epochfuzz.model.kafka.vocabulary.events import parse_schedule

PLAYED = pa.struct(
    {
        "schedule": pa.int64(),  # its number
        "events": pa.list_(pa.string()),
        "steps": pa.int64(),  # how many of the events were played
        "ended": pa.string(),
        "why": pa.string(),  # empty where all was kept
        "model": pa.string(),  # how it ends there
        "seconds": pa.float64(),  # from a new topic to the verdict
    }
)
BLOCKS = pa.schema(
    {
        "number": pa.int64(),
        "drawn": pa.int64(),  # schedules, of which the model chose those that were played
        "schedules": pa.int64(),  # played
        "events": pa.int64(),  # played, of all of them
        "played": pa.list_(PLAYED),
    }
)
# What a worker returns of a kind of finding: the shortest schedule known that ends so.
SHRUNK = pa.schema(
    {
        "ended": pa.string(),
        "model": pa.string(),  # how it ends there
        "why": pa.string(),
        "events": pa.list_(pa.string()),
        "length": pa.int64(),  # of `events`
        "seen": pa.int64(),  # how many schedules of the campaign were of this kind
        "schedule": pa.int64(),  # the number of the one that was shrunk
        "shrunk_from": pa.int64(),  # how many events it had
        "replays": pa.int64(),  # that shrinking took
    }
)
TABLE = SHRUNK.append(pa.field("case", pa.string()))  # of findings, with the text of a case file


@dataclass(frozen=True)
class Sighting:
    """The shortest schedule of those that ended in one way, here and in the model; `seen` counts them."""

    played: dict[str, Any]
    seen: int


def block_row(number: int, drawn: int, played: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what came of a block."""
    events = sum(each["steps"] for each in played)
    return {"number": number, "drawn": drawn, "schedules": len(played), "events": events, "played": played}


def each_once(kept: Kept) -> list[dict[str, Any]]:
    """Return the blocks that are there, each once, in order."""
    by_number: dict[int, dict[str, Any]] = {}
    for part in kept.tables("blocks"):
        for row in part.to_pylist():
            by_number.setdefault(row["number"], row)
    return [row for _, row in sorted(by_number.items())]


def summed(rows: Iterable[dict[str, Any]]) -> Fuzzed:
    """Return what blocks come to, without findings."""
    whole = Fuzzed()
    for row in rows:
        whole.drawn += row["drawn"]
        for each in row["played"]:
            whole.add(each["schedule"], each["steps"], Ended(each["ended"]), each["why"], Ended(each["model"]))
    return whole


def sightings(rows: Iterable[dict[str, Any]]) -> list[Sighting]:
    """Return what is to be shrunk: of each kind the shortest, of equal ones that which comes first."""
    by_kind: dict[tuple[str, str], Sighting] = {}
    for row in rows:
        for each in row["played"]:
            if each["ended"] in FINDINGS:
                kind = each["ended"], each["model"]
                known = by_kind.get(kind, Sighting(each, 0))
                shorter = min(known.played, each, key=lambda one: len(one["events"]))
                by_kind[kind] = replace(known, played=shorter, seen=known.seen + 1)
    return list(by_kind.values())


def finding(row: dict[str, Any]) -> Finding:
    """Return the finding of a row of SHRUNK."""
    ended, model = Ended(row["ended"]), Ended(row["model"])
    return Finding(row["schedule"], parse_schedule(row["events"]), row["shrunk_from"], ended, row["why"], model)


def found(protocol: str, rows: Iterable[dict[str, Any]]) -> Iterator[Found]:
    """Yield findings of rows of SHRUNK as reports have them."""
    for row in rows:
        length, seen = row["length"], row["seen"]
        yield _found(protocol, Ended(row["ended"]), Ended(row["model"]), seen=seen, length=length, is_shrunk=True)


def sighted(protocol: str, rows: Iterable[dict[str, Any]]) -> Iterator[Found]:
    """Yield what blocks have found so far, not shrunk."""
    for each in sightings(rows):
        ended, model, length = Ended(each.played["ended"]), Ended(each.played["model"]), len(each.played["events"])
        yield _found(protocol, ended, model, seen=each.seen, length=length, is_shrunk=False)


def _found(protocol: str, ended: Ended, model: Ended, *, seen: int, length: int, is_shrunk: bool) -> Found:
    """Return a finding: the model of the release is what was to be expected."""
    known_flaw = "the model of the release ends so, too" if ended is model else None
    return Found(protocol, kind(ended, model), seen, length, is_shrunk=is_shrunk, known_flaw=known_flaw)


def kind(ended: Ended, model: Ended) -> str:
    """Return what a kind of finding is called."""
    return f"{ended}, as in the model" if ended is model else unlike(ended, model)
