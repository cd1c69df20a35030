"""The progress of an exhaustive run, saved in a file so that an interrupted run can resume."""

import base64
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from epochfuzz.harness.conform.exhaustive.graph import Graph
from epochfuzz.harness.conform.exhaustive.tour_block import TourResult
from epochfuzz.harness.conform.run import block_rows
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.engine.explore.tours import Flags
from epochfuzz.harness.environment.version import model_digest
from epochfuzz.harness.jobs.unfinished import Request, UnfinishedRun
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_FLAGS = ("played", "differing", "bound")  # the fields of TourProgress that are flags


@dataclass(kw_only=True)
class TourProgress:
    """For each transition, whether it was played, whether it differs, and whether only a bound forbids it.

    `planned` is the number of test sequences that have a number so far. `before` is the result of all test sequences
    that were played, also by earlier processes. It has the shortest failure of each kind. `seconds` is their time.
    """

    protocol: Protocol
    played: Flags
    differing: Flags
    bound: Flags
    planned: int = 0
    before: TourResult = field(default_factory=TourResult)
    seconds: float = 0.0

    @staticmethod
    def of_none(graph: Graph, protocol: Protocol) -> "TourProgress":
        """Return the progress of a run that has not played anything."""
        played, differing, bound = (np.zeros(graph.size, bool) for _ in _FLAGS)
        return TourProgress(protocol=protocol, played=played, differing=differing, bound=bound)

    def add(self, result: TourResult, seconds: float) -> None:
        """Add the result of a block, and set the time spent so far to `seconds`."""
        self.played[list(result.played)] = True
        self.differing[list(result.differing)] = True
        self.bound[list(result.bound)] = True
        self.before.include(result, self.protocol)
        self.seconds = seconds


class KeptTours:
    """The progress of an exhaustive run in its file. Another run of the same adapter can resume it."""

    def __init__(self, directory: Path, plan: Plan, protocol: Protocol, graph: Graph) -> None:
        self._plan, self._protocol, self._graph = plan, protocol, graph
        asked = {
            "command": plan.command,
            "protocol": protocol.name,
            "configuration": asdict(plan.settings),
            "judge": str(plan.judged_by),
            "refused": bool(graph.refused.any()),
        }
        self.unfinished = UnfinishedRun(
            directory, Request("exhaustive", asked), rules=f"{model_digest()}-{graph.digest}"
        )

    def load(self) -> TourProgress | None:
        """Return the saved progress; None if no saved run can be resumed. Raises ProgressError."""
        return self.unfinished.load(self._progress)

    def _progress(self, document: dict[str, Any]) -> TourProgress:
        flags = {name: unpacked(document[name], self._graph.size) for name in _FLAGS}
        # The adapter may reply again, so the schedules without a reply count from 0.
        fields = block_rows.sum_fields(document["before"], self._plan) | {"unjudged": 0, "given_up": False}
        return TourProgress(
            protocol=self._protocol,
            **flags,
            planned=document["planned"],
            before=TourResult(**fields),
            seconds=document["seconds"],
        )

    def save(self, progress: TourProgress) -> None:
        """Save the progress of a run. Raises ProgressError."""
        flags = {name: packed(getattr(progress, name)) for name in _FLAGS}
        before = block_rows.sum_row(progress.before)
        self.unfinished.save({**flags, "planned": progress.planned, "before": before, "seconds": progress.seconds})


def packed(flags: Flags) -> str:
    """Return an array of flags as a short text."""
    return base64.b85encode(zlib.compress(np.packbits(flags).tobytes())).decode()


def unpacked(text: str, size: int) -> Flags:
    """Return the array of `size` flags that `packed` encoded."""
    bits = np.frombuffer(zlib.decompress(base64.b85decode(text)), np.uint8)
    return np.unpackbits(bits, count=size).astype(bool)
