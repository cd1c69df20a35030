"""Explore: complete breadth-first search of a protocol within bounds, compiled.

Every state that a schedule can reach is visited once, nearest first, so the first state found broken is broken by a
shortest schedule, and a search that runs dry proves that within its bounds nothing breaks.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from epochfuzz.harness.search import packing, situations
from epochfuzz.harness.search.compilation import compiled, kernel
from epochfuzz.harness.search.visited import VISITED, Visited, find_slot, look_at_home
from epochfuzz.model import properties, state
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.controller import forget_superseded
from epochfuzz.model.events import schedule_texts
from epochfuzz.model.execution import Execution
from epochfuzz.model.protocols import Protocol
from epochfuzz.model.refusals import APPLIED
from epochfuzz.model.step import possible_events, step

GIBIBYTE = 1 << 30
DEFAULT_MEMORY = 4 * GIBIBYTE
_CHUNK = 1 << 15  # rows expanded between two reports of progress
_NOT_FOUND = -1
_DOES_NOT_FIT = -2
_ANY = properties.set_of(properties.NAMES)
_NOTHING = np.zeros(0, np.uint8)

# Slots of states: in 0 the one whose successors are sought, then one for judging convergence, then the successors, and
# a last one, for what is tried after all of them.
_HEALED = 1
_FIRST = 2


class NotConfirmed(Exception):
    """Replay does not show what a search found: one of them is wrong, and nothing may be concluded from it."""


@dataclass(frozen=True)
class Exploration:
    """What a search found. `shortest` is a shortest schedule that breaks the property, None where none was found.

    `complete`: every state within the bounds was visited. Otherwise `depth` is the length up to which every
    schedule was covered, and `memory_exhausted` says whether memory, rather than a requested depth, ended it.
    """

    states: int
    transitions: int
    depth: int
    complete: bool
    shortest: bytes | None
    memory_exhausted: bool

    @property
    def broken(self) -> bool:
        """Whether a schedule within the bounds breaks the property."""
        return self.shortest is not None


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is: the depth it works on, and how many states and transitions it has seen."""

    depth: int
    states: int
    transitions: int
    waiting: int


def explore(
    protocol: Protocol,
    settings: Configuration,
    wanted: int,
    depth: int | None = None,
    memory: int = DEFAULT_MEMORY,
    report: Callable[[SearchProgress], None] = lambda progress: None,
    holding: Sequence[Protocol] = (),
    met: np.ndarray = _NOTHING,
    *,
    after: bytes = b"",
) -> Exploration:
    """Search breadth first for a schedule after which one of the `wanted` properties (a set) is broken.

    It starts where the schedule `after` leads, and is what comes after that.
    `depth` bounds the length of schedules, `memory` (bytes) the states kept. `report` is called now and then. With
    protocols that are to be `holding`, a schedule counts only if at no event any of them breaks any property, and all
    of them converge at its end: they run side by side, and a state of the search is one of each. In `met`, if it is of
    length SITUATIONS, the situations that events meet under `protocol` are set to 1.

    Raises DoesNotFit for a state that its key has no room for, and NotConfirmed where a schedule that was found does
    not break the property when it is replayed.
    """
    protocols = (protocol, *holding)
    starts = [Execution(each, settings, after).state for each in protocols]
    for p in starts:
        forget_superseded(p)
    layout = packing.layout_for(starts)
    visited = Visited(layout.words * len(starts), memory)
    alphabet = np.frombuffer(possible_events(*starts), np.uint8)
    slots = _FIRST + len(alphabet) + 1
    records = np.zeros((slots, len(starts)), state.RECORD)
    records[0] = [state.to_record(p)[()] for p in starts]
    views = tuple(records.reshape(-1).view(kind) for kind in (np.int8, np.int64))
    tables = (layout.words, layout.bytes_table, layout.words_table)
    visited.size = compiled(add_root, protocols)(views, tables, visited.keys, visited.table)
    expand_rows = compiled(expand, protocols)
    row, level, level_end, transitions = 0, 0, visited.size, 0
    while row < visited.size and (depth is None or level < depth):
        stop = min(row + _CHUNK, level_end)
        row, visited.size, applied, found = expand_rows(
            records, views, tables, visited.keys, visited.parent, visited.via, visited.table,
            row, stop, visited.size, alphabet, wanted, met,
        )  # fmt: skip
        transitions += applied
        if found == _DOES_NOT_FIT:
            _raise_does_not_fit(protocols, settings, layout, after + visited.schedule_to(row))
        if found != _NOT_FOUND:
            shortest = visited.schedule_to(found)
            _confirm(protocols, settings, wanted, after + shortest)
            return Exploration(visited.size, transitions, level, False, shortest, False)
        if row < stop and not visited.grow():
            return Exploration(visited.size, transitions, level, False, None, True)
        if row == level_end:
            level, level_end = level + 1, visited.size
        report(SearchProgress(level, visited.size, transitions, visited.size - row))
    return Exploration(visited.size, transitions, level, row == visited.size, None, False)


def most_states(protocol: Protocol, settings: Configuration, memory: int) -> int:
    """How many states a search may keep in that many bytes."""
    return memory // Visited.bytes_per_state(packing.layout_for([state.initial(protocol, settings)]).words)


def _confirm(protocols: Sequence[Protocol], settings: Configuration, wanted: int, schedule: bytes) -> None:
    """Raises NotConfirmed unless a schedule breaks a wanted property under the first protocol while the others hold."""
    execution, *holding = (Execution(protocol, settings, schedule) for protocol in protocols)
    broken = [protocol.name for protocol, each in zip(protocols[1:], holding, strict=True) if each.breaks(_ANY)]
    if broken or not execution.breaks(wanted):
        what = f"breaks {' and '.join(broken)} as well" if broken else f"does not break {properties.names(wanted)}"
        events = ", ".join(schedule_texts(schedule))
        raise NotConfirmed(f"replayed under {protocols[0].name}, what the search found {what}: {events}")


def _raise_does_not_fit(
    protocols: Sequence[Protocol], settings: Configuration, layout: packing.Layout, schedule: bytes
) -> None:
    """Find the successor of the state after a schedule that its key has no room for."""
    for protocol in protocols:
        for event in Execution(protocol, settings).alphabet():
            p = Execution(protocol, settings, schedule + bytes([event])).state
            forget_superseded(p)
            layout.check(p)
    raise packing.DoesNotFit(f"a state after {schedule_texts(schedule)} does not fit its key")


@dataclass(frozen=True)
class Timed:
    """An exploration and how long it ran, compilation not counted."""

    exploration: Exploration
    seconds: float


def timed(
    protocol: Protocol,
    settings: Configuration,
    wanted: int,
    depth: int | None,
    memory: int,
    report: Callable[[SearchProgress], None],
) -> Timed:
    """Explore, with the clock started once everything is compiled."""
    explore(protocol, settings, wanted, depth=1)
    started = time.monotonic()
    exploration = explore(protocol, settings, wanted, depth, memory, report)
    return Timed(exploration, time.monotonic() - started)


def pack(views, slot, tables, keys, row):  # type: ignore[no-untyped-def]
    """Write the key of the states in a slot to a row: one part for each protocol. Returns not 0 if one does not fit."""
    words, bytes_table, words_table = tables
    protocols = keys.shape[1] // words
    outside = np.int64(0)
    for i in range(protocols):
        for word in range(words):
            keys[row, i * words + word] = 0
        at = slot * protocols + i
        outside |= packing.pack_part(views[0], at * packing.BYTES, bytes_table, words, keys, row, i * words)
        outside |= packing.pack_part(views[1], at * packing.WORDS, words_table, words, keys, row, i * words)
    return outside


def unpack(keys, row, tables, views, slot):  # type: ignore[no-untyped-def]
    """Write the states of a row's key into a slot."""
    words, bytes_table, words_table = tables
    protocols = keys.shape[1] // words
    for i in range(protocols):
        at = slot * protocols + i
        packing.unpack_part(keys, row, i * words, bytes_table, words, views[0], at * packing.BYTES)
        packing.unpack_part(keys, row, i * words, words_table, words, views[1], at * packing.WORDS)


@kernel
def add_root(views, tables, keys, table):  # type: ignore[no-untyped-def]
    """Enter the state from which the search starts as row 0."""
    pack(views, 0, tables, keys, 0)
    table[find_slot(keys, 0, keys, table)] = 1
    return 1


def copy_states(records, slot):  # type: ignore[no-untyped-def]
    """Copy the states in slot 0 to another."""
    for i in range(records.shape[1]):
        records[slot, i] = records[0, i]


def apply(records, slot, event):  # type: ignore[no-untyped-def]
    """Apply an event to the copies in a slot. False: no protocol enables it, and they are copies still."""
    applied = False
    for i in range(records.shape[1]):
        if step(records[slot, i], event) == APPLIED:
            applied = True
            forget_superseded(records[slot, i])
    return applied


def breaks_holding(records, slot):  # type: ignore[no-untyped-def]
    """Whether a slot breaks any property under a protocol that is to hold, `convergence` aside."""
    for i in range(1, records.shape[1]):
        if properties.broken_now(records[slot, i]):
            return True
    return False


def breaks(records, slot, wanted):  # type: ignore[no-untyped-def]
    """Whether a slot breaks a wanted property, and those that are to hold converge from there."""
    if properties.broken_now(records[slot, 0]) & wanted == 0 and not (
        wanted & properties.CONVERGENCE and stays_apart(records, slot, 0)
    ):
        return False
    for i in range(1, records.shape[1]):
        if stays_apart(records, slot, i):
            return False
    return True


def stays_apart(records, slot, i):  # type: ignore[no-untyped-def]
    """Whether a protocol in a slot does not converge; judged on a copy in the slot for that."""
    records[_HEALED, i] = records[slot, i]
    return properties.non_convergence(records[_HEALED, i])


def successors(records, views, tables, alphabet, met, keys, via):  # type: ignore[no-untyped-def]
    """Put the states that follow from slot 0 into the slots from _FIRST; returns how many there are.

    Row i of `keys` becomes the key of successor i, and `via[i]` the event that leads there. The second number that is
    returned is 0 unless one of them does not fit its key.
    """
    count, outside = 0, np.int64(0)
    copy_states(records, _FIRST)
    for event in alphabet:
        slot = _FIRST + count
        if not apply(records, slot, event):
            continue
        if met.shape[0]:
            before = situations.before(records[0, 0], event & 7)
            met[situations.situation(records[slot, 0], event, before)] = 1
        outside |= pack(views, slot, tables, keys, count)
        via[count] = event
        count += 1
        copy_states(records, slot + 1)
    return count, outside


@kernel
def expand(records, views, tables, keys, parent, via, table, row, stop, size, alphabet, wanted, met):  # type: ignore[no-untyped-def]
    """Add the successors of rows from `row` to `stop`.

    Returns the next row to expand, the number of rows, the events applied, and the first row found broken, -1 for none,
    or -2 where a successor of the next row does not fit its key. It returns before `stop` where there might not be room
    for all successors of a row.
    """
    next_keys = np.empty((alphabet.shape[0], keys.shape[1]), np.int64)
    next_via = np.empty(alphabet.shape[0], np.uint8)
    home = np.empty(alphabet.shape[0], np.int32)
    applied = 0
    while row < stop and size + alphabet.shape[0] <= keys.shape[0]:
        unpack(keys, row, tables, views, 0)
        count, outside = successors(records, views, tables, alphabet, met, next_keys, next_via)
        if outside != 0:
            return row, size, applied, _DOES_NOT_FIT
        look_at_home(next_keys, count, keys, table, home)
        for i in range(count):
            applied += 1
            if home[i] == VISITED:
                continue
            slot = find_slot(next_keys, i, keys, table)
            if table[slot] == 0 and not breaks_holding(records, _FIRST + i):
                keys[size] = next_keys[i]
                parent[size] = row
                via[size] = next_via[i]
                size += 1
                table[slot] = size
                if breaks(records, _FIRST + i, wanted):
                    return row, size, applied, size - 1
        row += 1
    return row, size, applied, _NOT_FOUND
