"""Search all states of a protocol within bounds, breadth first, in compiled code on all cores.

The search visits every reachable state once, the nearest first. A state is broken if it breaks the property. The first
broken state that the search finds is at the end of a shortest schedule. A search that visits all states and finds no
broken state proves that no schedule within the bounds breaks the property. The threads expand the states of a level
(the states at one distance from the start) in waves. After each wave the new states are inserted in an order that does
not depend on the threads.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import inf
from typing import Protocol as Interface

import numba
import numpy as np

from epochfuzz.harness.engine.explore.expansion import (
    BROKEN,
    CHUNK,
    CHUNKS,
    DOES_NOT_FIT,
    NEW,
    WAVE,
    Expanded,
    Expansion,
    Level,
)
from epochfuzz.harness.engine.explore.retrace import NOTHING_MET, Retrace
from epochfuzz.harness.engine.explore.shards import SHARDS, Array
from epochfuzz.harness.engine.explore.visited import Visited
from epochfuzz.harness.engine.keys import packing, symmetry
from epochfuzz.harness.engine.runtime.threads import Threads, cores
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.fields import Interpreted
from epochfuzz.model.core.model import Protocol, Settings, model_of
from epochfuzz.model.core.permutation import renamed

GIBIBYTE = 1 << 30
DEFAULT_MEMORY = 4 * GIBIBYTE
# A search can end only between two waves. Without Numba, a wave of 65,536 rows would take minutes.
_WAVE = 64 if numba.config.DISABLE_JIT else WAVE  # type: ignore[attr-defined]


class NotConfirmed(Exception):
    """A replay does not confirm the schedule that a search found. One of them has a bug: don't trust the search."""


@dataclass(frozen=True, kw_only=True)
class Exploration:
    """The result of an exhaustive search.

    `shortest` is a shortest schedule that breaks the property, None if the search found none. `states` is the number of
    states that the search kept, and `memory` their size in bytes. With symmetry a kept state represents all states that
    differ only in the names of replicas, up to `symmetry` states. `transitions` counts the events applied. If
    `complete` is True, the search visited every state within the bounds. Otherwise it covered all schedules of up to
    `depth` events. `memory_exhausted`: the search ended because its memory was full.

    The search does not keep the states at the largest requested depth. If the property breaks, `states` and
    `transitions` leave out the last level, so that they do not depend on the order of expansion.
    """

    states: int
    transitions: int
    depth: int
    complete: bool
    shortest: bytes | None
    memory_exhausted: bool
    memory: int = 0
    symmetry: int = 1

    @property
    def broken(self) -> bool:
        """True if a schedule within the bounds breaks the property."""
        return self.shortest is not None


@dataclass(frozen=True)
class SearchProgress:
    """The progress of a search: its depth, and the numbers of states and transitions so far.

    `waiting` is the number of states that are still to be expanded.
    """

    depth: int
    states: int
    transitions: int
    waiting: int


class Resumable(Interface):
    """The interface of a search for a Keeper."""

    def pieces(self) -> Iterator[Array]:
        """Yield arrays with the progress of the search. Each wave of states changes these arrays."""

    def restore(self, pieces: Iterator[Array]) -> None:
        """Take over the progress from `pieces`. Raises MemoryEnded."""


class Keeper(Interface):
    """The interface of an object that keeps the progress of a search, so that a later process can resume the search."""

    def restore(self, search: Resumable) -> None:
        """Restore the kept progress, if there is any. Called before the search begins."""

    def keep(self, search: Resumable, *, now: bool = False) -> None:
        """Keep the progress. Called after each wave of states, and with `now` at the end of the process."""


def explore(
    protocol: Protocol,
    settings: Settings,
    wanted: int,
    depth: int | None = None,
    memory: int = DEFAULT_MEMORY,
    report: Callable[[SearchProgress], None] = lambda progress: None,
    holding: Sequence[Protocol] = (),
    met: np.ndarray = NOTHING_MET,
    *,
    jobs: int | None = None,
    symmetric: bool = True,
    after: bytes = b"",
    keeper: Keeper | None = None,
) -> Exploration:
    """Search breadth first for a shortest schedule that breaks one of the `wanted` properties (a bit for each).

    `depth` limits the length of schedules, None for no limit. `memory` limits the memory for the states, in bytes.
    `report` receives the progress after each wave of states. `jobs` is the number of threads, by default one for each
    core; the result does not depend on it. The search starts in the state after the schedule `after`, and returns a
    schedule that continues from there.

    With `holding` protocols, a schedule counts only if none of these breaks any property, at an event or at the end.
    All protocols run side by side. If `met` is not empty, it has an element for each situation (coverage point). The
    search sets the element to 1 if `protocol` reaches the situation. `symmetric`: if the model allows it, one state
    represents all states that differ only in the names of replicas. `keeper` keeps the progress of the search, but not
    `met`.

    Raises DoesNotFit for a state that does not fit into a key. Raises MemoryEnded if the memory is too small for the
    states that `keeper` restores. Raises NotConfirmed if a replay of the schedule does not
    break the property.
    """
    protocols = (protocol, *holding)
    with Threads(min(jobs or cores(), CHUNKS)) as threads:
        search = _Search(protocols, settings, wanted, memory, met, threads, symmetric, after, keeper)
        if keeper is not None:
            keeper.restore(search)
        return dict(search.run({wanted: inf if depth is None else depth}, report))[wanted]


def explored(
    protocol: Protocol,
    settings: Settings,
    depths: Mapping[int, int],
    memory: int = DEFAULT_MEMORY,
    report: Callable[[SearchProgress], None] = lambda progress: None,
) -> Iterator[tuple[int, Exploration]]:
    """Search once for several sets of properties, each to its own depth. Yields (set of properties, result).

    A key of `depths` is a set of properties, with a bit for each, and no property is in two sets. The value is the
    depth in events. The function yields each result as soon as it is known. `report` receives the progress of the
    search, and may end the search with an exception. Raises the same errors as `explore`.
    """
    with Threads(min(cores(), CHUNKS)) as threads:
        yield from _Search((protocol,), settings, sum(depths), memory, NOTHING_MET, threads, True, b"").run(
            depths, report
        )


class MemoryEnded(Exception):
    """The states do not fit into the memory of the search. The message gives the number of states that fit."""


def visit(
    protocol: Protocol,
    settings: Settings,
    threads: Threads,
    memory: int = DEFAULT_MEMORY,
    report: Callable[[SearchProgress], None] = lambda progress: None,
) -> tuple[Visited, list[Level], Expansion]:
    """Visit every state within bounds. Returns the visited states, the levels of the search, and the Expansion.

    A level is the states at one distance from the start. Raises DoesNotFit and MemoryEnded.
    """
    search = _Search((protocol,), settings, 0, memory, NOTHING_MET, threads, True, b"")
    ((_, result),) = search.run({0: inf}, report)
    if not result.complete:
        raise MemoryEnded(f"{memory / GIBIBYTE:g} GiB hold {result.states:,} states, and the search needs more")
    return search.visited, search.levels, search.expansion


@dataclass
class _LevelProgress:
    """The progress within a level: the number of its states that were expanded, and whether they have new successors.

    `transitions` is the number of transitions up to the level before.
    """

    transitions: int
    expanded: int = 0
    found_any: bool = False


class _Search:
    """A breadth-first search. `levels` holds the rows of the states at each distance from the start.

    The search expands the last level next.
    """

    def __init__(
        self, protocols: Sequence[Protocol], settings: Settings, wanted: int, memory: int, met: np.ndarray,
        threads: Threads, symmetric: bool, after: bytes, keeper: Keeper | None = None,
    ) -> None:  # fmt: skip
        self.protocols, self.settings, self.wanted, self.met, self.threads = protocols, settings, wanted, met, threads
        self.after, self._keeper = after, keeper
        starts, self.expansion, self.symmetry = prepared(protocols, settings, wanted, symmetric, threads.jobs, after)
        self.visited = Visited(self.expansion.halves, memory)
        self.expansion.put(starts, self.expansion.canonical)
        self.visited.add(self.expansion.outbox, 1, threads)
        self.levels = [Level(np.zeros(SHARDS, np.int64), self.visited.sizes.copy())]
        self.transitions = 0
        self._level = _LevelProgress(self.transitions)

    def pieces(self) -> Iterator[Array]:
        """Yield arrays with the progress of the search (Resumable.pieces)."""
        level = self._level
        yield np.array([level.ends for level in self.levels])
        yield np.array([self.transitions, level.transitions, level.expanded, level.found_any])
        yield from self.visited.pieces()

    def restore(self, pieces: Iterator[Array]) -> None:
        """Take over the progress from `pieces` (Resumable.restore). Raises MemoryEnded."""
        ends = next(pieces)
        self.transitions, transitions, expanded, found_any = next(pieces).tolist()
        if not self.visited.restore(pieces, self.threads):
            raise MemoryEnded("the states of the search need more memory")
        self.levels = [Level(*each) for each in zip([np.zeros(SHARDS, np.int64), *ends], ends, strict=False)]
        self._level = _LevelProgress(transitions, expanded, bool(found_any))

    def run(
        self, depths: Mapping[int, float], report: Callable[[SearchProgress], None] = lambda progress: None
    ) -> Iterator[tuple[int, Exploration]]:
        """Search for several disjoint sets of properties, each to its own depth. Yields (set of properties, result).

        A set has a bit for each property.
        """
        remaining = dict(depths)
        while remaining:
            level = self.levels[-1]
            covered = [wanted for wanted, depth in remaining.items() if len(self.levels) > depth or not level.size]
            result = self._result(complete=not level.size) if covered else None
            if result is not None:
                self._keep(now=True)
            else:
                self.wanted = sum(remaining)
                result = self._expand_level(level, len(self.levels) == max(remaining.values()), report)
                if result is None:
                    self.levels.append(Level(level.ends, self.visited.sizes.copy()))
                    self._level = _LevelProgress(self.transitions)
                    continue
                # The search is done with the properties that this schedule breaks. It repeats the level for the others.
                covered = [wanted for wanted in remaining if self._is_answered(wanted, result)]
                self.transitions = self._level.transitions
                self._level = _LevelProgress(self.transitions)
            for wanted in covered:
                del remaining[wanted]
                yield wanted, result

    def _is_answered(self, wanted: int, result: Exploration) -> bool:
        """Return whether `result`, for all remaining properties together, is also the result for the set `wanted`."""
        if result.shortest is None:
            return True
        return executions(self.protocols, self.settings, self.after + result.shortest)[0].breaks(wanted)

    def _expand_level(
        self, level: Level, is_last: bool, report: Callable[[SearchProgress], None]
    ) -> Exploration | None:
        """Expand all states of a level. Returns the result if the search ends there, None if the search goes deeper.

        A level is the states at one distance from the start. The search keeps no successors of the last level.
        """
        states, progress = int(level.ends.sum()), self._level
        for first in range(progress.expanded, level.size, _WAVE):
            try:
                wave = self._expand_wave(level, first)
            except KeyboardInterrupt:
                self._keep(now=True)  # the wave before is complete
                raise
            for expanded in wave:
                if expanded.ended == DOES_NOT_FIT:
                    self._raise_does_not_fit(expanded.row)
                if expanded.ended == BROKEN:
                    return replace(self._result(states), transitions=progress.transitions, shortest=self._shortest())
            has_room = is_last or self.visited.add(self.expansion.outbox, len(wave), self.threads)
            if not has_room:
                self._keep(now=True)
            self.transitions += sum(each.applied for each in wave)
            progress.found_any |= any(each.entries for each in wave)
            if not has_room:
                return self._result(memory_exhausted=True)
            waiting = self.visited.size - int(level.starts.sum()) - first
            report(SearchProgress(len(self.levels) - 1, self.visited.size, self.transitions, waiting))
            progress.expanded = first + _WAVE
            self._keep()
        if is_last and progress.found_any:
            self.levels.append(level)
            return self._result()
        return None

    def _keep(self, *, now: bool = False) -> None:
        if self._keeper is not None:
            self._keeper.keep(self, now=now)

    def _expand_wave(self, level: Level, first: int) -> list[Expanded]:
        """Expand some states of a level, from state number `first` on. Returns a result for each chunk of states."""
        rows = min(_WAVE, level.size - first)
        wave: list[Expanded | None] = [None] * -(-rows // CHUNK)  # rounded up; not more than the outbox has room for

        def work(chunk: int, thread: int) -> None:
            at = chunk * CHUNK
            wave[chunk] = self.expansion.expand(
                self.visited.stored, self.visited.table, level, first + at, min(CHUNK, rows - at),
                NEW, self.wanted, self.met, chunk, thread,
            )  # fmt: skip

        self.threads.run(len(wave), work)
        return [each for each in wave if each is not None]

    def _result(
        self, states: int | None = None, *, complete: bool = False, memory_exhausted: bool = False
    ) -> Exploration:
        """Return the result of the search so far. `states` is the number of states to report, by default all."""
        states = states or self.visited.size
        memory = self.visited.bytes * states // self.visited.size
        depth = len(self.levels) - 1
        return Exploration(
            states=states,
            transitions=self.transitions,
            depth=depth,
            complete=complete,
            shortest=None,
            memory_exhausted=memory_exhausted,
            memory=memory,
            symmetry=self.symmetry,
        )

    def _shortest(self) -> bytes:
        """Return the shortest schedule that breaks a wanted property, the first in byte order. Raises NotConfirmed."""
        retrace = Retrace(self.visited, self.expansion, self.threads, self.levels)
        tables = retrace.tables_to(retrace.breaking(self.wanted))
        shortest = retrace.schedule(tables, executions(self.protocols, self.settings, self.after), self.wanted)
        confirm(self.protocols, self.settings, self.wanted, self.after + shortest)
        return shortest

    def _raise_does_not_fit(self, row: int) -> None:
        """Raise DoesNotFit with the name of the field whose value does not fit into a key.

        `row` is the row of a state that has a successor with this value.
        """
        retrace = Retrace(self.visited, self.expansion, self.threads, self.levels)
        here = executions(self.protocols, self.settings, self.after)
        schedule = self.after + retrace.schedule(retrace.tables_to(np.array([row])), here)
        for protocol in self.protocols:
            for event in Execution(protocol, self.settings).alphabet():
                p = Execution(protocol, self.settings, schedule + bytes([event])).state
                protocol.model.forget(p)
                for names in permutations(range(self.settings.replicas)):
                    self.expansion.layout.check(renamed(p, names))
        events = model_of(self.protocols).events.texts(schedule)
        raise packing.DoesNotFit(f"a state after {events} does not fit its key")


def executions(protocols: Sequence[Protocol], settings: Settings, after: bytes) -> list[Execution]:
    """Return the states where a search starts: an Execution for each protocol, after the schedule `after`."""
    started = [Execution(each, settings, after) for each in protocols]
    for each in started:
        each.model.forget(each.state)
    return started


def prepared(
    protocols: Sequence[Protocol], settings: Settings, wanted: int, symmetric: bool, jobs: int, after: bytes = b""
) -> tuple[list[Interpreted], Expansion, int]:
    """Prepare a search. Returns the initial state of each protocol, the Expansion, and the size of symmetry classes.

    A symmetry class is a set of states that differ only in the names of replicas. The size is the largest number of
    states in a class; 1 without symmetry.
    """
    starts = [each.state for each in executions(protocols, settings, after)]
    model = model_of(protocols)
    symmetric = symmetric and model.is_symmetric(wanted, protocols, settings)
    alike = symmetry.most_alike(settings.replicas) if symmetric else 1
    return starts, Expansion(model, starts, symmetric, jobs), alike


def confirm(protocols: Sequence[Protocol], settings: Settings, wanted: int, schedule: bytes) -> None:
    """Replay a schedule to check that it breaks a wanted property under the first of `protocols`.

    Raises NotConfirmed if the schedule does not, or if it breaks any property under one of the other protocols.
    """
    model = model_of(protocols)
    execution, *holding = (Execution(protocol, settings, schedule) for protocol in protocols)
    every = model.judgement.all
    broken = [protocol.name for protocol, each in zip(protocols[1:], holding, strict=True) if each.breaks(every)]
    if broken or not execution.breaks(wanted):
        what = f"breaks {' and '.join(broken)} as well" if broken else f"does not break {model.judgement.named(wanted)}"
        events = ", ".join(model.events.texts(schedule))
        raise NotConfirmed(f"replayed under {protocols[0].name}, the schedule of the search {what}: {events}")


@dataclass(frozen=True)
class Timed:
    """The result of a search, and its duration in seconds. The time for compilation is not included."""

    exploration: Exploration
    seconds: float


def timed(
    protocol: Protocol,
    settings: Settings,
    wanted: int,
    depth: int | None,
    memory: int,
    report: Callable[[SearchProgress], None],
    *,
    jobs: int | None,
    symmetric: bool,
    keeper: Keeper | None = None,
) -> Timed:
    """Run `explore`, and measure its duration without compilation."""
    explore(protocol, settings, wanted, depth=1)
    started = time.monotonic()
    exploration = explore(
        protocol, settings, wanted, depth, memory, report, jobs=jobs, symmetric=symmetric, keeper=keeper
    )
    return Timed(exploration, time.monotonic() - started)
