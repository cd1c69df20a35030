"""Blocks: schedules that one process of the subject runs one after another, whoever runs the block.

A block starts with a fresh process of the subject, so what it gives depends on nothing but the block: not on the number
of jobs, nor on the machine. A block can be pickled, and so can what comes of it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from epochfuzz.harness.conform.oracle.fault import JUDGED, Fault, Kind, SubjectUnable
from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.oracle.known import Known, reason
from epochfuzz.harness.conform.oracle.stability import changed
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.drive import Driven, Setting, Shown, Sighting, drive
from epochfuzz.harness.witness import causes
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

MOST_UNJUDGED = 10  # schedules without an answer to judge, each of which takes a new process, until a run gives up
_TWICE = 16  # judged by promises, one schedule in that number is run twice


@dataclass(frozen=True)
class Trial:
    """A schedule to be run, with where it comes from: a number among the seed's, a case, or a tour's number.

    `known` are the differences that are no news.
    """

    events: bytes
    settings: Configuration
    number: int | None = None
    case: str | None = None
    known: tuple[Known, ...] = ()
    tour: int | None = None

    def under(self, settings: Configuration) -> "Trial":
        """Return the same in another configuration."""
        return replace(self, settings=settings)


@dataclass(frozen=True)
class Block:
    """Schedules for one process of the subject. After `max_failures` of them have failed, no more are run."""

    command: tuple[str, ...]
    patience: float
    protocol: Protocol
    judged_by: JudgedBy
    trials: tuple[Trial, ...]
    max_failures: int | None = None

    def result(self) -> "BlockResult":
        """Return what comes of it, as long as nothing has."""
        return BlockResult()

    def run(self, subject: CommandSubject, trial: Trial) -> Driven:
        """Run one of its trials. Raises SubjectUnable and CommandError."""
        setting = Setting(self.protocol, trial.settings, self.judged_by)
        driven = drive(subject, trial.events, setting)
        is_sampled = trial.number is not None and trial.number % _TWICE == 0
        if self.judged_by is JudgedBy.PROMISES and is_sampled and not driven.sightings:
            driven.sightings += changed(driven, drive(subject, trial.events, setting))
        return driven

    def progress(self, result: "BlockResult") -> str:
        """How far it is."""
        return f"{result.cases + result.schedules:,} of {len(self.trials):,} schedules of this process"


@dataclass(frozen=True)
class Failed:
    """A trial and one fault that it showed."""

    trial: Trial
    sighting: Sighting

    @property
    def fault(self) -> Fault:
        """What is wrong."""
        return self.sighting.fault

    def known_flaw(self, protocol: Protocol) -> str | None:
        """Why a broken guarantee, a difference or an end was to be expected; None where it was not, and else."""
        if self.fault.kind in (Kind.DIFFERENCE, Kind.DIED):
            return reason(self.trial.known, self.fault, self.sighting.sent, protocol, self.trial.settings)
        if self.fault.kind is not Kind.PROMISE or self.fault.field is None:
            return None
        return causes.reason(self.sighting.sent, protocol, self.trial.settings, self.fault.field)


@dataclass
class BlockResult:
    """What came of a block.

    `unexpected` counts the schedules that failed other than by a known bug, `unjudged` those that gave no answers to
    judge. `given_up`: its last trials were not run, for there was too much of the latter.
    """

    schedules: int = 0
    cases: int = 0
    shown: Shown = field(default_factory=Shown)
    failed: list[Failed] = field(default_factory=list)
    unable: dict[str, str] = field(default_factory=dict)  # by case, why the subject could not run it
    unexpected: int = 0
    unjudged: int = 0
    given_up: bool = False

    def wants(self, trial: Trial) -> bool:
        """Whether there is anything to be learned from a trial yet."""
        return True

    def add(self, trial: Trial, protocol: Protocol, driven: Driven) -> None:
        """Add what came of a trial."""
        failed = [Failed(trial, sighting) for sighting in driven.sightings]
        self.schedules += trial.case is None
        self.cases += trial.case is not None
        self.shown.add(driven.shown)
        self.failed += failed
        self.unexpected += any(one.known_flaw(protocol) is None for one in failed)
        self.unjudged += any(one.fault.kind not in JUDGED for one in failed)
        self.given_up = self.unjudged >= MOST_UNJUDGED or any(map(_is_hopeless, driven.sightings))


def run_block(
    block: Block, report: Callable[[str], None] = lambda doing: None, result: BlockResult | None = None
) -> BlockResult:
    """Run the trials of a block in order. Raises SubjectUnable and CommandError. `report` is told how far it is.

    What comes of it is added to `result`, which has it also where Ctrl-C ends it.
    """
    result = block.result() if result is None else result
    report("starting the subject")
    with CommandSubject(block.command, block.patience) as subject:
        for trial in filter(result.wants, block.trials):
            try:
                result.add(trial, block.protocol, block.run(subject, trial))
            except SubjectUnable as unable:
                if trial.case is not None:
                    result.unable[trial.case] = str(unable)
                elif result.schedules:
                    result.add(trial, block.protocol, _no_longer_able(unable))
                    result.given_up = True
                else:
                    raise
            report(block.progress(result))
            if result.given_up or result.unexpected >= (block.max_failures or math.inf):
                break
    return result


def _no_longer_able(unable: SubjectUnable) -> Driven:
    """Return a finding: what it refuses to run now, it has run before."""
    driven = Driven()
    driven.fail(Fault(Kind.UNSTABLE, None, "the subject is able to run this", f"it is unable to: {unable}"))
    return driven


def _is_hopeless(sighting: Sighting) -> bool:
    """Whether it would take too long to see that again: time-outs, and what does not even start."""
    return sighting.fault.kind is Kind.TIMEOUT or (sighting.fault.kind not in JUDGED and not sighting.sent)
