"""The crew of an exhaustive run: rounds of tours, until all transitions were played that can be reached.

A tour ends where the subject differs. So after a round there may be transitions that were planned and not played; the
next one plans tours along those, by ways that have nothing differing in them, as long as there are any.
"""

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

from epochfuzz.harness.conform.exhaustive.graph import Graph, Tour, graph
from epochfuzz.harness.conform.exhaustive.playing import within_bounds
from epochfuzz.harness.conform.exhaustive.standing import Keeper, Standing
from epochfuzz.harness.conform.exhaustive.tour_block import Share, TourBlock, TourResult, tour_block
from epochfuzz.harness.conform.oracle.fault import SubjectFailed
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.block import BlockResult, Failed, Trial
from epochfuzz.harness.conform.run.drive import Driven, Setting
from epochfuzz.harness.conform.run.nonconformity import Nonconformity
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.conform.run.workers import Processes
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


@dataclass(frozen=True)
class Asked:
    """What of all transitions is to be played: also those `refused`, for so many seconds, kept in a directory."""

    refused: bool
    seconds: float | None
    directory: Path


class Exhaustive:
    """Plays all transitions by the processes of this machine. `graph` and `standing` are there once it has begun."""

    def __init__(self, asked: Asked, processes: Processes) -> None:
        self.graph: Graph | None = None
        self.standing: Standing | None = None
        self.keeper: Keeper | None = None
        self.went_on = False
        self.is_complete = False
        self._asked, self._processes = asked, processes
        self._until: float | None = None

    @property
    def seconds(self) -> float:
        """How long tours have been played, in earlier runs as well."""
        return self._processes.seconds

    def results(self, plan: Plan, protocol: Protocol) -> Generator[BlockResult]:
        """Yield what comes of tours, a block at a time: first, if there were any, of those of earlier runs."""
        try:
            verbs = _verbs(plan, protocol)
        except SubjectFailed as failed:
            yield _no_answer(plan, protocol, failed)
            return
        self.graph = graph(protocol, plan.settings, verbs, self._asked.refused)
        self.keeper = Keeper(self._asked.directory, plan, protocol, self.graph)
        kept = self.keeper.load()
        self.went_on = kept is not None
        self.standing = kept or Standing.of_none(self.graph)
        self._processes.seconds = self.standing.seconds
        if kept is not None:
            yield kept.before
        self._until = None if self._asked.seconds is None else time.time() + self._asked.seconds
        number = count(self.standing.before.schedules)
        while not self._is_late:
            played = False
            for result in self._round(_Round(plan, protocol, self.graph, self.standing, self._until), number):
                played = True
                yield result
            if not played:
                self.is_complete = True
                self.keeper.forget()
                return

    def nonconformities(
        self, plan: Plan, protocol: Protocol, failed: Sequence[tuple[Failed, int]]
    ) -> Iterator[Nonconformity]:
        """Return a nonconformity for each of the failed tours, one after another."""
        return self._processes.nonconformities(plan, protocol, failed)

    def progress(self, conformance: Conformance) -> str:
        """How far it is, where no block says so."""
        return conformance.progress.replace("schedules", "tours")

    @property
    def _is_late(self) -> bool:
        return self._until is not None and time.time() >= self._until

    def _round(self, round_: "_Round", numbers: Iterator[int]) -> Generator[BlockResult]:
        """Play tours along all that was not played yet, as far as it can be reached by what does not differ."""
        assert self.keeper is not None
        with closing(self._processes.run(round_.blocks(numbers))) as results:
            for result in results:
                assert isinstance(result, TourResult)
                round_.standing.add(result, self._processes.seconds)
                self.keeper.save(round_.standing)
                yield result


class _Round:
    """Tours along what is left, and the blocks that they are cut into."""

    def __init__(self, plan: Plan, protocol: Protocol, found: Graph, standing: Standing, until: float | None) -> None:
        self.standing = standing
        self._plan, self._protocol, self._graph, self._until = plan, protocol, found, until
        self._setting = Setting(protocol, plan.settings, plan.judged_by)
        self._wanted = ~standing.played
        self._without = standing.differing | standing.bound
        self._steps = standing.before.shown.steps + found.steps(self._wanted, self._without)
        self._transitions = int(found.reached(self._without).sum())

    def blocks(self, numbers: Iterator[int]) -> Iterator[TourBlock]:
        """Yield the tours, each with a number, in blocks."""
        tours = ((next(numbers), tour) for tour in self._tours())
        while together := list(islice(tours, self._plan.processes_for)):
            if self._until is not None and time.time() >= self._until:
                return
            played = set(self.standing.played.nonzero()[0].tolist())
            steps = self.standing.before.shown.steps
            share = Share(self._transitions, len(played), self._steps, steps, self.standing.seconds)
            yield tour_block(self._plan, self._protocol, together, self._until, share, played)

    def _tours(self) -> Iterator[Tour]:
        """Yield the tours, without events that only a bound forbids: to a subject they are nothing."""
        for tour in self._graph.tours(self._wanted, self._without):
            if all(tour.applies):
                yield tour
                continue
            sendable = within_bounds(tour.events, self._setting)
            self.standing.bound[[edge for edge, is_sent in zip(tour.edges, sendable, strict=True) if not is_sent]] = (
                True
            )
            if any(sendable):
                yield tour.only(sendable)


def _verbs(plan: Plan, protocol: Protocol) -> list[str]:
    """Return the events that a subject has. Raises SubjectFailed, SubjectUnable and CommandError."""
    with CommandSubject(plan.command, plan.patience) as subject:
        return subject.reset(wire.config_of(plan.settings), protocol.name)


def _no_answer(plan: Plan, protocol: Protocol, failed: SubjectFailed) -> BlockResult:
    """Report that there was no answer to the first reset."""
    result, driven = BlockResult(), Driven()
    driven.fail(failed.fault)
    result.add(Trial(b"", plan.settings, tour=0), protocol, driven)
    return result
