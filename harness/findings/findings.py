"""Findings: turn the properties that random runs break into short reproducers, in this process."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING
from typing import Protocol as Interface

from epochfuzz.harness.engine.explore.certificates import QUICK, Claim, Reproducer, compile_search, prove, prove_all
from epochfuzz.harness.engine.runtime.deadline import Deadline
from epochfuzz.harness.engine.runtime.interruption import Interruption
from epochfuzz.harness.engine.shrink import shrink
from epochfuzz.harness.engine.shrink.canonical import canonical
from epochfuzz.harness.engine.walk.walk import Failure, Tally
from epochfuzz.harness.trace.causes import Causes, causes
from epochfuzz.harness.trace.witness import Witness
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.documents import walks

_CANDIDATES = 3  # failures to shrink if the first reproducer is not proven shortest
MOST_CANDIDATES = 4  # failures to shrink if there is time to look for variants
CERTIFICATE_MEMORY = 1 << 30


@dataclass(frozen=True)
class Breach:
    """A property that a protocol must not break but broke: the number of schedules, and the shortest failures."""

    protocol: Protocol
    property: str
    seen: int
    failures: tuple[Failure, ...]


@dataclass(frozen=True)
class Finding:
    """A property that a protocol breaks, with the shortest known reproducer in canonical form.

    engine/shrink/canonical.py defines the canonical form. `witness` is the run of that schedule under all protocols of
    the random run. `variants` are reproducers of equal length that lead to different states. `seen` counts the
    schedules that broke the property. `schedule` is the number of the schedule that was shrunk, from `shrunk_from`
    events.
    """

    protocol: Protocol
    property: str
    reproducer: Reproducer
    witness: Witness
    variants: tuple[bytes, ...]
    seen: int
    schedule: int
    shrunk_from: int

    @cached_property
    def causes(self) -> Causes:
        """The choices of the protocol's mechanisms that the reproducer needs, and the issues that report them."""
        return causes(self.reproducer.schedule, self.protocol, self.witness.settings, self.property)

    @cached_property
    def known_flaw(self) -> str | None:
        """The reason why the finding was expected; None if it was not expected."""
        return self.causes.reason if self.protocol.is_named else None

    def plain(self) -> "walks.Shrunk":
        """Return the finding as plain data, in the form of the JSON document and of a campaign's tables."""
        return {
            "protocol": self.protocol.name,
            "property": self.property,
            "events": schedule_texts(self.reproducer.schedule),
            "length": len(self.reproducer.schedule),
            "variants": [schedule_texts(variant) for variant in self.variants],
            **self.reproducer.plain(),
            "seen": self.seen,
            "schedule": self.schedule,
            "shrunk_from": self.shrunk_from,
        }


class ScheduleEngine(Interface):
    """An engine that draws and runs schedules, and returns the schedule of a failure: a Walker or a state machine."""

    protocols: tuple[Protocol, ...]
    settings: Configuration
    seed: int

    def walk(self, first: int, count: int) -> Tally:
        """Run schedules `first` to `first + count - 1`."""

    def failing(self, failure: Failure, protocol: Protocol, property_: str) -> bytes:
        """Return the schedule of a failure."""


def breaches(protocols: Sequence[Protocol], settings: Configuration, tally: Tally) -> list[Breach]:
    """Return the violations of each protocol, in the order of protocols and then of properties."""
    allowed = properties.permitted(settings)
    return [
        Breach(protocol, name, int(tally.seen[index, bit]), tuple(failures[:MOST_CANDIDATES]))
        for index, protocol in enumerate(protocols)
        for bit, name in enumerate(properties.NAMES)
        if name not in allowed and (failures := tally.candidates(index, bit))
    ]


@dataclass
class FoundFindings:
    """The findings of random runs, in the order of the violations. `unshrunk`: violations not shrunk before Ctrl-C."""

    findings: list[Finding] = field(default_factory=list)
    unshrunk: list[Breach] = field(default_factory=list)
    interrupted: bool = False

    def add(self, other: "FoundFindings") -> None:
        """Add the findings of further violations."""
        self.findings += other.findings
        self.unshrunk += other.unshrunk
        self.interrupted |= other.interrupted


class FindingsView(Interface):
    """An observer that shows findings when they are found, and when they improve."""

    def doing(self, what: str) -> None:
        """Show the name of the current step."""

    def found(self, findings: Sequence[Finding]) -> None:
        """Show the findings so far."""


def findings(
    walker: ScheduleEngine,
    of: Sequence[Breach],
    shown: FindingsView,
    certify: float | None = None,
    memory: int = CERTIFICATE_MEMORY,
) -> FoundFindings:
    """Shrink violations and show them at once. Then search for shorter schedules, and prove that none is shorter.

    The function takes about `certify` seconds; None for no limit. With 0, it shrinks all violations and proves nothing.
    The first Ctrl-C ends the function, and it returns the findings so far. `memory` (bytes) bounds each search.
    """
    with Interruption() as interruption:
        if certify and of:
            shown.doing("compiling the search")
            compile_search(of[0].protocol, walker.settings)
        deadline = Deadline(None if certify == 0 else certify, interruption)
        work = _Findings(walker, shown, deadline)
        for number, breach in enumerate(of):
            if interruption.happened:
                return FoundFindings(work.known, list(of[number:]), True)
            work.shrink(breach)
        if certify == 0:
            work.shorten(1)
        else:
            work.certify(memory)
        return FoundFindings(work.known, [], interruption.happened)


def findings_by_protocol(
    walker: ScheduleEngine, of: Sequence[Breach], shown: FindingsView, certify: float | None, memory: int
) -> Iterator[FoundFindings]:
    """Yield the findings of one protocol after another. Each protocol has an equal share of the remaining time."""
    deadline = Deadline(certify)
    by_protocol = [list(same) for _, same in groupby(of, attrgetter("protocol"))]
    while by_protocol:
        share = None if certify is None else deadline.remaining / len(by_protocol)
        found = findings(walker, by_protocol.pop(0), shown, share, memory)
        if found.interrupted:
            found.unshrunk += [breach for same in by_protocol for breach in same]
            by_protocol.clear()
        yield found


class _Findings:
    """The findings of random runs, which improve over time."""

    def __init__(self, walker: ScheduleEngine, shown: FindingsView, deadline: Deadline) -> None:
        self._walker, self._shown, self._deadline = walker, shown, deadline
        self._found: dict[Claim, Finding] = {}
        self._breaches: dict[Claim, Breach] = {}

    @property
    def known(self) -> list[Finding]:
        """The findings so far."""
        return list(self._found.values())

    def shrink(self, breach: Breach) -> None:
        """Remove unnecessary events from the shortest failure, which is fast, and show the result."""
        self._shown.doing(f"shrinking {breach.property} under {breach.protocol.name}")
        wanted = properties.named(breach.property).bit
        failing = self._walker.failing(breach.failures[0], breach.protocol, breach.property)
        trimmed = shrink.trim(failing, breach.protocol, self._walker.settings, wanted)
        claim = Claim(breach.protocol, self._walker.settings, wanted, trimmed)
        self._breaches[claim] = breach
        self._found[claim] = as_finding(self._walker, breach, claim.reproducer, [], breach.failures[0])
        self._shown.found(self.known)

    def certify(self, memory: int) -> None:
        """Prove the findings whose proofs take little time. Then shrink the others, and prove them in the time left."""
        claims = list(self._found)
        self._shown.doing("certifying")
        prove(claims, self._deadline, memory, QUICK, self._improved)
        self.shorten(_CANDIDATES)
        self._shown.doing("certifying")
        prove_all(claims, self._deadline, memory, self._improved)

    def shorten(self, most: int) -> None:
        """Shrink up to `most` failures of each unproven finding with Hypothesis.

        The failures of a finding may be of different kinds.
        """
        for rank in range(most):
            for claim in self._found:
                if self._deadline.remaining < self._deadline.seconds / 2:  # the other half is for proofs
                    return
                if rank < len(self._breaches[claim].failures) and claim.searches:
                    self._shorten(claim, self._breaches[claim].failures[rank])

    def _shorten(self, claim: Claim, failure: Failure) -> None:
        name = properties.names(claim.wanted)[0]
        self._shown.doing(f"shrinking {name} under {claim.protocol.name} further")
        failing = self._walker.failing(failure, self._breaches[claim].protocol, name)
        shorter = shrink.shrink(failing, claim.protocol, claim.settings, claim.wanted)
        if len(shorter) < len(claim.schedule):
            claim.shorten(shorter)
            self._improved(claim, failure)

    def _improved(self, claim: Claim, failure: Failure | None = None) -> None:
        self._found[claim] = improved(self._found[claim], claim.reproducer, failure)
        self._shown.found(self.known)


def finding(walker: ScheduleEngine, breach: Breach, candidates: int) -> Finding:
    """Return the finding for a violation. Shrinks up to `candidates` failures, the shortest of each kind.

    The shortest result is the reproducer, and other results of the same length are its variants. Nothing is proven.
    """
    protocol, settings = breach.protocol, walker.settings
    wanted = properties.named(breach.property).bit

    def shrunk(failure: Failure) -> tuple[bytes, Failure]:
        failing = walker.failing(failure, protocol, breach.property)
        return shrink.shrink(failing, protocol, settings, wanted), failure

    tried = [shrunk(failure) for failure in breach.failures[:candidates]]
    schedule, failure = min(tried, key=lambda each: len(each[0]))
    as_short = [other for other, _ in tried if len(other) == len(schedule)]
    return as_finding(walker, breach, Claim(protocol, settings, wanted, schedule).reproducer, as_short, failure)


def certified(found: Sequence[Finding], seconds: float | None, memory: int = CERTIFICATE_MEMORY) -> list[Finding]:
    """Return the findings of a run with proofs, as far as `seconds` allow; None for no limit."""
    claims = {
        Claim(each.protocol, each.witness.settings, properties.named(each.property).bit, each.reproducer.schedule): each
        for each in found
    }
    for each in found[:1]:
        compile_search(each.protocol, each.witness.settings)
    deadline = Deadline(seconds)
    prove(list(claims), deadline, memory, QUICK)
    prove_all(list(claims), deadline, memory)
    return [improved(each, claim.reproducer) for claim, each in claims.items()]


def improved(known: Finding, reproducer: Reproducer, failure: Failure | None = None) -> Finding:
    """Return a finding with a better reproducer: a stronger proof, or a shorter schedule.

    The shorter schedule may come from another `failure`.
    """
    if len(reproducer.schedule) == len(known.reproducer.schedule):
        return replace(known, reproducer=replace(reproducer, schedule=known.reproducer.schedule))
    wanted = properties.named(known.property).bit
    settings = known.witness.settings
    schedule = canonical(reproducer.schedule, known.protocol, settings, wanted)
    return replace(
        known,
        reproducer=replace(reproducer, schedule=schedule),
        witness=Witness(schedule, settings, known.witness.protocols),
        variants=(),
        schedule=known.schedule if failure is None else failure.schedule,
        shrunk_from=known.shrunk_from if failure is None else failure.length,
    )


def as_finding(
    walker: ScheduleEngine, breach: Breach, reproducer: Reproducer, as_short: Sequence[bytes], shrunk: Failure
) -> Finding:
    """Return the finding for a violation, with its reproducer and the other schedules of equal length."""
    protocol, settings = breach.protocol, walker.settings
    wanted = properties.named(breach.property).bit
    schedules = [reproducer.schedule, *as_short]
    first, *others = dict.fromkeys(canonical(each, protocol, settings, wanted) for each in schedules)
    return Finding(
        protocol=protocol,
        property=breach.property,
        reproducer=replace(reproducer, schedule=first),
        witness=Witness(first, settings, walker.protocols),
        variants=tuple(sorted(others)),
        seen=breach.seen,
        schedule=shrunk.schedule,
        shrunk_from=shrunk.length,
    )
