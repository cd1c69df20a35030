"""Certificates: that no schedule breaks a property in fewer events, proven by exhaustive search, the cheapest first.

What a walk broke is known within a second; the proof that nothing is shorter may take minutes, or more memory than
there is. So proofs come in rounds, in each of which a search may take four times as long as in the one before, until
time is up: what is short is proven at once, and a search that would take all the time keeps no other from its own. One
search serves all properties of a protocol that it can. Most of what is short is short of records and elections too, so
small bounds are searched as well, within which a shorter schedule is found, or none proven to be, long before all of
that is without bounds.
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

QUICK = 1.0  # seconds that a search may take in the first round, by which most of what two replicas break is proven
_LONGER = 4  # times as long in each of the next


@dataclass(frozen=True)
class Reproducer:
    """A schedule that breaks a property, every event of it enabled.

    `certified_minimal`: exhaustive search found nothing shorter for that protocol, property and configuration.
    Otherwise `searched` is the length below which nothing shorter exists, for time or memory ended the search there,
    and `within` are bounds within which it is minimal, None where no search within bounds came to its end.
    """

    schedule: bytes
    certified_minimal: bool
    searched: int
    within: Bounds | None = None

    def plain(self) -> "parts.Proof":
        """Return what is proven, as plain data."""
        within = None if self.within is None else self.within._asdict()
        return {"certified_minimal": self.certified_minimal, "searched": self.searched, "minimal_within": within}

    @property
    def proven(self) -> str:
        """What is proven of its length."""
        if self.certified_minimal:
            return "certified minimal"
        nothing = f"nothing shorter than {self.searched} event{'s' * (self.searched != 1)}"
        if self.within is None:
            return nothing if self.searched else "not searched for anything shorter"
        return f"minimal with {self.within.text}, {nothing} otherwise"


class Claim:
    """That a schedule is a shortest to break a wanted property under a protocol, and how far that is proven."""

    def __init__(self, protocol: Protocol, settings: Settings, wanted: int, schedule: bytes) -> None:
        self.protocol, self.settings, self.wanted, self.schedule = protocol, settings, wanted, schedule
        self._searched: dict[Bounds, int] = {}  # the length below which nothing shorter is within these bounds
        self._exhausted: set[Bounds] = set()  # where memory has ended the search, and will again

    @property
    def all_bounds(self) -> Bounds:
        """The bounds of the configuration."""
        bounds: Bounds = self.settings.bounds
        return bounds

    @property
    def searches(self) -> list[Bounds]:
        """The bounds to be searched yet, first all of the configuration; then those that are small, or that it needs.

        None is left once it is proven.
        """
        most = self.all_bounds
        small = {type(most)(*map(min, each, most)) for each in self.protocol.model.small}
        in_order = [most, *sorted((small | {self._needs}) - {most}, key=lambda each: (sum(each), each))]
        return [] if self.reproducer.certified_minimal else [each for each in in_order if not self._has_ended(each)]

    @property
    def reproducer(self) -> Reproducer:
        """The schedule, with what is proven of it."""
        searched = min(self._searched.get(self.all_bounds, 0), len(self.schedule))
        if searched == len(self.schedule):
            return Reproducer(self.schedule, True, searched)
        needs = self._needs
        within = [each for each in self._covered if all(map(le, needs, each))]
        return Reproducer(self.schedule, False, searched, max(within, key=sum, default=None))

    def shorten(self, schedule: bytes) -> None:
        """Take a schedule that breaks the same, if it is shorter."""
        self.schedule = min(self.schedule, schedule, key=len)

    def searched(self, bounds: Bounds, below: int) -> None:
        """Note that nothing below a length is within some bounds."""
        self._searched[bounds] = max(below, self._searched.get(bounds, 0))

    def learn(self, bounds: Bounds, result: explore.Exploration) -> None:
        """Take what a search for anything shorter within some bounds came to."""
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
    """One round: search for anything shorter than what is claimed, each search for so many seconds at the most.

    `improved` is told of each claim of which more is known.
    """
    groups: dict[tuple[Protocol, int], list[Claim]] = {}
    for claim in claims:
        is_symmetric = claim.protocol.model.is_symmetric(claim.wanted, (claim.protocol,), claim.settings)
        groups.setdefault((claim.protocol, 0 if is_symmetric else claim.wanted), []).append(claim)
    for together in groups.values():
        searching = _Searching(deadline, seconds, memory, improved, report)
        late: list[Claim] = []  # of larger bounds, as much time sees less
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
    """Round after round, until all is proven, or memory or time ends it."""
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
    """Search every shorter schedule; one that breaks a wanted property takes the place of the one given."""
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
    """Return a reproducer from a schedule that breaks a wanted property, proven as far as time goes.

    Raises DoesNotBreak.
    """
    claim = Claim(protocol, settings, wanted, shrink.trim(schedule, protocol, settings, wanted))
    deadline = deadline or Deadline(None)
    prove([claim], deadline, memory, QUICK, report=report)
    if claim.searches:
        claim.shorten(shrink.shrink(claim.schedule, protocol, settings, wanted))
        prove_all([claim], deadline, memory, report=report)
    return claim.reproducer


def compile_search(protocol: Protocol, settings: Settings) -> None:
    """Compile what searches, before a clock starts."""
    explore.explore(protocol, settings.bounded_by(1), wanted=0, depth=1)


@dataclass(frozen=True)
class _Searching:
    """How to search: until when, for how long, in how much memory, and whom to tell."""

    deadline: Deadline
    seconds: float
    memory: int
    improved: Improved
    report: Report

    def within(self, bounds: Bounds, claims: Sequence[Claim]) -> list[Claim]:
        """Search within bounds for anything shorter than some claims of a protocol; those that time ended it for."""
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
