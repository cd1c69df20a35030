"""Retrace: the schedule that leads to a state, from its key.

A search keeps no events, and of parents only those of the first row of each block. The rows of a shard are in the order
of their parents, so the parent of any other row is a little further on: a few thousand states are expanded again.
What comes out is a way from class to class (symmetry.py). It is gone once more, interpreted, from the state that every
schedule starts from: at each step some event leads into the next class.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.search.expansion import CHUNK, Expansion, Level
from epochfuzz.harness.search.visited import BLOCK_BITS, SHARDS, Array, Visited, number_of
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.controller import forget_superseded
from epochfuzz.model.execution import Execution
from epochfuzz.model.protocols import Protocol

_NOTHING_VISITED = np.zeros((SHARDS, 1), np.int32)
_NOTHING_MET = np.zeros(0, np.uint8)
_THE_FIRST_ROW = Level(np.zeros(SHARDS, np.int64), np.eye(1, SHARDS, dtype=np.int64)[0])

Key = npt.NDArray[np.uint32]


def way_to(row: int, levels: Sequence[Level], visited: Visited, expansion: Expansion) -> list[Key]:
    """The keys from the start to a row of the last of some levels, the start's left out."""
    way: list[Key] = []
    for level in reversed(levels[:-1]):
        way.append(visited.keys[row].copy())
        row = _parent_of(row, level, visited, expansion)
    return way[::-1]


def _parent_of(row: int, level: Level, visited: Visited, expansion: Expansion) -> int:
    """The row of the level before that a row was reached from first."""
    for first in range(_position_of(int(visited.anchors[row >> BLOCK_BITS]), level), level.size, CHUNK):
        count = min(CHUNK, level.size - first)
        entry = _entry_of(visited.keys[row], expansion, visited.keys, level, first, count)
        if entry is not None:
            return int(expansion.outbox[2][0, entry])
    raise AssertionError("a state has no parent in the level before")


def _position_of(row: int, level: Level) -> int:
    """Which of a level's rows a row is, in the order in which they are expanded; 0 if it is not of this level."""
    shard, i = number_of(row)
    if not level.starts[shard] <= i < level.ends[shard]:
        return 0
    return int((level.ends - level.starts)[:shard].sum() + i - level.starts[shard])


def _entry_of(wanted: Key, expansion: Expansion, keys: Array, level: Level, first: int, count: int) -> int | None:
    """The first entry with a key among what follows from so many rows of a level, None where there is none."""
    found = expansion.expand(keys, _NOTHING_VISITED, level, first, count, 0, _NOTHING_MET, 0, 0)
    same = (expansion.outbox[0][: found.entries] == wanted).all(axis=1)
    return int(same.argmax()) if same.any() else None


def schedule_along(
    way: Sequence[Key], protocols: Sequence[Protocol], settings: Configuration, expansion: Expansion
) -> bytes:
    """The events of a schedule that goes from class to class."""
    executions = [Execution(protocol, settings) for protocol in protocols]
    schedule = bytearray()
    for wanted in way:
        expansion.put([each.state for each in executions], expansion.as_it_is)
        entry = _entry_of(wanted, expansion, expansion.outbox[0][:1].copy(), _THE_FIRST_ROW, 0, 1)
        assert entry is not None, "no event leads into the next class"
        event = int(expansion.outbox[5][0, entry])
        for each in executions:
            each.apply(event)
            forget_superseded(each.state)
        schedule.append(event)
    return bytes(schedule)
