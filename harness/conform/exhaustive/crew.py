"""Do an exhaustive conformance run on this machine: rounds of test sequences until no transition is left to play."""

import math
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from epochfuzz.harness.conform.exhaustive.counts import Toured, toured
from epochfuzz.harness.conform.exhaustive.graph import Graph, graph
from epochfuzz.harness.conform.exhaustive.rounds import Round, rounds
from epochfuzz.harness.conform.exhaustive.tour_block import Share, TourBlock, TourResult
from epochfuzz.harness.conform.exhaustive.tour_progress import KeptTours, RoundProgress, TourProgress
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, SubjectFailed
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.block import BlockResult, FailedTrial, Trial
from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
from epochfuzz.harness.conform.run.drive import Driven
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.conform.run.workers import Processes
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


@dataclass(frozen=True)
class TourRequest:
    """The options of an exhaustive run.

    With `refused`, the run also sends events that are not enabled. `seconds` is the time limit, or None. The run saves
    its progress in `directory`.
    """

    refused: bool
    seconds: float | None
    directory: Path


class Exhaustive:
    """Plays all transitions of the model within bounds, with adapter processes on this machine.

    `kept` is the file of the saved progress, and None before the run begins.
    """

    def __init__(self, asked: TourRequest, processes: Processes) -> None:
        self.kept: KeptTours | None = None
        self.toured: Toured | None = None
        self._is_complete = False
        self._asked, self._processes = asked, processes
        self._until: float | None = None

    @property
    def seconds(self) -> float:
        """The seconds spent on test sequences, including the time of earlier processes of this run."""
        return self._processes.seconds

    def results(self, plan: Plan, protocol: Protocol) -> Generator[BlockResult]:
        """Yield the results of test sequences, one block at a time.

        If the run resumes, the first result is the sum of the results of earlier processes.
        """
        try:
            verbs = verbs_of(plan, protocol)
        except SubjectFailed as failed:
            yield no_answer(plan, protocol, failed.fault)
            return
        found = graph(protocol, plan.settings, verbs, self._asked.refused)
        kept = self.kept = KeptTours(self._asked.directory, plan, protocol, found)
        before = kept.load()
        standing = before or TourProgress.of_none(found, protocol)
        try:
            yield from self._results(plan, protocol, found, standing, before is not None)
        finally:
            if standing.before.schedules:
                kept.save(standing)
            self.toured = toured(found, standing, self._is_complete)

    def nonconformities(
        self, plan: Plan, protocol: Protocol, failed: Sequence[FailedTrial]
    ) -> Iterator[ConformanceFinding]:
        """Yield a shrunk finding for each failed test sequence."""
        return self._processes.nonconformities(plan, protocol, failed)

    def progress(self, conformance: Conformance) -> str:
        """Return a line about the progress of the run. The line counts test sequences ("tours")."""
        return conformance.progress.replace("schedules", "tours")

    def _results(
        self, plan: Plan, protocol: Protocol, found: Graph, standing: TourProgress, goes_on: bool
    ) -> Generator[BlockResult]:
        assert self.kept is not None
        self._processes.seconds, self._processes.schedules = standing.seconds, standing.before.schedules
        if goes_on:
            yield standing.before
        self._until = None if self._asked.seconds is None else time.time() + self._asked.seconds
        for each in rounds(found, standing):
            if standing.round is None:
                standing.round = RoundProgress(
                    wanted=each.wanted, without=each.without, first=each.first, size=plan.processes_for
                )
            with closing(self._processes.run(self._blocks(plan, protocol, each, standing))) as results:
                for result in results:
                    assert isinstance(result, TourResult)
                    self._add(standing, standing.round, plan, result)
                    if self.kept.unfinished.is_due:
                        self.kept.save(standing)
                    yield result
            standing.round = None  # --for may end several blocks within, so the next run plans a new round
            if self._is_late:
                return
        self._is_complete = True

    def _add(self, standing: TourProgress, begun: RoundProgress, plan: Plan, result: TourResult) -> None:
        """Add the result of the next block. After Ctrl-C, leave out results of later blocks, which then run again."""
        if result.number != begun.blocks:
            return
        ended_early = result.given_up or result.unexpected >= (plan.max_failures or math.inf)
        standing.add(result, self._processes.seconds)
        begun.add(result, is_whole=not self._processes.interrupted and not ended_early)

    def _blocks(self, plan: Plan, protocol: Protocol, each: Round, standing: TourProgress) -> Iterator[TourBlock]:
        planned = standing.before.shown.steps + sum(each.lengths)
        transitions = int(each.graph.reached(each.without).sum())
        assert standing.round is not None
        begun = replace(standing.round)
        for number in range(begun.blocks, each.blocks(plan)):
            if self._is_late:
                return
            share = Share(
                transitions, standing.played.copy(), planned, standing.before.shown.steps, standing.seconds
            )  # fmt: skip
            block = replace(each.block(plan, protocol, number), number=number, until=self._until, share=share)
            yield begun.left_of(block) if number == begun.blocks else block

    @property
    def _is_late(self) -> bool:
        return self._until is not None and time.time() >= self._until


def verbs_of(plan: Plan, protocol: Protocol) -> list[str]:
    """Start the adapter, reset it, end it, and return the verbs of the events that it supports.

    Raises SubjectFailed, SubjectUnable and CommandError.
    """
    with CommandSubject(plan.command, plan.patience) as subject:
        return subject.reset(wire.config_of(plan.settings), protocol.name)


def no_answer(plan: Plan, protocol: Protocol, fault: Discrepancy) -> BlockResult:
    """Return a result with a single failure: the adapter gave no valid reply to its first reset."""
    result, driven = BlockResult(), Driven()
    driven.fail(fault)
    result.add(Trial(b"", plan.settings, tour=0), protocol, driven)
    return result
