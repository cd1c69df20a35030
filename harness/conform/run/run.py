"""A run: the corpus first, then drawn schedules; what fails is shrunk.

What comes of a run depends on the subject, the seed and the configuration, never on who runs the blocks, be it
processes here (workers.py) or Spark's (campaign/conformance): blocks do not depend on each other, and their results are
taken in order.
"""

import math
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from typing import Protocol as Interface

from epochfuzz.harness.conform.oracle.fault import Kind, SubjectUnable
from epochfuzz.harness.conform.protocol.process import CommandError
from epochfuzz.harness.conform.run.block import MOST_UNJUDGED, BlockResult, Failed
from epochfuzz.harness.conform.run.drive import Shown
from epochfuzz.harness.conform.run.nonconformity import Nonconformity
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.conform.exhaustive.counts import Toured

MOST_NONCONFORMITIES = 5  # for each protocol; one cause seldom shows in more ways than that


@dataclass
class Conformance:
    """What came of a run. `given_up`: not all schedules were run, for the subject gave no answers to judge.

    `unable` has, by case, why the subject could not run it. `seconds` is the time spent running schedules. `ended_by`
    is what ended the run before its end, a subject or a command that gave up after it had done some of it.
    `interrupted`: Ctrl-C ended it, and `unshrunk` are the failures that were not shrunk for that, by protocol.
    `toured` is what tours along all transitions came to, None without them.
    """

    schedules: int = 0
    cases: int = 0
    shown: Shown = field(default_factory=Shown)
    nonconformities: list[Nonconformity] = field(default_factory=list)
    unable: dict[str, str] = field(default_factory=dict)
    given_up: bool = False
    seconds: float = 0.0
    ended_by: SubjectUnable | CommandError | None = None
    interrupted: bool = False
    unshrunk: list[tuple[Protocol, Failed, int]] = field(default_factory=list)
    toured: "Toured | None" = None

    def add(self, result: BlockResult, seconds: float) -> None:
        """Add what came of a block, `seconds` were spent on running blocks so far."""
        self.schedules += result.schedules
        self.cases += result.cases
        self.shown.add(result.shown)
        self.unable |= result.unable
        self.seconds = seconds

    def add_nonconformity(self, nonconformity: Nonconformity) -> None:
        """Add a nonconformity, unless another one is the same. New ones come first, then the short."""
        if not any(nonconformity.is_same_as(other) for other in self.nonconformities):
            self.nonconformities.append(nonconformity)
            self.nonconformities.sort(key=lambda each: (each.known_flaw is not None, len(each.sighting.sent)))

    @property
    def steps_per_second(self) -> int:
        """Events sent, answered and judged, by the second."""
        return round(self.shown.steps / max(self.seconds, 1e-9))

    @property
    def progress(self) -> str:
        """How far it is."""
        return f"{self.schedules:,} schedules · {self.steps_per_second:,} steps/s"

    @property
    def conforms(self) -> bool:
        """Whether there is nothing wrong but known bugs of the protocol itself, and known differences."""
        return all(nonconformity.known_flaw for nonconformity in self.nonconformities)

    @property
    def vacuous(self) -> bool:
        """Whether no event was ever applied, or nothing ever shown."""
        return not self.nonconformities and not (self.shown.applied.total() and self.shown.fields)


class Crew(Interface):
    """Those who run blocks and shrink what failed."""

    @property
    def toured(self) -> "Toured | None":
        """What tours along all transitions came to, once their results are there; None without them."""

    @property
    def seconds(self) -> float:
        """How long they have been running blocks."""

    def results(self, plan: Plan, protocol: Protocol) -> Generator[BlockResult]:
        """Return what comes of the plan's blocks under a protocol, in order.

        Whoever wants no more closes the generator.
        """

    def nonconformities(
        self, plan: Plan, protocol: Protocol, failed: Sequence[tuple[Failed, int]]
    ) -> Iterator[Nonconformity]:
        """Return a nonconformity for each of the failed trials, which come with how often they were seen."""

    def progress(self, conformance: Conformance) -> str:
        """How far it is, after each result."""


def run(plan: Plan, crew: Crew, report: Callable[[str], None] = lambda doing: None) -> Conformance:
    """Run the plan. `report` is called with what is being done. Ctrl-C ends it with what there is by then.

    Raises SubjectUnable and CommandError if there is nothing else to tell.
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
                conformance.ended_by = error  # what was found before is still worth telling
            _shrink(plan, protocol, crew, conformance, failed, report)
        except KeyboardInterrupt:
            conformance.interrupted = True
            conformance.unshrunk = [(protocol, one, seen) for one, seen in failed.to_shrink()]
        finally:
            conformance.toured = crew.toured
        if conformance.interrupted or conformance.ended_by is not None:
            break
    return conformance


def _shrink(
    plan: Plan,
    protocol: Protocol,
    crew: Crew,
    conformance: Conformance,
    failed: "_Failed",
    report: Callable[[str], None],
) -> None:
    """Shrink the failures, and have each no longer among those to be shrunk."""
    to_shrink = failed.to_shrink()
    report(f"shrinking {len(to_shrink)} failures under {protocol.name}")
    for one in crew.nonconformities(plan, protocol, to_shrink):
        conformance.add_nonconformity(one)
        failed.shrunk += 1


def _run_blocks(
    plan: Plan,
    protocol: Protocol,
    crew: Crew,
    conformance: Conformance,
    failed: "_Failed",
    report: Callable[[str], None],
) -> None:
    with closing(crew.results(plan, protocol)) as results:
        for result in results:
            conformance.add(result, crew.seconds)
            failed.add(result)
            report(crew.progress(conformance))
            gives_up = result.given_up or failed.unjudged >= MOST_UNJUDGED
            conformance.given_up |= gives_up
            if gives_up or failed.unexpected >= (plan.max_failures or math.inf):
                break


class _Failed:
    """The shortest sighting of each signature and how often it was seen, with the counts of BlockResult.

    What is known and what is news are never taken for the same.
    """

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self.seen: Counter[tuple[Kind, str, bool]] = Counter()
        self.unexpected = 0
        self.unjudged = 0
        self.shrunk = 0  # so many of the shortest are done with
        self._shortest: dict[tuple[Kind, str, bool], Failed] = {}

    def add(self, result: BlockResult) -> None:
        self.unexpected += result.unexpected
        self.unjudged += result.unjudged
        for one in result.failed:
            signature = self._signature(one)
            self.seen[signature] += 1
            known = self._shortest.get(signature)
            if known is None or len(one.sighting.sent) < len(known.sighting.sent):
                self._shortest[signature] = one

    def to_shrink(self) -> list[tuple[Failed, int]]:
        """Return the shortest, each with how often its like was seen, but for those that are shrunk."""
        shortest = sorted(self._shortest.values(), key=lambda one: len(one.sighting.sent))[:MOST_NONCONFORMITIES]
        return [(one, self.seen[self._signature(one)]) for one in shortest[self.shrunk :]]

    def _signature(self, one: Failed) -> tuple[Kind, str, bool]:
        return *one.fault.signature, one.known_flaw(self._protocol) is not None
