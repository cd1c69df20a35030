"""The progress of an exhaustive run, saved in a file so that an interrupted run can resume."""

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
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind
from epochfuzz.harness.conform.run.block import FailedTrial
from epochfuzz.harness.conform.run.drive import ConformanceFailure, Exercise
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.engine.explore.tours import Flags
from epochfuzz.harness.environment.version import model_digest
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


class KeptError(Exception):
    """The progress of a run cannot be saved or read. The message says where and why."""


@dataclass
class TourProgress:
    """For each transition, whether it was played, whether it differs, and whether only a bound forbids it.

    `planned` is the number of test sequences numbered so far. `before` is the result of all test sequences of earlier
    runs and of this one, with the shortest failure of each kind. `seconds` is the time that they took.
    """

    played: Flags
    differing: Flags
    bound: Flags
    planned: int = 0
    before: TourResult = field(default_factory=TourResult)
    seconds: float = 0.0

    @staticmethod
    def of_none(graph: Graph) -> "TourProgress":
        """Return the progress of a run that has not played anything."""
        return TourProgress(np.zeros(graph.size, bool), np.zeros(graph.size, bool), np.zeros(graph.size, bool))

    def add(self, result: TourResult, seconds: float) -> None:
        """Add the result of a block, and set the time spent so far to `seconds`."""
        self.played[list(result.played)] = True
        self.differing[list(result.differing)] = True
        self.bound[list(result.bound)] = True
        self.before.schedules += result.schedules
        self.before.shown.add(result.shown)
        self.before.failed = _shortest([*self.before.failed, *result.failed])
        self.before.unexpected += result.unexpected
        self.seconds = seconds


class Keeper:
    """Save the progress of a run in a file of a directory, for the next run of the same adapter with the same model."""

    def __init__(self, directory: Path, plan: Plan, protocol: Protocol, graph: Graph) -> None:
        self._plan, self._graph = plan, graph
        asked = [plan.command, protocol.name, asdict(plan.settings), plan.judged_by, bool(graph.refused.any())]
        name = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:12]
        self.path = directory / f"exhaustive-{name}.json"
        self._rules = f"{model_digest()}-{graph.digest}"

    def load(self) -> TourProgress | None:
        """Return the saved progress, or None if no saved run can be resumed.

        A run with another model or other transitions cannot be resumed. Raises KeptError.
        """
        if not self.path.exists():
            return None
        try:
            with _as_kept_error():
                document = json.loads(self.path.read_text())
            return self._standing(document) if document["rules"] == self._rules else None
        except (ValueError, KeyError, TypeError, zlib.error):
            return None  # only epochfuzz writes a file of that name, so it was truncated

    def save(self, standing: TourProgress) -> None:
        """Save the progress of a run. Raises KeptError."""
        temporary = self.path.with_suffix(".new")
        with _as_kept_error():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(self._document(standing)))
            os.replace(temporary, self.path)

    def forget(self) -> None:
        """Delete the saved progress, because every transition was played. Raises KeptError."""
        with _as_kept_error():
            self.path.unlink(missing_ok=True)

    def _document(self, standing: TourProgress) -> dict[str, Any]:
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

    def _standing(self, document: dict[str, Any]) -> TourProgress:
        shown = document["shown"]
        before = TourResult(
            schedules=document["tours"],
            shown=Exercise(shown["steps"], *(Counter(shown[name]) for name in ("applied", "fields", "met"))),
            failed=[self._failed(row) for row in document["failed"]],
            unexpected=document["unexpected"],
        )
        played, differing, bound = (
            unpacked(document[name], self._graph.size) for name in ("played", "differing", "bound")
        )
        return TourProgress(played, differing, bound, document["planned"], before, document["seconds"])

    def _failed(self, row: dict[str, Any]) -> FailedTrial:
        fault = Discrepancy(DiscrepancyKind(row["kind"]), row["field"], row["expected"], row["observed"], row["output"])
        events = parse_schedule(row["events"])
        trial = TourTrial(events, self._plan.settings, known=self._plan.known, tour=row["tour"])
        return FailedTrial(trial, ConformanceFailure(fault, events))


@contextmanager
def _as_kept_error() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise KeptError(f"{error.filename}: {error.strerror}") from None


def _failed_row(failed: FailedTrial) -> dict[str, Any]:
    fault, events = asdict(failed.fault), schedule_texts(failed.sighting.sent)
    return {**fault, "events": events, "tour": failed.trial.tour}


def _shortest(failed: list[FailedTrial]) -> list[FailedTrial]:
    """Return the shortest failure of each signature."""
    shortest: dict[Any, FailedTrial] = {}
    for each in failed:
        known = shortest.setdefault(each.fault.signature, each)
        if len(each.sighting.sent) < len(known.sighting.sent):
            shortest[each.fault.signature] = each
    return list(shortest.values())


def packed(flags: Flags) -> str:
    """Return an array of flags as a short text."""
    return base64.b85encode(zlib.compress(np.packbits(flags).tobytes())).decode()


def unpacked(text: str, size: int) -> Flags:
    """Return the array of `size` flags that `packed` encoded."""
    bits = np.frombuffer(zlib.decompress(base64.b85decode(text)), np.uint8)
    return np.unpackbits(bits, count=size).astype(bool)
