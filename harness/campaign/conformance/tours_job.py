"""Campaigns that play every transition of the model within bounds on the system under test.

A transition is an event in a reachable state. Test sequences (tours) play the transitions in rounds
(conform/exhaustive/rounds.py). A round depends on the results of earlier rounds. The driver sends the transitions of
the round to the workers, and a worker plans the test sequences of its block. The results equal those of a local run.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from shlex import quote
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from epochfuzz.harness.campaign.conformance import kept_rows, rows
from epochfuzz.harness.campaign.conformance.conformance_job import PARAMETERS, Trials
from epochfuzz.harness.campaign.run.job import BlockRange, Counts, Job
from epochfuzz.harness.campaign.run.status import SoFar
from epochfuzz.harness.campaign.store.tables import Tables
from epochfuzz.harness.conform.exhaustive.graph import Graph, graph
from epochfuzz.harness.conform.exhaustive.rounds import Round
from epochfuzz.harness.conform.exhaustive.tour_progress import packed, unpacked
from epochfuzz.harness.conform.run.block import run_block
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance, Runner
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.campaign import Campaign


class OtherTransitionsError(RuntimeError):
    """A worker numbers the transitions differently from the driver."""


class Tours(Trials):
    """The job of playing every transition. `refused` adds events that are not enabled, which the system must reject.

    Each stage is a round of test sequences. Block numbers continue across rounds.
    """

    NAME = "tours"
    PARAMETERS = pa.schema(
        [
            *PARAMETERS,
            pa.field("refused", pa.bool_()),  # whether the test sequences also send events that are not enabled
            pa.field("round", pa.string()),  # JSON: the round that workers receive; null in the table
        ]
    )
    BLOCKS = rows.TOURS

    def __init__(self, plan: Plan, refused: bool, model: str | None = None, version: str | None = None) -> None:
        super().__init__(plan, model, version)
        self.refused = refused
        self._round_text: str | None = None
        self._round: tuple[Round, int] | None = None  # with the number of its first block
        self._steps: int | None = None  # number of steps planned in this round and all earlier ones

    @property
    def heading(self) -> str:
        """A line for the user about the job: it plays every transition, with this configuration."""
        return f"every transition · {self.settings.text()}"

    @property
    def protocol(self) -> Protocol:
        """The only protocol of the plan."""
        (protocol,) = self.plan.protocols
        return protocol

    def row(self) -> dict[str, Any]:
        """Return the parameters of the job as a row of PARAMETERS."""
        return super().row() | {"refused": self.refused, "round": None}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the job that a row of PARAMETERS describes. Raises ValueError."""
        try:
            work = cls(Plan.from_document(json.loads(row["plan"])), row["refused"], row["model"], row["version"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"the plan lacks or misplaces {error}") from None
        work._round_text = row["round"]
        return work

    def differing(self, other: Job[Any]) -> list[str]:
        """Return the names of the parameters that differ between this job and `other`, for messages."""
        if not isinstance(other, Tours):
            return ["kind of work"]
        return super().differing(other) + ["choice of --refused"] * (self.refused != other.refused)

    def how_to_resume(self, uri: str) -> str:
        """Return a sentence that says how to resume the campaign in the directory `uri`."""
        return f"repeat the command that began it, `epochfuzz conform --exhaustive --campaign {quote(uri)} ...`"

    # Methods that workers call

    @property
    def text_for_workers(self) -> str:
        """The job as text for workers: the parameters, and the transitions of the current round."""
        return json.dumps(json.loads(self.text) | {"round": self._round_text})

    def get_ready(self) -> None:
        """Compute the graph of all transitions on this worker.

        Raises OtherTransitionsError if the driver has another graph.
        """
        self._received_round()

    def block(self, number: int) -> dict[str, Any]:
        """Play the test sequences of a block, and return the results as a row of BLOCKS.

        Raises SubjectUnable and CommandError.
        """
        each, first = self._received_round()
        block = each.block(self.plan, self.protocol, number - first)
        result = block.result()
        run_block(block, result=result)
        return rows.tours_row(self.protocol.name, number, result)

    def tell(self, verbs: list[str], each: Round, first: int, steps: int) -> None:
        """Set the round that workers receive. `verbs` are the events that the system under test supports.

        `first` is the number of the round's first block. `steps` is the number of steps planned in this round and all
        earlier ones.
        """
        self._round, self._steps = (each, first), steps
        self._round_text = json.dumps(
            {
                "verbs": verbs,
                "digest": each.graph.digest,
                "wanted": packed(each.wanted),
                "without": packed(each.without),
                "first tour": each.first,
                "first block": first,
            }
        )

    def _received_round(self) -> tuple[Round, int]:
        """Return the round that the driver sent to this worker, and the number of its first block."""
        if self._round is None:
            assert self._round_text is not None, "every worker receives a round"
            received = json.loads(self._round_text)
            found = _graph(self.protocol.name, self.settings, tuple(received["verbs"]), self.refused)
            if found.digest != received["digest"]:
                raise OtherTransitionsError(
                    f"a worker has transitions {found.digest}, but the driver has {received['digest']}; install"
                    " the driver's versions of Python and Numba on each worker"
                )
            wanted, without = (unpacked(received[name], found.size) for name in ("wanted", "without"))
            self._round = Round(found, wanted, without, received["first tour"]), received["first block"]
        return self._round

    # Methods about the course of a campaign

    def stages(self, campaign: "Campaign[Conformance]") -> Iterator[BlockRange]:
        """Yield a stage for each round. Stops when all transitions are played, or after many failures."""
        from epochfuzz.harness.campaign.conformance.tour_results import stages

        return stages(campaign, self)

    def crew(self, campaign: "Campaign[Conformance]") -> Runner:
        """Return the runner to pass to conform/run/run.py. The runner reads the results of finished blocks."""
        from epochfuzz.harness.campaign.conformance.tour_results import TourResults

        return TourResults(campaign, self)

    def graph_of(self, verbs: list[str]) -> Graph:
        """Return the graph of transitions for a system under test that supports the given events."""
        return _graph(self.protocol.name, self.settings, tuple(verbs), self.refused)

    def progress(self, counts: Counts, seconds: float) -> str:
        """Return the progress in one line."""
        parts = [f"{counts['schedules']:,} tours", f"{round(counts['steps'] / seconds):,} steps/s"]
        if counts["reachable"]:
            parts.insert(0, f"{counts['played']:,} of {counts['reachable']:,} transitions")
        if self._steps is not None:
            parts.insert(1, f"{counts['steps']:,} of {self._steps:,} steps")
        return " · ".join(parts)

    def seconds_remaining(self, counts: Counts, seconds: float) -> float | None:
        """Return the estimated seconds until the end of the planned steps. None if no steps are planned or finished."""
        if self._steps is None or not counts["steps"]:
            return None
        return max(0.0, self._steps / counts["steps"] - 1) * seconds

    def so_far(self, tables: Tables) -> SoFar:
        """Return the results of the finished blocks."""
        counts = tables.counts(self.counted)
        for subject in tables.read_rows("subject", rows.SUBJECT):
            counts["reachable"] = subject["transitions"] or 0
            counts["played"] = kept_rows.played(tables)
        return SoFar(counts, kept_rows.found(tables, self.plan), {}, None)


@lru_cache(maxsize=2)
def _graph(protocol: str, settings: Configuration, verbs: tuple[str, ...], refused: bool) -> Graph:
    """Return the graph of transitions, computed once in a process. Raises DoesNotFit, MemoryEnded and Ambiguous."""
    return graph(parse_protocol(protocol), settings, verbs, refused)
