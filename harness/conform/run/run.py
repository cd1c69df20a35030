"""A conformance run: it plays the cases of a corpus, then random schedules, and shrinks the failures.

The result of a run depends on the adapter, the seed and the configuration. It does not depend on where the blocks run:
local processes (workers.py) and Spark (campaign/conformance) give the same result, because blocks are independent and
their results are added in the order of the block numbers.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from typing import Protocol as Interface

from epochfuzz.harness.conform.oracle.judge import FIELDS
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind, SubjectUnable
from epochfuzz.harness.conform.protocol.process import CommandError
from epochfuzz.harness.conform.run.block import MOST_UNJUDGED, BlockResult, FailedTrial, shortest
from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
from epochfuzz.harness.conform.run.drive import Exercise
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.conform.exhaustive.counts import Toured

MOST_NONCONFORMITIES = 5  # failures that are shrunk for each protocol; one cause seldom has more signatures


@dataclass(kw_only=True)
class Conformance:
    """The result of a conformance run.

    `given_up` means that some schedules were not run, because the adapter gave no valid replies. `unable` maps each
    case that tested nothing to the reason, for example because the adapter could not run it. `seconds` is the time
    spent running schedules. If an exception ended the run after its first results, `ended_by` is this exception.
    `interrupted` means that Ctrl-C ended the run. `unshrunk` has the failures that were not shrunk before Ctrl-C.
    `toured` holds the counts of an exhaustive run, and is None for other runs.
    """

    schedules: int = 0
    cases: int = 0
    shown: Exercise = field(default_factory=Exercise)
    nonconformities: list[ConformanceFinding] = field(default_factory=list)
    unable: dict[str, str] = field(default_factory=dict)
    given_up: bool = False
    seconds: float = 0.0
    ended_by: SubjectUnable | CommandError | None = None
    interrupted: bool = False
    unshrunk: list[tuple[Protocol, FailedTrial]] = field(default_factory=list)
    toured: "Toured | None" = None

    def add(self, result: BlockResult, seconds: float) -> None:
        """Add the result of a block. `seconds` is the time of the whole run so far."""
        self.schedules += result.schedules
        self.cases += result.cases
        self.shown.add(result.shown)
        self.unable |= result.unable
        self.seconds = seconds

    def add_nonconformity(self, nonconformity: ConformanceFinding) -> None:
        """Add a finding, unless the result has an equal finding. Sort unexpected findings first, then by length."""
        if not any(nonconformity.is_same_as(other) for other in self.nonconformities):
            self.nonconformities.append(nonconformity)
            self.nonconformities.sort(key=lambda each: (each.known_flaw is not None, len(each.sighting.sent)))

    @property
    def steps_per_second(self) -> int:
        """The number of events that were sent and checked per second."""
        return round(self.shown.steps / max(self.seconds, 1e-9))

    @property
    def progress(self) -> str:
        """A line about the progress of the run."""
        return f"{self.schedules:,} schedules · {self.steps_per_second:,} steps/s"

    @property
    def conforms(self) -> bool:
        """True if the run found nothing except known bugs of the protocol and known differences."""
        return all(nonconformity.known_flaw for nonconformity in self.nonconformities)

    @property
    def vacuous(self) -> bool:
        """True if nothing was found and nothing was checked: no event was applied, or no field could be compared."""
        is_compared = not FIELDS.keys().isdisjoint(self.shown.fields)
        return not self.nonconformities and not (self.shown.applied.total() and is_compared)


class Runner(Interface):
    """The interface of a class that runs blocks and shrinks failures, in local processes or on Spark."""

    @property
    def toured(self) -> "Toured | None":
        """The counts of an exhaustive run, once the run has ended. None for other runs."""

    @property
    def seconds(self) -> float:
        """The time spent running blocks, in seconds."""

    def results(self, plan: Plan, protocol: Protocol) -> Generator[BlockResult]:
        """Yield the results of the blocks under a protocol, in the order of the block numbers.

        A caller that does not read all results must close the generator.
        """

    def nonconformities(
        self, plan: Plan, protocol: Protocol, failed: Sequence[FailedTrial]
    ) -> Iterator[ConformanceFinding]:
        """Yield a shrunk finding for each failure."""

    def progress(self, conformance: Conformance) -> str:
        """Return a line about the progress of the run."""


def run(plan: Plan, crew: Runner, report: Callable[[str], None] = lambda doing: None) -> Conformance:
    """Run the schedules of a plan with a runner, shrink the failures, and return the result.

    `report` is called with the progress. Ctrl-C ends the run, which then returns the results so far. Raises
    SubjectUnable and CommandError if there are no results yet.
    """
    conformance = Conformance()
    for protocol in plan.protocols:
        failed = _Failed(protocol)
        try:
            try:
                _run_blocks(plan, protocol, crew, conformance, failed, report)
            except (SubjectUnable, CommandError) as error:
                if not conformance.schedules + conformance.cases:
                    raise
                conformance.ended_by = error  # the failures found before are still reported
            _shrink(plan, protocol, crew, conformance, failed, report)
        except KeyboardInterrupt:
            conformance.interrupted = True
            conformance.unshrunk = [(protocol, one) for one in failed.to_shrink()]
        finally:
            conformance.toured = crew.toured
        if conformance.interrupted or conformance.ended_by is not None:
            break
    return conformance


def _shrink(
    plan: Plan,
    protocol: Protocol,
    crew: Runner,
    conformance: Conformance,
    failed: "_Failed",
    report: Callable[[str], None],
) -> None:
    """Shrink the failures one by one, and add them to the result as findings."""
    to_shrink = failed.to_shrink()
    report(f"shrinking {len(to_shrink)} failures under {protocol.name}")
    for one in crew.nonconformities(plan, protocol, to_shrink):
        conformance.add_nonconformity(one)
        failed.shrunk += 1


def _run_blocks(
    plan: Plan,
    protocol: Protocol,
    crew: Runner,
    conformance: Conformance,
    failed: "_Failed",
    report: Callable[[str], None],
) -> None:
    with closing(crew.results(plan, protocol)) as results:
        for result in results:
            conformance.add(result, crew.seconds)
            failed.add(result)
            report(crew.progress(conformance))
            conformance.given_up |= result.given_up or failed.unjudged >= MOST_UNJUDGED
            if plan.is_enough(failed.unexpected, failed.unjudged, result.given_up):
                break


class _Failed:
    """The shortest failure of each signature (kind and field) under a protocol, and counts of failed schedules."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._shortest: list[FailedTrial] = []
        self.unexpected = 0
        self.unjudged = 0
        self.shrunk = 0  # the number of failures already shrunk

    def add(self, result: BlockResult) -> None:
        self.unexpected += result.unexpected
        self.unjudged += result.unjudged
        self._shortest = shortest([*self._shortest, *result.failed], self._protocol)

    def to_shrink(self) -> list[FailedTrial]:
        """Return the failures to shrink next: unexpected ones first, then by severity and length."""

        def rank(one: FailedTrial) -> tuple[bool, int, int]:
            return one.known_flaw(self._protocol) is not None, _severity(one.fault), len(one.sighting.sent)

        return sorted(self._shortest, key=rank)[self.shrunk : MOST_NONCONFORMITIES]


def _severity(fault: Discrepancy) -> int:
    """Return the rank of the property that a failure breaks: 0 for the most severe. Other failures rank last."""
    if fault.kind is not DiscrepancyKind.PROMISE or fault.field not in properties.NAMES:
        return len(properties.NAMES)
    return properties.NAMES.index(fault.field)
