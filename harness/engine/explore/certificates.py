"""Prove by exhaustive search that no shorter schedule breaks a property, or find a shorter one.

A random run finds a schedule that breaks a property within a second. The proof that no shorter schedule exists may take
minutes, or more memory than the machine has. So proofs run in rounds until the time is up, and each round gives a
search four times as much time as the round before. Short schedules are proven in the first round, so one long search
cannot use up the time of all others. If possible, one search serves all properties of a protocol.

Most short schedules need few records and elections. So the engine also searches within smaller bounds. Such a search
finds a shorter schedule, or proves that none exists within these bounds, long before the search within the full bounds
could end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import le
from typing import TYPE_CHECKING

from epochfuzz.harness.engine.explore import explore
from epochfuzz.harness.engine.runtime.deadline import Deadline, TimeUp
from epochfuzz.harness.engine.shrink import shrink
from epochfuzz.model.core.model import Bounds, Protocol, Settings

if TYPE_CHECKING:
    from epochfuzz.harness.documents import parts

Report = Callable[[explore.SearchProgress], None]
Improved = Callable[["Claim"], None]

QUICK = 1.0  # seconds for a search in the first round, enough to prove most schedules of two replicas
_LONGER = 4  # factor by which each next round is longer


@dataclass(frozen=True)
class Reproducer:
    """A schedule that breaks a property, and the state of the proof that no shorter schedule breaks it.

    Every event of the schedule is enabled. If `certified_minimal` is True, no shorter schedule breaks the property
    under this protocol and configuration. Otherwise no schedule with fewer than `searched` events breaks it. `within`
    holds smaller bounds within which the schedule is proven shortest; None if it is not proven within any.
    """

    schedule: bytes
    certified_minimal: bool
    searched: int
    within: Bounds | None = None

    def plain(self) -> "parts.Proof":
        """Return the proof (without the schedule) as plain data for JSON."""
        within = None if self.within is None else self.within._asdict()
        return {"certified_minimal": self.certified_minimal, "searched": self.searched, "minimal_within": within}

    @property
    def proven(self) -> str:
        """The state of the proof as text, such as `certified minimal` or `nothing shorter than 9 events`."""
        if self.certified_minimal:
            return "certified minimal"
        nothing = f"nothing shorter than {self.searched} event{'s' * (self.searched != 1)}"
        if self.within is None:
            return nothing if self.searched else "not searched for anything shorter"
        return f"minimal with {self.within.text}, {nothing} otherwise"


class Claim:
    """The claim that no schedule shorter than `schedule` breaks a property, with the results of searches so far.

    `wanted` is the property's bit.
    """

    def __init__(self, protocol: Protocol, settings: Settings, wanted: int, schedule: bytes) -> None:
        self.protocol, self.settings, self.wanted, self.schedule = protocol, settings, wanted, schedule
        self._searched: dict[Bounds, int] = {}  # by bounds: no schedule with fewer events breaks the property
        self._exhausted: set[Bounds] = set()  # bounds within which a search ran out of memory

    @property
    def all_bounds(self) -> Bounds:
        """The bounds of the whole configuration."""
        bounds: Bounds = self.settings.bounds
        return bounds

    @property
    def searches(self) -> list[Bounds]:
        """The bounds that are still to be searched; an empty list if the claim is proven.

        The bounds of the whole configuration come first, then smaller bounds: the model's small bounds, and the bounds
        that the schedule needs.
        """
        most = self.all_bounds
        small = {type(most)(*map(min, each, most)) for each in self.protocol.model.small}
        in_order = [most, *sorted((small | {self._needs}) - {most}, key=lambda each: (sum(each), each))]
        return [] if self.reproducer.certified_minimal else [each for each in in_order if not self._has_ended(each)]

    @property
    def reproducer(self) -> Reproducer:
        """The schedule, and how far it is proven that no shorter schedule breaks the property."""
        searched = min(self._searched.get(self.all_bounds, 0), len(self.schedule))
        if searched == len(self.schedule):
            return Reproducer(self.schedule, True, searched)
        needs = self._needs
        within = [each for each in self._covered if all(map(le, needs, each))]
        return Reproducer(self.schedule, False, searched, max(within, key=sum, default=None))

    def shorten(self, schedule: bytes) -> None:
        """Replace the claim's schedule with `schedule` if `schedule` is shorter. Both must break the property."""
        self.schedule = min(self.schedule, schedule, key=len)

    def searched(self, bounds: Bounds, below: int) -> None:
        """Record that within some bounds no schedule with fewer than `below` events breaks the property."""
        self._searched[bounds] = max(below, self._searched.get(bounds, 0))

    def learn(self, bounds: Bounds, result: explore.Exploration) -> None:
        """Update the schedule and its proof with the result of a search within some bounds."""
        if result.shortest is not None:
            self.shorten(result.shortest)
        elif result.memory_exhausted:
            self._exhausted.add(bounds)
        self.searched(bounds, result.depth + 1 if result.memory_exhausted else len(self.schedule))

    @property
    def _needs(self) -> Bounds:
        return shrink.needed_bounds(self.schedule, self.protocol, self.settings)

    @property
    def _covered(self) -> list[Bounds]:
        return [bounds for bounds, below in self._searched.items() if below >= len(self.schedule)]

    def _has_ended(self, bounds: Bounds) -> bool:
        return bounds in self._exhausted or self._searched.get(bounds, 0) >= len(self.schedule)


def prove(
    claims: Sequence[Claim],
    deadline: Deadline,
    memory: int,
    seconds: float,
    improved: Improved = lambda claim: None,
    report: Report = lambda progress: None,
) -> None:
    """Run one round of proofs: for each claim, search for shorter schedules, for at most `seconds` in each search.

    `memory` limits the memory of a search, in bytes. The function calls `improved` with each claim that a search has
    changed or brought closer to a proof.
    """
    groups: dict[tuple[Protocol, int], list[Claim]] = {}
    for claim in claims:
        is_symmetric = claim.protocol.model.is_symmetric(claim.wanted, (claim.protocol,), claim.settings)
        groups.setdefault((claim.protocol, 0 if is_symmetric else claim.wanted), []).append(claim)
    for together in groups.values():
        searching = _Searching(deadline, seconds, memory, improved, report)
        late: list[Claim] = []  # skip these within larger bounds, where a search covers less in the same time
        for bounds in dict.fromkeys(each for claim in together for each in claim.searches):
            waiting = [claim for claim in together if bounds in claim.searches and claim not in late]
            ended_late = searching.within(bounds, waiting)
            late += ended_late if bounds != together[0].all_bounds else []


def prove_all(
    claims: Sequence[Claim],
    deadline: Deadline,
    memory: int,
    improved: Improved = lambda claim: None,
    report: Report = lambda progress: None,
) -> None:
    """Run rounds of longer and longer searches, until all claims are proven, or until time or memory runs out."""
    seconds = QUICK
    while not deadline.is_past and any(claim.searches for claim in claims):
        seconds *= _LONGER
        prove(claims, deadline, memory, seconds, improved, report)


def certify(
    schedule: bytes,
    protocol: Protocol,
    settings: Settings,
    wanted: int,
    memory: int = explore.DEFAULT_MEMORY,
    report: Report = lambda progress: None,
) -> Reproducer:
    """Search for shorter schedules without a time limit. Returns the shortest schedule, and the state of its proof.

    `memory` limits the memory of a search, in bytes. If the memory does not suffice, the proof is incomplete.
    """
    claim = Claim(protocol, settings, wanted, schedule)
    prove_all([claim], Deadline(None), memory, report=report)
    return claim.reproducer


def reproduce(
    schedule: bytes,
    protocol: Protocol,
    settings: Settings,
    wanted: int,
    memory: int = explore.DEFAULT_MEMORY,
    report: Report = lambda progress: None,
    deadline: Deadline | None = None,
) -> Reproducer:
    """Shorten a schedule that breaks a wanted property, and try to prove that no shorter schedule breaks it.

    `memory` limits the memory of a search, in bytes. `deadline` limits the time, None for no limit. Raises DoesNotBreak
    if the schedule does not break the property.
    """
    claim = Claim(protocol, settings, wanted, shrink.trim(schedule, protocol, settings, wanted))
    deadline = deadline or Deadline(None)
    prove([claim], deadline, memory, QUICK, report=report)
    if claim.searches:
        claim.shorten(shrink.shrink(claim.schedule, protocol, settings, wanted))
        prove_all([claim], deadline, memory, report=report)
    return claim.reproducer


def compile_search(protocol: Protocol, settings: Settings) -> None:
    """Compile the functions that a search needs. Call it before a time limit starts."""
    explore.explore(protocol, settings.bounded_by(1), wanted=0, depth=1)


@dataclass(frozen=True)
class _Searching:
    """The limits of searches, and the functions that receive their results.

    `deadline` limits all searches together, `seconds` limits each search, and `memory` is in bytes.
    """

    deadline: Deadline
    seconds: float
    memory: int
    improved: Improved
    report: Report

    def within(self, bounds: Bounds, claims: Sequence[Claim]) -> list[Claim]:
        """Search within some bounds for schedules shorter than the claimed ones. All claims have one protocol.

        Returns the claims whose searches were ended by the time limit.
        """
        if not claims or self.deadline.is_past:
            return list(claims)
        by_wanted = {claim.wanted: claim for claim in claims}
        depths = {claim.wanted: len(claim.schedule) - 1 for claim in claims}
        settings = claims[0].settings.within(bounds).bounded_by(max(depths.values()))
        deadline = self.deadline.within(self.seconds)
        watched = deadline.watching(self.report)
        try:
            for wanted, result in explore.explored(claims[0].protocol, settings, depths, self.memory, watched):
                claim = by_wanted.pop(wanted)
                claim.learn(bounds, result)
                self.improved(claim)
        except TimeUp:
            for claim in by_wanted.values():
                claim.searched(bounds, deadline.depth + 1)
                self.improved(claim)
        return list(by_wanted.values())
