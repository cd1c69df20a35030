"""The progress of an exhaustive run, and the file that keeps it, so that an interrupted run can resume."""

import base64
import zlib
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from epochfuzz.harness.conform.exhaustive.graph import Graph
from epochfuzz.harness.conform.exhaustive.tour_block import TourBlock, TourResult
from epochfuzz.harness.conform.run import block_rows
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.engine.explore.tours import Flags
from epochfuzz.harness.environment.version import model_digest
from epochfuzz.harness.jobs.unfinished import Request, UnfinishedRun
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_FLAGS = ("played", "differing", "bound")  # the fields of TourProgress that are flags
_FLAGS_OF_ROUND = ("wanted", "without")


@dataclass(kw_only=True)
class RoundProgress:
    """The progress of a round: the number of finished `blocks`, and the part of the next block that was played.

    `wanted`, `without` and `first` are the arguments of the Round. A block has at most `size` test sequences. The next
    block continues with test sequence `tour`. `differing` has the differing transitions of the part before.
    """

    wanted: Flags
    without: Flags
    first: int
    size: int
    blocks: int = 0
    tour: int = 0
    differing: frozenset[int] = frozenset()

    def add(self, result: TourResult, is_whole: bool) -> None:
        """Add the result of the next block, or of a part of it."""
        if is_whole:
            self.blocks, self.tour, self.differing = self.blocks + 1, 0, frozenset()
        elif result.last is not None:
            self.tour, self.differing = result.last + 1, frozenset(result.differing)

    def left_of(self, block: TourBlock) -> TourBlock:
        """Return the next block without the part that was played."""
        left = tuple(trial for trial in block.trials if trial.tour is not None and trial.tour >= self.tour)
        return replace(block, trials=left, differing=self.differing)


@dataclass(kw_only=True)
class TourProgress:
    """The progress of an exhaustive run. `played`, `differing` and `bound` are flags; TourResult explains these names.

    `planned` is the number of test sequences planned so far. `before` is the sum of all results so far, including the
    results of earlier processes, with the shortest failure of each signature. `seconds` is the time for these results.
    `round` is the round that has begun, or None.
    """

    protocol: Protocol
    played: Flags
    differing: Flags
    bound: Flags
    planned: int = 0
    before: TourResult = field(default_factory=TourResult)
    seconds: float = 0.0
    round: RoundProgress | None = None

    @staticmethod
    def of_none(graph: Graph, protocol: Protocol) -> "TourProgress":
        """Return the progress at the start of a run."""
        played, differing, bound = (np.zeros(graph.size, bool) for _ in _FLAGS)
        return TourProgress(protocol=protocol, played=played, differing=differing, bound=bound)

    def add(self, result: TourResult, seconds: float) -> None:
        """Add the result of a block. `seconds` is the time of the whole run so far."""
        self.played[list(result.played)] = True
        self.differing[list(result.differing)] = True
        self.bound[list(result.bound)] = True
        self.before.include(result, self.protocol)
        self.seconds = seconds


class KeptTours:
    """The file with the progress of an exhaustive run. A later run with an equal request resumes from this file."""

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
        """Return the saved progress, or None if there is no progress that this run can resume. Raises ProgressError."""
        return self.unfinished.load(self._progress)

    def _progress(self, document: dict[str, Any]) -> TourProgress:
        flags = {name: unpacked(document[name], self._graph.size) for name in _FLAGS}
        # The adapter may reply again after the restart, so the count of schedules without a valid reply begins at 0.
        fields = block_rows.sum_fields(document["before"], self._plan) | {"unjudged": 0, "given_up": False}
        return TourProgress(
            protocol=self._protocol,
            **flags,
            planned=document["planned"],
            before=TourResult(**fields),
            seconds=document["seconds"],
            round=self._round(document.get("round")),
        )

    def _round(self, begun: dict[str, Any] | None) -> RoundProgress | None:
        """Return the round that had begun. None if the blocks have another size now, so that a new round is planned."""
        if begun is None or begun["size"] != self._plan.processes_for:
            return None
        flags = {name: unpacked(begun[name], self._graph.size) for name in _FLAGS_OF_ROUND}
        return RoundProgress(**begun | flags | {"differing": frozenset(begun["differing"])})

    def save(self, progress: TourProgress) -> None:
        """Save the progress of a run. Raises ProgressError."""
        flags = {name: packed(getattr(progress, name)) for name in _FLAGS}
        before = block_rows.sum_row(progress.before)
        begun = None
        if progress.round is not None:
            begun = vars(progress.round) | {"differing": sorted(progress.round.differing)}
            begun |= {name: packed(begun[name]) for name in _FLAGS_OF_ROUND}
        self.unfinished.save(
            {**flags, "planned": progress.planned, "before": before, "seconds": progress.seconds, "round": begun}
        )


def packed(flags: Flags) -> str:
    """Return an array of flags as compressed text."""
    return base64.b85encode(zlib.compress(np.packbits(flags).tobytes())).decode()


def unpacked(text: str, size: int) -> Flags:
    """Return the array of `size` flags that the function `packed` has written as `text`."""
    bits = np.frombuffer(zlib.decompress(base64.b85decode(text)), np.uint8)
    return np.unpackbits(bits, count=size).astype(bool)
