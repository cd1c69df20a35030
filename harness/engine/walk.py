"""Walk: random schedules, compiled, each under every protocol, with every property checked after every event.

Schedules are walked in blocks. What a block returns is counters and, for each protocol and property, the few schedules
that broke it soonest: it merges with the next block's in any order, so threads and clusters change nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from harness.engine import generate
from harness.engine.compilation import kernel, part
from model import goals, properties, state
from model.configuration import Configuration
from model.events import event_text
from model.protocols import Protocol
from model.step import step

KEPT = 8  # shortest failures kept for each protocol and property
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, order=True)
class Failure:
    """A schedule that broke a property, after that many applied events."""

    length: int
    schedule: int


@dataclass
class Tally:
    """What walking some schedules showed; axes are protocol, then property, goal or rank.

    `seen` counts the schedules that broke a property, `goals` those that met a goal, `events` applied events. The
    KEPT failures with the fewest events, ties broken by schedule number, are rows (length, schedule) of `shortest`.
    """

    schedules: int
    events: np.ndarray
    seen: np.ndarray
    goals: np.ndarray
    shortest: np.ndarray

    @staticmethod
    def empty(protocols: int) -> "Tally":
        """The tally of no schedules."""
        properties_ = len(properties.PROPERTIES)
        return Tally(
            schedules=0,
            events=np.zeros(protocols, np.int64),
            seen=np.zeros((protocols, properties_), np.int64),
            goals=np.zeros((protocols, len(goals.NAMES)), np.int64),
            shortest=np.full((protocols, properties_, KEPT, 2), _NEVER, np.int64),
        )

    def add(self, other: "Tally") -> None:
        """Add the tally of other schedules to this one."""
        self.schedules += other.schedules
        self.events += other.events
        self.seen += other.seen
        self.goals += other.goals
        both = np.concatenate([self.shortest, other.shortest], axis=2)
        order = np.lexsort((both[..., 1], both[..., 0]), axis=-1)[..., :KEPT]
        self.shortest = np.take_along_axis(both, order[..., None], axis=2)

    def failures(self, protocol: int, property_: int) -> list[Failure]:
        """The failures kept for a protocol and a property (indices), the shortest first."""
        return [Failure(int(length), int(i)) for length, i in self.shortest[protocol, property_] if length != _NEVER]


class Walker:
    """Walks schedules of one seed under protocols on the same configuration. Safe to share between threads."""

    def __init__(self, protocols: Sequence[Protocol], settings: Configuration, seed: int) -> None:
        self.protocols = tuple(protocols)
        self.settings = settings
        self.seed = seed
        self.deck = generate.deck_for(settings)
        self._starts = np.array([state.to_record(state.initial(p, settings)) for p in protocols], state.RECORD)

    def walk(self, first: int, count: int) -> Tally:
        """Walk schedules `first` to `first + count - 1`."""
        tally = Tally.empty(len(self.protocols))
        tally.schedules = count
        walk_block(
            self._starts, np.uint64(self.seed), first, count, self.deck,
            tally.events, tally.seen, tally.goals, tally.shortest,
        )  # fmt: skip
        return tally

    def schedule(self, number: int) -> bytes:
        """Schedule `number` as drawn."""
        return generate.schedule(self.seed, number, self.deck)

    def applied(self, protocol: int, number: int, length: int) -> bytes:
        """The first `length` events of a schedule that are enabled under a protocol (an index)."""
        p = state.initial(self.protocols[protocol], self.settings)
        applied = (event for event in self.schedule(number) if step(p, event))
        return bytes(event for event, _ in zip(applied, range(length), strict=False))


def texts(schedule: Iterable[int]) -> list[str]:
    """Event texts of a schedule."""
    return [event_text(event) for event in schedule]


@part
def keep_failure(shortest, length, number):  # type: ignore[no-untyped-def]
    """Insert (length, number) into rows sorted by both, if it is among the first KEPT."""
    place = KEPT
    while place > 0 and (
        shortest[place - 1, 0] > length or (shortest[place - 1, 0] == length and shortest[place - 1, 1] > number)
    ):
        place -= 1
    if place == KEPT:
        return
    for row in range(KEPT - 1, place, -1):
        shortest[row] = shortest[row - 1]
    shortest[place, 0] = length
    shortest[place, 1] = number


@part
def walk_schedule(p, drawn, length, number, seen, shortest):  # type: ignore[no-untyped-def]
    """Run one schedule from the state `p`; count what it broke; returns the events applied."""
    applied = 0
    broken = 0
    for position in range(length):
        if not step(p, drawn[position]):
            continue
        applied += 1
        newly_broken = properties.broken_now(p) & ~broken
        if newly_broken:
            broken |= newly_broken
            count_broken(newly_broken, applied, number, seen, shortest)
    shown = p.goals  # what healing shows is not the schedule's
    if properties.non_convergence(p):
        count_broken(properties.CONVERGENCE, applied, number, seen, shortest)
    p.goals = shown
    return applied


@part
def count_broken(broken, length, number, seen, shortest):  # type: ignore[no-untyped-def]
    """Count a set of properties as broken after `length` events of schedule `number`."""
    for bit in range(seen.shape[0]):
        if broken >> bit & 1:
            seen[bit] += 1
            keep_failure(shortest[bit], length, number)


@kernel
def walk_block(starts, seed, first, count, deck, applied, seen, met, shortest):  # type: ignore[no-untyped-def]
    """Walk `count` schedules from number `first` under every protocol, adding to the arrays of a Tally."""
    hand = np.empty((generate.HAND, generate.PHRASE), np.uint8)
    drawn = np.empty(generate.MAX_LENGTH, np.uint8)
    record = starts[:1].copy()
    for number in range(first, first + count):
        length = generate.draw_schedule(seed, np.uint64(number), deck, hand, drawn)
        for protocol in range(starts.shape[0]):
            record[0] = starts[protocol]
            p = record[0]
            applied[protocol] += walk_schedule(p, drawn, length, number, seen[protocol], shortest[protocol])
            for goal in range(met.shape[1]):
                met[protocol, goal] += p.goals >> goal & 1
