"""Blocks of test sequences. An adapter process plays a block, and the result has the covered transitions."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from epochfuzz.harness.conform.exhaustive.graph import Tour
from epochfuzz.harness.conform.exhaustive.playing import play, within_bounds
from epochfuzz.harness.conform.protocol.discrepancy import JUDGED, DiscrepancyKind
from epochfuzz.harness.conform.protocol.subject import Answering, CommandSubject
from epochfuzz.harness.conform.run.block import Block, BlockResult, Trial
from epochfuzz.harness.conform.run.drive import Driven, Setting
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.engine.explore.tours import Flags
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


@dataclass(frozen=True)
class TourTrial(Trial):
    """A test sequence as a trial. `edges` are its transition numbers. `applies` has True for each enabled event."""

    edges: tuple[int, ...] = ()
    applies: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Share:
    """The progress of the whole run before a block starts. To report progress, the block adds its own steps.

    `played` flags the transitions already played, and `transitions` is the number that the run can reach. The run has
    taken `steps` of `planned` steps, in `seconds`.
    """

    transitions: int
    played: Flags
    planned: int
    steps: int
    seconds: float

    def text(self, new: int, steps: int, seconds: float) -> str:
        """Return the progress of the run, and an estimate of the time left, as text.

        `new` is the number of transitions that this block was the first to play. `steps` and `seconds` are the steps
        and the time of this block.
        """
        done = self.steps + steps
        rate = done / max(self.seconds + seconds, 1e-9)
        left = max(0, self.planned - done) / max(rate, 1e-9)
        played = int(self.played.sum()) + new
        return (
            f"{played:,} of {self.transitions:,} transitions · {done:,} of {self.planned:,} steps ·"
            f" {rate:,.0f} steps/s · {_duration(left)} left"
        )


@dataclass(frozen=True)
class TourBlock(Block):
    """Test sequences for one adapter process. `bound` has the transitions that only a bound of the run forbids.

    The block always plays its first test sequence, but begins no other after the time `until` (seconds since 1970).
    `share` is the progress of the run before this block. `number` is the number of the block in its round. `differing`
    has the differing transitions that an earlier process found in the first part of this block.
    """

    number: int = 0
    differing: frozenset[int] = frozenset()
    bound: frozenset[int] = frozenset()
    until: float | None = None
    share: Share | None = None

    def result(self) -> "TourResult":
        """Return an empty result for the block's test sequences."""
        return TourResult(
            number=self.number,
            until=self.until,
            share=self.share,
            bound=set(self.bound),
            differing=set(self.differing),
        )

    def run(self, subject: Answering, trial: Trial) -> Driven:
        """Play one test sequence. Raises SubjectUnable and CommandError."""
        assert isinstance(subject, CommandSubject)  # clients play no test sequences
        return play(subject, trial.events, Setting(self.protocol, trial.settings, self.judged_by, every_refusal=True))

    def progress(self, result: BlockResult) -> str:
        """Return a line about the progress of the run, or of this block if `share` is None."""
        assert isinstance(result, TourResult)
        if self.share is None:
            return super().progress(result).replace("schedules and cases", "tours")
        return self.share.text(result.new, result.shown.steps, time.monotonic() - result.began)


@dataclass(kw_only=True)
class TourResult(BlockResult):
    """The result of a block of test sequences. `played`, `differing` and `bound` are sets of transition numbers.

    At a differing transition, the lockstep check found a difference, the adapter did not reply, or only one of the
    model and the adapter applied the event. The rest of this test sequence does not count as played, and the block
    skips each later test sequence with the transition. Only a bound of the run forbids the `bound` transitions. `new`
    counts the transitions played for the first time in the run. `number` is the number of the block, and `last` is the
    number of its last test sequence that was played, or None.
    """

    number: int = 0
    last: int | None = None
    until: float | None = None
    share: Share | None = None
    began: float = field(default_factory=time.monotonic)
    new: int = 0
    played: set[int] = field(default_factory=set)
    differing: set[int] = field(default_factory=set)
    bound: set[int] = field(default_factory=set)

    def wants(self, trial: Trial) -> bool:
        """Return whether to play a test sequence: time is left, and the sequence has no transition in `differing`."""
        assert isinstance(trial, TourTrial)
        is_late = self.until is not None and time.time() >= self.until and self.schedules > 0
        return not is_late and self.differing.isdisjoint(trial.edges)

    def add(self, trial: Trial, protocol: Protocol, driven: Driven) -> None:
        """Add the result of a test sequence."""
        super().add(trial, protocol, driven)
        assert isinstance(trial, TourTrial)
        self.last = trial.tour
        differs = _differs_at(trial, driven)
        played = set(trial.edges[: len(driven.answers) if differs is None else differs + 1])
        if self.share is not None:
            self.new += sum(not self.share.played[edge] for edge in played - self.played)
        self.played |= played
        if differs is not None:
            self.differing.add(trial.edges[differs])


def _differs_at(trial: TourTrial, driven: Driven) -> int | None:
    """Return the index of the first event whose reply is missing or not as planned. None if all are as planned."""
    for number, ((applied, _), applies) in enumerate(zip(driven.answers, trial.applies, strict=False)):
        if applied != applies:
            return number
    kinds = {sighting.fault.kind for sighting in driven.sightings}
    if DiscrepancyKind.DIFFERENCE in kinds:
        return len(driven.answers) - 1
    has_no_answer = bool(kinds - set(JUDGED)) and len(driven.answers) < len(driven.sent)
    return len(driven.answers) if has_no_answer else None


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def tour_block(plan: Plan, protocol: Protocol, tours: Iterable[tuple[int, Tour]]) -> TourBlock:
    """Return a block of numbered test sequences, without the events that a bound of the run forbids."""
    setting = Setting(protocol, plan.settings, plan.judged_by)
    trials = []
    bound: set[int] = set()
    for number, tour in tours:
        if not all(tour.applies):
            sendable = within_bounds(tour.events, setting)
            bound |= {edge for edge, is_sent in zip(tour.edges, sendable, strict=True) if not is_sent}
            if not any(sendable):
                continue
            tour = tour.only(sendable)
        trials.append(
            TourTrial(tour.events, plan.settings, known=plan.known, tour=number, edges=tour.edges, applies=tour.applies)
        )
    return TourBlock(
        command=plan.command,
        patience=plan.patience,
        protocol=protocol,
        judged_by=plan.judged_by,
        trials=tuple(trials),
        max_failures=plan.max_failures,
        bound=frozenset(bound),
    )
