"""Find a shortest schedule that breaks a property under one protocol, and breaks no property under another.

The documentation explains a KIP with such a schedule: it loses a record without the KIP, and loses none with the KIP.
"""

from collections.abc import Callable
from dataclasses import dataclass

from epochfuzz.harness.engine.explore.explore import DEFAULT_MEMORY, SearchProgress, explore
from epochfuzz.harness.engine.runtime.deadline import Deadline, TimeUp
from epochfuzz.harness.engine.shrink import shrink
from epochfuzz.harness.engine.walk.walk import Tally, Walker
from epochfuzz.model.core.model import Protocol, Settings

_DEPTHS = (8, 12, 16, 24, 40)  # a search of small depth has small keys, and costs little compared with the next search
_BLOCK = 10_000
_WALKED = 20 * _BLOCK  # random schedules to run if memory ended the search


@dataclass(frozen=True)
class Distinction:
    """The result of a search for a schedule that breaks a property under one protocol, and no property under another.

    `schedule` is None if the search found none. Every schedule of this kind has at least `searched` events. `complete`
    is True if the search proved that there is no schedule of this kind within the bounds.
    """

    schedule: bytes | None
    searched: int
    complete: bool

    @property
    def certified_minimal(self) -> bool:
        """True if exhaustive search showed that no shorter schedule of this kind exists."""
        return self.schedule is not None and len(self.schedule) <= self.searched


def distinguish(
    breaks: Protocol,
    holds: Protocol,
    settings: Settings,
    wanted: int,
    seed: int,
    seconds: float | None = None,
    report: Callable[[SearchProgress], None] = lambda progress: None,
) -> Distinction:
    """Search for a shortest schedule that breaks a wanted property under `breaks`, and no property under `holds`.

    If memory ends the search, the function runs random schedules with `seed` and shrinks the failing ones. Exhaustive
    search has then not proven the result shortest. `seconds` limits the time, None for no limit. If the time is over
    while a schedule is being shrunk, the function still finishes this work.
    """
    searched = 0
    explore(breaks, settings, wanted, depth=1, holding=[holds])  # compile before the clock starts
    deadline = Deadline(seconds)
    watched = deadline.watching(report)
    for depth in _DEPTHS:
        try:
            result = explore(breaks, settings.bounded_by(depth), wanted, depth, DEFAULT_MEMORY, watched, [holds])
        except TimeUp:
            return Distinction(None, max(searched, deadline.depth + 1), False)
        if result.shortest is not None:
            return Distinction(result.shortest, len(result.shortest), False)
        searched = result.depth + 1
        if result.memory_exhausted:
            break
        if result.complete and settings.bounded_by(depth) == settings:
            return Distinction(None, searched, True)
    return Distinction(_walked(breaks, holds, settings, wanted, seed, deadline), searched, False)


def _walked(
    breaks: Protocol, holds: Protocol, settings: Settings, wanted: int, seed: int, deadline: Deadline
) -> bytes | None:
    walker = Walker([breaks], settings, seed)
    tally = Tally.empty(walker.model, 1)
    while tally.schedules < _WALKED and not deadline.is_past:
        tally.add(walker.walk(tally.schedules, _BLOCK))
    shrunk: list[bytes] = []
    for bit in range(len(walker.model.judgement.names)):
        for failure in tally.candidates(0, bit) if wanted >> bit & 1 else []:
            if deadline.is_past:
                break
            schedule = walker.schedule(failure.schedule)
            if shrink.breaking_prefix(schedule, breaks, settings, wanted, [holds]) is not None:
                shrunk.append(shrink.shrink(schedule, breaks, settings, wanted, [holds]))
    return min(shrunk, key=lambda schedule: (len(schedule), schedule), default=None)
