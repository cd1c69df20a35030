"""Standing: which transitions have been played, and what came of it; kept in a file where a run ends before its end."""

import base64
import hashlib
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from epochfuzz.harness.conform.exhaustive.graph import Graph
from epochfuzz.harness.conform.exhaustive.tour_block import TourResult, TourTrial
from epochfuzz.harness.conform.oracle.fault import Fault, Kind
from epochfuzz.harness.conform.run.block import Failed
from epochfuzz.harness.conform.run.drive import Shown, Sighting
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.engine.explore.tours import Flags
from epochfuzz.harness.version import model_digest
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


class KeptError(Exception):
    """How far a run came cannot be kept, or read again; the message says where and why."""


@dataclass
class Standing:
    """By transition, whether it was played, whether it differs, and whether only a bound forbids it.

    `planned` tours have a number so far. `before` is what came of the tours of earlier runs, of each kind of failure
    the shortest, and `seconds` how long they took.
    """

    played: Flags
    differing: Flags
    bound: Flags
    planned: int = 0
    before: TourResult = field(default_factory=TourResult)
    seconds: float = 0.0

    @staticmethod
    def of_none(graph: Graph) -> "Standing":
        """Nothing has been played."""
        return Standing(np.zeros(graph.size, bool), np.zeros(graph.size, bool), np.zeros(graph.size, bool))

    def add(self, result: TourResult, seconds: float) -> None:
        """Add what came of a block; `seconds` were spent so far."""
        self.played[list(result.played)] = True
        self.differing[list(result.differing)] = True
        self.bound[list(result.bound)] = True
        self.before.schedules += result.schedules
        self.before.shown.add(result.shown)
        self.before.failed = _shortest([*self.before.failed, *result.failed])
        self.before.unexpected += result.unexpected
        self.seconds = seconds


class Keeper:
    """Keeps how a run stands in a file of a directory, for the next run of the same subject under the same rules."""

    def __init__(self, directory: Path, plan: Plan, protocol: Protocol, graph: Graph) -> None:
        self._plan, self._graph = plan, graph
        asked = [plan.command, protocol.name, asdict(plan.settings), plan.judged_by, bool(graph.refused.any())]
        name = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:12]
        self.path = directory / f"exhaustive-{name}.json"
        self._rules = f"{model_digest()}-{graph.digest}"

    def load(self) -> Standing | None:
        """How the last run stood, None if there is none that can be gone on with. Raises KeptError."""
        if not self.path.exists():
            return None
        try:
            with _as_kept_error():
                document = json.loads(self.path.read_text())
            return self._standing(document) if document["rules"] == self._rules else None
        except (ValueError, KeyError, TypeError, zlib.error):
            return None  # nobody's file but ours has that name: it was cut short

    def save(self, standing: Standing) -> None:
        """Keep how a run stands. Raises KeptError."""
        temporary = self.path.with_suffix(".new")
        with _as_kept_error():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(self._document(standing)))
            os.replace(temporary, self.path)

    def forget(self) -> None:
        """Keep nothing: all has been played. Raises KeptError."""
        with _as_kept_error():
            self.path.unlink(missing_ok=True)

    def _document(self, standing: Standing) -> dict[str, Any]:
        before = standing.before
        return {
            "rules": self._rules,
            **{name: packed(getattr(standing, name)) for name in ("played", "differing", "bound")},
            "seconds": standing.seconds,
            "planned": standing.planned,
            "tours": before.schedules,
            "unexpected": before.unexpected,
            "shown": vars(before.shown),
            "failed": [_failed_row(each) for each in before.failed],
        }

    def _standing(self, document: dict[str, Any]) -> Standing:
        shown = document["shown"]
        before = TourResult(
            schedules=document["tours"],
            shown=Shown(shown["steps"], *(Counter(shown[name]) for name in ("applied", "fields", "met"))),
            failed=[self._failed(row) for row in document["failed"]],
            unexpected=document["unexpected"],
        )
        played, differing, bound = (
            unpacked(document[name], self._graph.size) for name in ("played", "differing", "bound")
        )
        return Standing(played, differing, bound, document["planned"], before, document["seconds"])

    def _failed(self, row: dict[str, Any]) -> Failed:
        fault = Fault(Kind(row["kind"]), row["field"], row["expected"], row["observed"], row["output"])
        events = parse_schedule(row["events"])
        trial = TourTrial(events, self._plan.settings, known=self._plan.known, tour=row["tour"])
        return Failed(trial, Sighting(fault, events))


@contextmanager
def _as_kept_error() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise KeptError(f"{error.filename}: {error.strerror}") from None


def _failed_row(failed: Failed) -> dict[str, Any]:
    fault, events = asdict(failed.fault), schedule_texts(failed.sighting.sent)
    return {**fault, "events": events, "tour": failed.trial.tour}


def _shortest(failed: list[Failed]) -> list[Failed]:
    """Of the failures that have the same signature the shortest, and of those that are known as well."""
    shortest: dict[Any, Failed] = {}
    for each in failed:
        known = shortest.setdefault(each.fault.signature, each)
        if len(each.sighting.sent) < len(known.sighting.sent):
            shortest[each.fault.signature] = each
    return list(shortest.values())


def packed(flags: Flags) -> str:
    """Return flags as a short text."""
    return base64.b85encode(zlib.compress(np.packbits(flags).tobytes())).decode()


def unpacked(text: str, size: int) -> Flags:
    """Return the flags of a text."""
    bits = np.frombuffer(zlib.decompress(base64.b85decode(text)), np.uint8)
    return np.unpackbits(bits, count=size).astype(bool)
