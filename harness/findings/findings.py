"""Turn the violations of random runs into findings: shorten their schedules, and prove that no schedule is shorter.

Protocols and settings may belong to a user's own model. Only causes and witnesses need Kafka's model.
"""

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
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.documents import walks

_CANDIDATES = 3  # failures to shrink for each violation whose first reproducer is not proven shortest
MOST_CANDIDATES = 4  # failures to shrink for each violation if there is time to look for variants
CERTIFICATE_MEMORY = 1 << 30


@dataclass(frozen=True)
class Breach:
    """A violation: a property that a protocol broke although the settings don't allow it.

    `seen` counts the schedules that broke the property. `failures` has the shortest of these schedules, up to four.
    The schedules in `failures` differ in the event that broke the property, or in the role (such as leader or
    follower) of that event's replica.
    """

    protocol: Protocol
    property: str
    seen: int
    failures: tuple[Failure, ...]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A property that a protocol breaks, with the shortest known schedule that breaks the property (`reproducer`).

    The schedule is in canonical form (engine/shrink/canonical.py). `witness` replays the schedule under all protocols
    of the random run. `variants` are other canonical schedules of equal length. `seen` counts the random schedules that
    broke the property. The reproducer comes from random schedule number `schedule`, which broke the property after
    `shrunk_from` events.
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
        """The protocol's choices and settings that cause the violation, with the issues that report these causes."""
        return causes(self.reproducer.schedule, self.protocol, self.witness.settings, self.property)

    @cached_property
    def known_flaw(self) -> str | None:
        """The known or suspected causes, in one line. None if no cause is known.

        Also None for a protocol with replaced mechanisms, such as `kip-320:fencing=none`.
        """
        return self.causes.reason if self.protocol.is_named else None

    def plain(self) -> "walks.Shrunk":
        """Return the finding as plain data, for JSON and for a campaign's tables."""
        texts = self.protocol.model.events.texts
        return {
            "protocol": self.protocol.name,
            "property": self.property,
            "events": texts(self.reproducer.schedule),
            "length": len(self.reproducer.schedule),
            "variants": [texts(variant) for variant in self.variants],
            **self.reproducer.plain(),
            "seen": self.seen,
            "schedule": self.schedule,
            "shrunk_from": self.shrunk_from,
        }


def _wanted(broken: Breach | Finding) -> int:
    return broken.protocol.model.judgement.set_of(broken.property)


class ScheduleEngine(Interface):
    """The interface of engines that run random schedules: a Walker, or a state machine."""

    protocols: tuple[Protocol, ...]
    settings: Configuration
    seed: int

    def walk(self, first: int, count: int) -> Tally:
        """Run schedules `first` to `first + count - 1`, and return their counted results."""

    def failing(self, failure: Failure, protocol: Protocol, property_: str) -> bytes:
        """Return the schedule of a failure under a protocol, with one byte for each event."""


def breaches(protocols: Sequence[Protocol], settings: Configuration, tally: Tally) -> list[Breach]:
    """Return the violations in a tally, without the properties that the settings permit to break."""
    allowed = properties.permitted(settings)
    return [each for each in all_breaches(protocols, tally) if each.property not in allowed]


def all_breaches(protocols: Sequence[Protocol], tally: Tally) -> list[Breach]:
    """Return the violations in a tally of any model, ordered by protocol and then by property."""
    return [
        Breach(protocol, name, int(tally.seen[index, bit]), tuple(failures[:MOST_CANDIDATES]))
        for index, protocol in enumerate(protocols)
        for bit, name in enumerate(protocol.model.judgement.names)
        if (failures := tally.candidates(index, bit))
    ]


@dataclass
class FoundFindings:
    """The findings of a random run. `unshrunk` lists the violations that remained when Ctrl-C ended the work."""

    findings: list[Finding] = field(default_factory=list)
    unshrunk: list[Breach] = field(default_factory=list)
    interrupted: bool = False

    def add(self, other: "FoundFindings") -> None:
        """Add the findings of `other`, which must belong to other violations."""
        self.findings += other.findings
        self.unshrunk += other.unshrunk
        self.interrupted |= other.interrupted


class FindingsView(Interface):
    """The interface of an observer that shows findings while they are shortened and proven."""

    def doing(self, what: str) -> None:
        """Show a phrase for the current work, such as `certifying`."""

    def found(self, findings: Sequence[Finding]) -> None:
        """Show all findings so far."""


def findings(
    walker: ScheduleEngine,
    of: Sequence[Breach],
    shown: FindingsView,
    certify: float | None = None,
    memory: int = CERTIFICATE_MEMORY,
) -> FoundFindings:
    """Turn violations into findings: shorten their schedules, search for shorter ones, and prove that none exists.

    `shown` receives each finding at once, and again after each improvement. `certify` is the approximate time limit in
    seconds, None for no limit. If `certify` is 0, the function shortens all schedules and proves nothing. `memory`
    bounds each search, in bytes. After the first Ctrl-C, the function returns the findings so far.
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
    """Yield the findings of each protocol in turn. Each protocol gets an equal share of the remaining time.

    `certify` is the time for all protocols, in seconds; None for no limit.
    """
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
    """The findings of random runs, while they are shortened and proven."""

    def __init__(self, walker: ScheduleEngine, shown: FindingsView, deadline: Deadline) -> None:
        self._walker, self._shown, self._deadline = walker, shown, deadline
        self._found: dict[Claim, Finding] = {}
        self._breaches: dict[Claim, Breach] = {}

    @property
    def known(self) -> list[Finding]:
        """The findings so far."""
        return list(self._found.values())

    def shrink(self, breach: Breach) -> None:
        """Turn a violation into a finding, and show the finding. Deletes unnecessary events of the shortest failure."""
        self._shown.doing(f"shrinking {breach.property} under {breach.protocol.name}")
        wanted = _wanted(breach)
        failing = self._walker.failing(breach.failures[0], breach.protocol, breach.property)
        trimmed = shrink.trim(failing, breach.protocol, self._walker.settings, wanted)
        claim = Claim(breach.protocol, self._walker.settings, wanted, trimmed)
        self._breaches[claim] = breach
        self._found[claim] = as_finding(self._walker, breach, claim.reproducer, [], breach.failures[0])
        self._shown.found(self.known)

    def certify(self, memory: int) -> None:
        """Try quick proofs of all findings. Then shorten the unproven findings with Hypothesis, and try longer proofs.

        `memory` bounds each search, in bytes.
        """
        claims = list(self._found)
        self._shown.doing("certifying")
        prove(claims, self._deadline, memory, QUICK, self._improved)
        self.shorten(_CANDIDATES)
        self._shown.doing("certifying")
        prove_all(claims, self._deadline, memory, self._improved)

    def shorten(self, most: int) -> None:
        """Shorten up to `most` failures of each unproven finding with Hypothesis. Leaves half of the time for proofs.

        The failures of a finding are of different kinds, so a later failure may shrink to a shorter schedule.
        """
        for rank in range(most):
            for claim in self._found:
                if self._deadline.remaining < self._deadline.seconds / 2:  # the other half is for proofs
                    return
                if rank < len(self._breaches[claim].failures) and claim.searches:
                    self._shorten(claim, self._breaches[claim].failures[rank])

    def _shorten(self, claim: Claim, failure: Failure) -> None:
        name = self._breaches[claim].property
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
    """Return the finding for a violation, without a proof. Shortens up to `candidates` failures with Hypothesis.

    The shortest result becomes the reproducer, and other results of equal length become its variants.
    """
    protocol, settings = breach.protocol, walker.settings
    wanted = _wanted(breach)

    def shrunk(failure: Failure) -> tuple[bytes, Failure]:
        failing = walker.failing(failure, protocol, breach.property)
        return shrink.shrink(failing, protocol, settings, wanted), failure

    tried = [shrunk(failure) for failure in breach.failures[:candidates]]
    schedule, failure = min(tried, key=lambda each: len(each[0]))
    as_short = [other for other, _ in tried if len(other) == len(schedule)]
    return as_finding(walker, breach, Claim(protocol, settings, wanted, schedule).reproducer, as_short, failure)


def certified(found: Sequence[Finding], seconds: float | None, memory: int = CERTIFICATE_MEMORY) -> list[Finding]:
    """Try to prove that the schedules of findings are shortest, and return the findings with these proofs.

    If a search finds a shorter schedule, the returned finding has that schedule. `seconds` is the time limit for all
    proofs, None for no limit. `memory` bounds each search, in bytes.
    """
    claims = {
        Claim(each.protocol, each.witness.settings, _wanted(each), each.reproducer.schedule): each for each in found
    }
    for each in found[:1]:
        compile_search(each.protocol, each.witness.settings)
    deadline = Deadline(seconds)
    prove(list(claims), deadline, memory, QUICK)
    prove_all(list(claims), deadline, memory)
    return [improved(each, claim.reproducer) for claim, each in claims.items()]


def improved(known: Finding, reproducer: Reproducer, failure: Failure | None = None) -> Finding:
    """Return a finding with a better reproducer: a stronger proof, or a shorter schedule.

    `failure` is the failure that was shrunk to the shorter schedule. If it is None, the finding keeps its failure.
    """
    if len(reproducer.schedule) == len(known.reproducer.schedule):
        return replace(known, reproducer=replace(reproducer, schedule=known.reproducer.schedule))
    wanted = _wanted(known)
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
    """Return the finding for a violation, with its reproducer.

    `as_short` are other schedules of equal length, which become the finding's variants. `shrunk` is the failure that
    was shrunk to the reproducer.
    """
    protocol, settings = breach.protocol, walker.settings
    wanted = _wanted(breach)
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
