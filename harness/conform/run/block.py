"""Blocks of a conformance run. A block has schedules that one adapter process runs one after another.

A block starts with a fresh process, so its result depends only on the block. It does not depend on the number of jobs
or on the machine. A block and its result can be pickled.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, field, replace

from epochfuzz.harness.conform.oracle.client_guarantees import CAUSED_BY_CLIENTS
from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.oracle.known import Known, reason
from epochfuzz.harness.conform.oracle.stability import changed
from epochfuzz.harness.conform.protocol.discrepancy import JUDGED, Discrepancy, DiscrepancyKind, SubjectUnable
from epochfuzz.harness.conform.protocol.subject import Answering
from epochfuzz.harness.conform.run.drive import ConformanceFailure, Driven, Exercise, Setting, drive
from epochfuzz.harness.conform.run.subjects import command_subject
from epochfuzz.harness.trace import causes
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import event_text, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

MOST_UNJUDGED = 10  # a run gives up after 10 schedules without a valid reply, because each needs a new process
_TWICE = 16  # if the guarantees are the oracle, every 16th schedule is run twice


@dataclass(frozen=True)
class Trial:
    """A schedule to run on an adapter. `number` is the number of a random schedule, `case` the id of a case.

    `tour` is the number of a test sequence of an exhaustive run. At most one of `number`, `case` and `tour` is set;
    none is set in a conformance test for pytest. `known` are accepted differences.
    """

    events: bytes
    settings: Configuration
    _: KW_ONLY
    number: int | None = None
    case: str | None = None
    known: tuple[Known, ...] = ()
    tour: int | None = None

    def under(self, settings: Configuration) -> "Trial":
        """Return a copy of this trial with other settings."""
        return replace(self, settings=settings)


@dataclass(frozen=True, kw_only=True)
class Block:
    """Schedules for one adapter process. The block ends after `max_failures` schedules with an unexpected failure.

    `patience` is the time limit for a reply in seconds. The run has `total` schedules and cases under the protocol, and
    `before` of them are in earlier blocks.
    """

    command: tuple[str, ...]
    patience: float
    protocol: Protocol
    judged_by: JudgedBy
    trials: tuple[Trial, ...]
    max_failures: int | None = None
    is_client: bool = False
    before: int = 0
    total: int = 0

    def result(self) -> "BlockResult":
        """Return an empty result, which `run_block` fills."""
        return BlockResult()

    def run(self, subject: Answering, trial: Trial) -> Driven:
        """Run one schedule on the adapter, and return the record of the run. Raises SubjectUnable and CommandError.

        A case that tests nothing of a client also raises SubjectUnable (see `missed`).

        If the oracle checks only the guarantees, some schedules run twice, to detect replies that change. Schedules of
        clients run once, because the time of a client's reports differs from run to run.
        """
        setting = Setting(self.protocol, trial.settings, self.judged_by, is_client=self.is_client)
        driven = drive(subject, trial.events, setting)
        is_sampled = not self.is_client and trial.number is not None and trial.number % _TWICE == 0
        if self.judged_by is JudgedBy.PROMISES and is_sampled and not driven.sightings:
            driven.sightings += changed(driven, drive(subject, trial.events, setting))
        if missed := self.missed(trial, driven):
            raise SubjectUnable(missed)
        return driven

    def missed(self, trial: Trial, driven: Driven) -> str:
        """Return why a case tests nothing of a client, or an empty text.

        A case without a failure tests a client only if each of the client's events happens. An event does not happen if
        it is not enabled under the protocol, or if the client sends no request for it.
        """
        if not self.is_client or trial.case is None or driven.sightings:
            return ""
        execution = Execution(self.protocol, trial.settings)
        for event, (applied, _) in zip(driven.sent, driven.answers, strict=True):
            is_enabled = execution.apply(event)
            if verb_of(event) in CAUSED_BY_CLIENTS and not applied:
                why = "the client sent no request for" if is_enabled else f"{self.protocol.name} does not enable"
                return f"{why} {event_text(event)}"
        of_client = (event for event in trial.events if verb_of(event) in CAUSED_BY_CLIENTS)
        unsent = next((event for event in of_client if event not in driven.sent), None)
        return "" if unsent is None else f"{self.protocol.name} does not enable {event_text(unsent)}"

    def progress(self, result: "BlockResult") -> str:
        """Return a line about the progress of the run."""
        done = self.before + result.cases + result.schedules + len(result.unable)
        return f"{done:,} of {self.total or len(self.trials):,} schedules and cases"


Signature = tuple[DiscrepancyKind, str, bool]


@dataclass(frozen=True)
class FailedTrial:
    """A failed schedule, with a single failure. `seen` counts the schedules whose failure has an equal signature."""

    trial: Trial
    sighting: ConformanceFailure
    seen: int = 1

    @property
    def fault(self) -> Discrepancy:
        """The discrepancy that the schedule showed."""
        return self.sighting.fault

    def signature(self, protocol: Protocol) -> Signature:
        """Return a key that is usually equal for failures with the same cause.

        Known and unknown failures have different keys.
        """
        return *self.fault.signature, self.known_flaw(protocol) is not None

    def known_flaw(self, protocol: Protocol) -> str | None:
        """Return the reason why the failure was expected, or None if it was not.

        Only violations, differences and exits of the adapter can be expected.
        """
        accepted = reason(self.trial.known, self.fault, self.sighting.sent, protocol, self.trial.settings)
        if accepted is not None or self.fault.kind is not DiscrepancyKind.PROMISE or self.fault.field is None:
            return accepted
        return causes.reason(self.sighting.sent, protocol, self.trial.settings, self.fault.field)


@dataclass(kw_only=True)
class BlockResult:
    """The result of a block.

    `schedules` counts random schedules and test sequences, `cases` counts replayed cases, and `shown` has further
    counts. `unexpected` counts the schedules with a failure that neither a known bug nor a known difference explains.
    `unjudged` counts the schedules without a valid reply. `given_up` means that the remaining schedules were not run:
    too many had no valid reply, a reply timed out, or the adapter no longer starts.
    """

    schedules: int = 0
    cases: int = 0
    shown: Exercise = field(default_factory=Exercise)
    failed: list[FailedTrial] = field(default_factory=list)
    unable: dict[str, str] = field(default_factory=dict)  # for each case that tested nothing, the reason
    unexpected: int = 0
    unjudged: int = 0
    given_up: bool = False

    def wants(self, trial: Trial) -> bool:
        """Return whether to run a schedule: always True here. A subclass may skip schedules."""
        return True

    def add(self, trial: Trial, protocol: Protocol, driven: Driven) -> None:
        """Add the record of a schedule that was run. Only the first failure of each signature counts."""
        first: dict[Signature, FailedTrial] = {}
        for sighting in driven.sightings:
            one = FailedTrial(trial, sighting)
            first.setdefault(one.signature(protocol), one)
        failed = list(first.values())
        self.schedules += trial.case is None
        self.cases += trial.case is not None
        self.shown.add(driven.shown)
        self.failed += failed
        self.unexpected += any(one.known_flaw(protocol) is None for one in failed)
        self.unjudged += any(one.fault.kind not in JUDGED for one in failed)
        self.given_up = self.unjudged >= MOST_UNJUDGED or any(map(_is_hopeless, driven.sightings))

    def include(self, other: "BlockResult", protocol: Protocol) -> None:
        """Add the result of another block. Keeps the shortest failure of each signature (kind and field)."""
        self.schedules += other.schedules
        self.cases += other.cases
        self.shown.add(other.shown)
        self.failed = shortest([*self.failed, *other.failed], protocol)
        self.unable |= other.unable
        self.unexpected += other.unexpected
        self.unjudged += other.unjudged
        self.given_up |= other.given_up


def shortest(failed: Iterable[FailedTrial], protocol: Protocol) -> list[FailedTrial]:
    """Return the shortest failure of each signature. Its `seen` is the sum over all failures with the signature."""
    by_signature: dict[Signature, FailedTrial] = {}
    for one in failed:
        signature = one.signature(protocol)
        known = by_signature.get(signature)
        if known is None:
            by_signature[signature] = one
        else:
            best = one if len(one.sighting.sent) < len(known.sighting.sent) else known
            by_signature[signature] = replace(best, seen=known.seen + one.seen)
    return list(by_signature.values())


def run_block(
    block: Block, report: Callable[[str], None] = lambda doing: None, result: BlockResult | None = None
) -> BlockResult:
    """Run the schedules of a block one after another, and return the result. Raises SubjectUnable and CommandError.

    `report` is called with the progress. The function fills `result` if it is given, so that the caller has the
    finished schedules even after Ctrl-C.
    """
    result = block.result() if result is None else result
    report("starting the adapter")
    with command_subject(block.command, block.patience, is_client=block.is_client) as subject:
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
    """Return the record of a failed run: the adapter rejects a configuration that it ran before."""
    driven = Driven()
    driven.fail(
        Discrepancy(DiscrepancyKind.UNSTABLE, None, "the system under test can run this", f"it cannot run it: {unable}")
    )
    return driven


def _is_hopeless(sighting: ConformanceFailure) -> bool:
    """Return whether more schedules would only waste time: after a time-out, or if the adapter does not start."""
    return sighting.fault.kind is DiscrepancyKind.TIMEOUT or (sighting.fault.kind not in JUDGED and not sighting.sent)
