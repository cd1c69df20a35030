"""Run random schedules in compiled code, each under every protocol, and check the properties.

Most properties are checked after every event, the others at the end of a schedule. Schedules run in blocks. The result
of a block is a Tally: counters, a few of the shortest failures for each property, and the coverage points that the
schedules reached. You can merge tallies in any order with the same result. So the result of a run does not depend on
the number of threads or machines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from epochfuzz.harness.engine.coverage import coverage
from epochfuzz.harness.engine.coverage.coverage import Coverage, Meetings
from epochfuzz.harness.engine.runtime.compilation import compiled_for, kernel_of_model
from epochfuzz.harness.engine.walk import generate
from epochfuzz.model.core.fields import State
from epochfuzz.model.core.model import APPLIED, MODEL, Model, Protocol, Settings, model_of

_Protocol = TypeVar("_Protocol", bound=Protocol)
_Settings = TypeVar("_Settings", bound=Settings)

KEPT = 3  # shortest failures kept for each protocol, property and kind of failure
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, order=True)
class Failure:
    """A failure: the schedule with number `schedule` broke a property after `length` enabled events."""

    length: int
    schedule: int


@dataclass(kw_only=True)
class Tally:
    """The counted results of some random schedules.

    `events` has the number of enabled events, by protocol. `failures` has the number of schedules that broke a
    property, by protocol, property, and kind of situation (Points.kind_of) at the violation. `shortest` has the KEPT
    failures with the fewest events for each protocol, property and kind, as rows (length, schedule). `goals` has the
    number of schedules that reached a coverage goal, by protocol and goal. `met` has the coverage of each protocol.
    """

    schedules: int
    events: np.ndarray
    failures: np.ndarray
    goals: np.ndarray
    shortest: np.ndarray
    met: list[Coverage]

    @staticmethod
    def empty(model: Model, protocols: int) -> "Tally":
        """Return the tally of no schedules. `protocols` is the number of protocols of the model."""
        kinds = (protocols, len(model.judgement.names), model.points.kinds)
        return Tally(
            schedules=0,
            events=np.zeros(protocols, np.int64),
            failures=np.zeros(kinds, np.int64),
            goals=np.zeros((protocols, len(model.goals)), np.int64),
            shortest=np.full((*kinds, KEPT, 2), _NEVER, np.int64),
            met=[Coverage.empty() for _ in range(protocols)],
        )

    @property
    def seen(self) -> np.ndarray:
        """The number of schedules that broke each property; the axes are protocol and property."""
        return self.failures.sum(axis=2)

    def add(self, other: "Tally") -> None:
        """Add the results of another tally to this tally. The two tallies must count different schedules."""
        self.schedules += other.schedules
        self.events += other.events
        self.failures += other.failures
        self.goals += other.goals
        both = np.concatenate([self.shortest, other.shortest], axis=3)
        order = np.lexsort((both[..., 1], both[..., 0]), axis=-1)[..., :KEPT]
        self.shortest = np.take_along_axis(both, order[..., None], axis=3)
        self.met = [one.merged(another) for one, another in zip(self.met, other.met, strict=True)]

    def kept(self, protocol: int, property_: int, kind: int) -> list[Failure]:
        """Return the kept failures of a protocol, property and kind of situation (three indices), shortest first."""
        rows = self.shortest[protocol, property_, kind]
        return [Failure(int(length), int(i)) for length, i in rows if length != _NEVER]

    def candidates(self, protocol: int, property_: int) -> list[Failure]:
        """Return the failures to shrink: for each kind of situation (Points.kind_of), the shortest failure.

        The failures are in order of length. `protocol` and `property_` are indices.
        """
        kinds = np.flatnonzero(self.failures[protocol, property_])
        return sorted(self.kept(protocol, property_, int(kind))[0] for kind in kinds)


class Walker(Generic[_Protocol, _Settings]):
    """Runs the random schedules of one seed under several protocols. Several threads may use a Walker at once."""

    def __init__(self, protocols: Sequence[_Protocol], settings: _Settings, seed: int) -> None:
        self.protocols = tuple(protocols)
        self.model = model_of(protocols)
        self.settings = settings
        self.seed = seed
        starts = [self.model.initial(p, settings) for p in protocols]
        self._groups = _groups(self.model, settings, self.protocols, starts)
        self._starts = np.array([p.to_record() for p in starts], self.model.table.record)
        self._walk_block = compiled_for(self.model, walk_block, starts)

    def walk(self, first: int, count: int) -> Tally:
        """Run schedules `first` to `first + count - 1`, and return their results as a Tally."""
        tally = Tally.empty(self.model, len(self.protocols))
        tally.schedules = count
        meetings = Meetings.none(len(self.protocols), self.model.points.most)
        for members, deck in self._groups:
            self._walk_block(
                self._starts, members, np.uint64(self.seed), first, count, deck,
                tally.events, tally.failures, tally.goals, tally.shortest,
                meetings.place, meetings.rows, meetings.size,
            )  # fmt: skip
        tally.met = meetings.coverage()
        return tally

    def schedule(self, number: int, protocol: Protocol | None = None) -> bytes:
        """Return schedule `number`, as it was drawn for a protocol. The default is the first protocol."""
        place = 0 if protocol is None else self.protocols.index(protocol)
        deck = next(deck for members, deck in self._groups if place in members)
        return generate.schedule(self.seed, number, deck)

    def failing(self, failure: Failure, protocol: Protocol, property_: str) -> bytes:
        """Return the schedule of a failure under a protocol. The method ignores `property_`."""
        return self.schedule(failure.schedule, protocol)


def _groups(
    model: Model, settings: Settings, protocols: Sequence[Protocol], starts: Sequence[State]
) -> list[tuple[np.ndarray, generate.Deck]]:
    """Group the protocols that draw equal schedules. Returns the protocols (as indices) and the deck of each group.

    The deck holds the events to draw from. The schedules of a protocol do not depend on the other protocols of a run.
    """
    groups: dict[frozenset[int], list[int]] = {}
    for place, start in enumerate(starts):
        groups.setdefault(generate.particular_verbs(model, start), []).append(place)
    return [
        (np.array(members), generate.deck_for(model, settings, [protocols[place] for place in members]))
        for members in groups.values()
    ]


def keep_failure(shortest, length, number):  # type: ignore[no-untyped-def]
    """Insert the row (length, number) into the sorted rows of `shortest`, if it is among the KEPT shortest."""
    place = KEPT
    while place > 0 and (
        shortest[place - 1, 0] > length or (shortest[place - 1, 0] == length and shortest[place - 1, 1] > number)
    ):
        place -= 1
    if place == KEPT:
        return
    for row in range(KEPT - 1, place, -1):
        for column in range(2):  # not whole rows: they would be new arrays, and only kernels can allocate arrays
            shortest[row, column] = shortest[row - 1, column]
    shortest[place, 0] = length
    shortest[place, 1] = number


def walk_schedule(p, drawn, length, number, protocol, failures, shortest, place, rows, size):  # type: ignore[no-untyped-def]
    """Run a schedule from the state `p`, and count the properties that it breaks and the situations that it reaches.

    A situation is a coverage point. Returns the number of enabled events.
    """
    applied = 0
    broken = 0
    situation = 0
    for position in range(length):
        event = drawn[position]
        r = MODEL.events.replica_of(event)
        before = MODEL.points.before(p, r)
        if MODEL.step(p, event) != APPLIED:
            continue
        applied += 1
        situation = MODEL.points.of(p, event, before)
        coverage.meet(place, rows, size, protocol, situation, number)
        newly_broken = MODEL.judgement.now(p) & ~broken
        if newly_broken:
            broken |= newly_broken
            count_broken(newly_broken, situation, applied, number, failures, shortest)
    shown = p.goals  # the checks at the end may reach further goals, which do not count
    broken_at_end = MODEL.judgement.end(p)
    if broken_at_end:
        count_broken(broken_at_end, situation, applied, number, failures, shortest)
    p.goals = shown
    return applied


def count_broken(broken, situation, length, number, failures, shortest):  # type: ignore[no-untyped-def]
    """Count a failure of schedule `number` for each property in the set `broken`, after `length` events.

    `situation` is the situation after the last of these events.
    """
    kind = MODEL.points.kind_of(situation)
    for bit in range(failures.shape[0]):
        if broken >> bit & 1:
            failures[bit, kind] += 1
            keep_failure(shortest[bit, kind], length, number)


@kernel_of_model
def walk_block(starts, members, seed, first, count, deck, applied, failures, goals_met, shortest, place, rows, size):  # type: ignore[no-untyped-def]
    """Run `count` schedules from number `first` on under some protocols, and add the results to the given arrays.

    `members` holds the indices of these protocols. The arrays belong to a Tally and to Meetings (coverage.py).
    """
    hand, drawn = generate.room()
    record = starts[:1].copy()
    for number in range(first, first + count):
        length = generate.draw_schedule(seed, np.uint64(number), deck, hand, drawn)
        for protocol in members:
            record[0] = starts[protocol]
            p = record[0]
            applied[protocol] += walk_schedule(
                p, drawn, length, number, protocol, failures[protocol], shortest[protocol], place, rows, size
            )
            for goal in range(goals_met.shape[1]):
                goals_met[protocol, goal] += p.goals >> goal & 1
