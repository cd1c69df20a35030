"""The states that a search has visited: packed keys, how each was reached, and a hash table that finds them.

States are rows of words; an open-addressing table holds row numbers plus one, 0 for an empty slot. Whole keys are
compared, so no collision of hashes can make a search skip a state.
"""

import numpy as np

from harness.engine.compilation import kernel, part

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
        fill_table(self.keys, self.size, self.table)
        return True

    def schedule_to(self, row: int) -> bytes:
        """The events on the way from the start to a row."""
        schedule = bytearray()
        while row != 0:
            schedule.append(self.via[row])
            row = self.parent[row]
        return bytes(reversed(schedule))


@part
def hash_key(key):  # type: ignore[no-untyped-def]
    """A 64-bit hash of a key's words (the finalizer of MurmurHash3, word by word)."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for i in range(key.shape[0]):
        value = (value ^ np.uint64(key[i])) * np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    return value


@part
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
