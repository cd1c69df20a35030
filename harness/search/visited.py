"""The states that a search has visited: packed keys, how each was reached, and a hash table that finds them.

States are rows of words; an open-addressing table holds row numbers plus one, 0 for an empty slot. Whole keys are
compared, so no collision of hashes can make a search skip a state.
"""

import numpy as np

from epochfuzz.harness.search.compilation import compiled, kernel

VISITED = -1
_FIRST_CAPACITY = 1 << 16


class Visited:
    """Rows in the order of discovery: `keys`, the row it was reached from (`parent`) and by which event (`via`)."""

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
        compiled(fill_table)(self.keys, self.size, self.table)
        return True

    def schedule_to(self, row: int) -> bytes:
        """The events on the way from the start to a row."""
        schedule = bytearray()
        while row != 0:
            schedule.append(self.via[row])
            row = self.parent[row]
        return bytes(reversed(schedule))


def hash_key(keys, row):  # type: ignore[no-untyped-def]
    """A 64-bit hash of the words of a row (the finalizer of MurmurHash3, word by word)."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for word in range(keys.shape[1]):
        value = (value ^ np.uint64(keys[np.uint64(row), word])) * np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    return value


def same(keys, row, others, other):  # type: ignore[no-untyped-def]
    """Whether two rows are the same key."""
    equal = True
    for word in range(keys.shape[1]):
        equal &= keys[np.uint64(row), word] == others[np.uint64(other), word]
    return equal


def find_slot(wanted, i, keys, table):  # type: ignore[no-untyped-def]
    """The slot of the table that has the row of `wanted[i]` in `keys`, or the empty slot where it belongs."""
    mask = np.uint64(table.shape[0] - 1)
    slot = hash_key(wanted, i) & mask
    while table[slot] != 0 and not same(keys, table[slot] - 1, wanted, i):
        slot = (slot + np.uint64(1)) & mask
    return slot


def look_at_home(wanted, count, keys, table, home):  # type: ignore[no-untyped-def]
    """For each of the first keys that are wanted, VISITED in `home` if it is in the slot where it belongs.

    Most are; any other may be in another slot. A search waits for memory more than for anything else, and lookups that
    do not depend on one another wait together.
    """
    mask = np.uint64(table.shape[0] - 1)
    for i in range(count):
        home[i] = table[hash_key(wanted, i) & mask]
    for i in range(count):
        home[i] = VISITED if home[i] != 0 and same(keys, home[i] - 1, wanted, i) else 0


@kernel
def fill_table(keys, size, table):  # type: ignore[no-untyped-def]
    """Enter the first `size` rows into an empty table."""
    for row in range(size):
        table[find_slot(keys, row, keys, table)] = row + 1
