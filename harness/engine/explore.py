"""Explore: complete breadth-first search of a protocol within bounds, compiled.

Every state that a schedule can reach is visited once, nearest first, so the first state found broken is broken by a
shortest schedule, and a search that runs dry proves that within its bounds nothing breaks. States are rows of packed
words; an open-addressing table of row numbers finds a state again, and comparing whole keys leaves nothing to chance.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harness.engine import packing
from harness.engine.compilation import kernel
from model import properties, state
from model.configuration import Configuration
from model.controller import forget_superseded
from model.protocols import Protocol
from model.step import step

GIBIBYTE = 1 << 30
DEFAULT_MEMORY = 4 * GIBIBYTE
_FIRST_CAPACITY = 1 << 16
_CHUNK = 1 << 15  # rows expanded between two reports of progress
_NOT_FOUND = -1


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
class Progress:
    """How far a search is: the depth it works on, and how many states and transitions it has seen."""

    depth: int
    states: int
    transitions: int
    waiting: int


class _Visited:
    """The states seen so far: keys, how each was reached, and the table that finds them."""

    def __init__(self, words: int, memory: int) -> None:
        self.words = words
        self.limit = memory // self.bytes_per_state(words)
        self.keys = np.zeros((_FIRST_CAPACITY, words), np.int64)
        self.parent = np.zeros(_FIRST_CAPACITY, np.int32)
        self.via = np.zeros(_FIRST_CAPACITY, np.uint8)
        self.table = np.zeros(2 * _FIRST_CAPACITY, np.int32)
        self.size = 0

    @staticmethod
    def bytes_per_state(words: int) -> int:
        """Key, parent and event, four table slots at the worst, and as much again while growing."""
        return 2 * (8 * words + 4 + 1) + 4 * 4

    def grow(self) -> bool:
        """Double the room. False: that would exceed the memory."""
        capacity = 2 * len(self.keys)
        if capacity > self.limit:
            return False
        self.keys = np.resize(self.keys, (capacity, self.words))
        self.parent = np.resize(self.parent, capacity)
        self.via = np.resize(self.via, capacity)
        self.table = np.zeros(2 * capacity, np.int32)
        fill_table(self.keys, self.size, self.table)
        return True

    def schedule_to(self, row: int) -> bytes:
        """The events on the way from the start to a row."""
        schedule = bytearray()
        while row != 0:
            schedule.append(self.via[row])
            row = self.parent[row]
        return bytes(reversed(schedule))


def explore(
    protocol: Protocol,
    settings: Configuration,
    wanted: int,
    depth: int | None = None,
    memory: int = DEFAULT_MEMORY,
    report: Callable[[Progress], None] = lambda progress: None,
) -> Exploration:
    """Search breadth first for a schedule after which one of the `wanted` properties (a set) is broken.

    `depth` bounds the length of schedules, `memory` (bytes) the states kept. `report` is called now and then.
    """
    start = state.initial(protocol, settings)
    layout = packing.packing_for(start)
    visited = _Visited(layout.words, memory)
    records = np.zeros(3, state.RECORD)
    records[0] = state.to_record(start)[()]
    views = tuple(records.view(kind).reshape(3, -1) for kind in (np.int8, np.int64))
    tables = (layout.bytes_table, layout.words_table)
    alphabet = np.frombuffer(settings.alphabet(), np.uint8)
    visited.size = add_root(views, tables, visited.keys, visited.table)
    row, level, level_end, transitions = 0, 0, visited.size, 0
    while row < visited.size and (depth is None or level < depth):
        stop = min(row + _CHUNK, level_end)
        row, visited.size, applied, found = expand(
            records, views, tables, visited.keys, visited.parent, visited.via, visited.table,
            row, stop, visited.size, alphabet, wanted,
        )  # fmt: skip
        transitions += applied
        if found != _NOT_FOUND:
            return Exploration(visited.size, transitions, level, False, visited.schedule_to(found), False)
        if row < stop and not visited.grow():
            return Exploration(visited.size, transitions, level, False, None, True)
        if row == level_end:
            level, level_end = level + 1, visited.size
        report(Progress(level, visited.size, transitions, visited.size - row))
    return Exploration(visited.size, transitions, level, row == visited.size, None, False)


def most_states(protocol: Protocol, settings: Configuration, memory: int) -> int:
    """How many states a search may keep in that many bytes."""
    return memory // _Visited.bytes_per_state(packing.packing_for(state.initial(protocol, settings)).words)


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
    report: Callable[[Progress], None],
) -> Timed:
    """Explore, with the clock started once everything is compiled."""
    explore(protocol, settings, wanted, depth=1)
    started = time.monotonic()
    exploration = explore(protocol, settings, wanted, depth, memory, report)
    return Timed(exploration, time.monotonic() - started)


@kernel
def hash_key(key):  # type: ignore[no-untyped-def]
    """A 64-bit hash of a key's words (the finalizer of MurmurHash3, word by word)."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for i in range(key.shape[0]):
        value = (value ^ np.uint64(key[i])) * np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    return value


@kernel
def find_slot(key, keys, table):  # type: ignore[no-untyped-def]
    """The slot of the table that holds the key's row, or the empty slot where it belongs."""
    mask = np.uint64(table.shape[0] - 1)
    slot = hash_key(key) & mask
    while table[slot] != 0:
        row = table[slot] - 1
        same = True
        for i in range(key.shape[0]):
            same &= keys[row, i] == key[i]
        if same:
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def fill_table(keys, size, table):  # type: ignore[no-untyped-def]
    """Enter the first `size` rows into an empty table."""
    for row in range(size):
        table[find_slot(keys[row], keys, table)] = row + 1


@kernel
def pack(views, slot, tables, key):  # type: ignore[no-untyped-def]
    """Write the key of the record in a slot of the views."""
    key[:] = 0
    packing.pack_part(views[0][slot], tables[0], key)
    packing.pack_part(views[1][slot], tables[1], key)


@kernel
def unpack(key, tables, views, slot):  # type: ignore[no-untyped-def]
    """Write the state of a key into the record in a slot of the views."""
    packing.unpack_part(key, tables[0], views[0][slot])
    packing.unpack_part(key, tables[1], views[1][slot])


@kernel
def add_root(views, tables, keys, table):  # type: ignore[no-untyped-def]
    """Enter the starting state as row 0."""
    pack(views, 0, tables, keys[0])
    table[find_slot(keys[0], keys, table)] = 1
    return 1


@kernel
def breaks(records, slot, wanted):  # type: ignore[no-untyped-def]
    """Whether the record in a slot breaks a wanted property; `convergence` is judged on a copy in slot 2."""
    if properties.broken_now(records[slot]) & wanted:
        return True
    if wanted & properties.CONVERGENCE:
        records[2] = records[slot]
        return properties.non_convergence(records[2])
    return False


@kernel
def expand(records, views, tables, keys, parent, via, table, row, stop, size, alphabet, wanted):  # type: ignore[no-untyped-def]
    """Add the successors of rows from `row` to `stop`.

    Returns the next row to expand, the number of rows, the events applied, and the first row found broken or -1.
    It returns before `stop` where there might not be room for all successors of a row.
    """
    key = np.empty(keys.shape[1], np.int64)
    applied = 0
    while row < stop and size + alphabet.shape[0] <= keys.shape[0]:
        unpack(keys[row], tables, views, 0)
        for event in alphabet:
            records[1] = records[0]
            if not step(records[1], event):
                continue
            applied += 1
            forget_superseded(records[1])
            pack(views, 1, tables, key)
            slot = find_slot(key, keys, table)
            if table[slot] == 0:
                keys[size] = key
                parent[size] = row
                via[size] = event
                size += 1
                table[slot] = size
                if breaks(records, 1, wanted):
                    return row, size, applied, size - 1
        row += 1
    return row, size, applied, _NOT_FOUND
