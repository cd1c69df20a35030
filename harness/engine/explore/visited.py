"""The states that a search has visited: packed keys, in shards, and a hash table for each that finds them.

A key belongs to the shard that its hash says, so that threads which fill different shards have nothing to do with one
another. Whole keys are compared, so no collision of hashes can make a search skip a state.

Nothing is kept of how a state was reached: retrace.py finds out once more.
"""

import mmap
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.engine.runtime.compilation import compiled, kernel
from epochfuzz.harness.engine.runtime.threads import Threads

SHARD_BITS = 6
SHARDS = 1 << SHARD_BITS
BLOCK_BITS = 6  # of the rows of a shard that stand together
BLOCK = 1 << BLOCK_BITS

_FIRST_SLOTS = 64  # of each shard's table
_MOST_LOAD = 0.8
_SLOT = 4  # bytes
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0  # MAP_NORESERVE, which Python 3.11 has no name for
_BATCH = 16  # lookups that wait for memory together

Array = npt.NDArray[Any]


class Visited:
    """Keys of `halves` 32-bit words by row, and how many rows each shard has (`sizes`).

    Row number i of a shard is `row_of(shard, i)`, its first one beyond the limit is free for any use. Memory is
    reserved for all rows at once, and taken as they come.
    """

    def __init__(self, halves: int, memory: int) -> None:
        self.limit = max(BLOCK, int(memory / self.bytes_per_state(halves)) // SHARDS // BLOCK * BLOCK)
        rows = (self.limit + BLOCK) * SHARDS
        self._room = _reserved(rows * halves * 4)
        self.keys = np.frombuffer(self._room, np.uint32).reshape(rows, halves)
        self.table = np.zeros((SHARDS, _FIRST_SLOTS), np.uint32)
        self.sizes = np.zeros(SHARDS, np.int64)

    @staticmethod
    def bytes_per_state(halves: int) -> float:
        """Key and slots of the table, when memory is full."""
        return 4 * halves + _SLOT / _MOST_LOAD

    @property
    def size(self) -> int:
        """How many states there are."""
        return int(self.sizes.sum())

    @property
    def bytes(self) -> int:
        """The memory that the states take."""
        blocks = int((-(-self.sizes // BLOCK)).sum())
        return blocks * BLOCK * self.keys.shape[1] * self.keys.itemsize + self.table.nbytes

    def has_room_for(self, coming: npt.NDArray[np.int64], threads: Threads) -> bool:
        """Make room for so many more rows of each shard. False: that would exceed the memory."""
        most = int((self.sizes + coming).max())
        if most > self.limit:
            return False
        slots = self.table.shape[1]
        if most > slots * _MOST_LOAD:
            self._room.madvise(mmap.MADV_HUGEPAGE)
            while most > slots * _MOST_LOAD:
                slots *= 2
            slots = min(slots, int(self.limit / _MOST_LOAD) + 1)
            self.table = np.zeros((SHARDS, slots), np.uint32)
            fill = compiled(fill_table)
            tasks = SHARDS if self.size > BLOCK * SHARDS else 1
            threads.run(tasks, lambda task, _: fill(self.keys, self.sizes, self.table, *shards_of(task, tasks)))
        return True

    def add(self, outbox: tuple[Array, ...], chunks: int, tasks: int, threads: Threads) -> None:
        """Add what is in the first chunks of an outbox, which there is room for."""
        adding = compiled(insert)

        def work(task: int, thread: int) -> None:
            adding(self.keys, self.table, self.sizes, outbox, chunks, *shards_of(task, tasks))

        threads.run(tasks, work)

    def table_of(self, rows: npt.NDArray[np.int64]) -> Array:
        """Return a table that has some of the rows only."""
        most = int(np.bincount(rows >> BLOCK_BITS & (SHARDS - 1), minlength=1).max())
        table = np.zeros((SHARDS, int(most / _MOST_LOAD) + 1), np.uint32)
        compiled(enter)(self.keys, rows, table)
        return table


def _reserved(size: int) -> mmap.mmap:
    """So many zeros, which take no memory but for the pages that are written."""
    return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)


def shards_of(task: int, tasks: int) -> tuple[int, int]:
    """Return the shards from the first to the last, exclusive, that are one of so many tasks."""
    return task * SHARDS // tasks, (task + 1) * SHARDS // tasks


def row_of(shard, i):  # type: ignore[no-untyped-def]
    """Return the row of number i of a shard: blocks of the shards take turns, so that a small search
    touches little memory.
    """
    return ((i >> BLOCK_BITS) * SHARDS + shard) << BLOCK_BITS | (i & (BLOCK - 1))


def hash_of(keys, row):  # type: ignore[no-untyped-def]
    """Return a 64-bit hash of the words of a row (the finalizer of MurmurHash3, word by word)."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for half in range(0, keys.shape[1] - 1, 2):
        word = np.uint64(keys[np.uint64(row), half]) | np.uint64(keys[np.uint64(row), half + 1]) << np.uint64(32)
        value = mixed(value, word)
    if keys.shape[1] & 1:
        value = mixed(value, np.uint64(keys[np.uint64(row), keys.shape[1] - 1]))
    return value


def mixed(value, word):  # type: ignore[no-untyped-def]
    """Return a hash with one more word in it."""
    value = (value ^ word) * np.uint64(0xFF51AFD7ED558CCD)
    return value ^ value >> np.uint64(32)


def shard_of(hashed):  # type: ignore[no-untyped-def]
    """Return the shard of a key, by its hash."""
    return np.int64(hashed >> np.uint64(64 - SHARD_BITS))


def home_of(hashed, slots):  # type: ignore[no-untyped-def]
    """Return the slot where a key belongs, by its hash."""
    return np.int64(((hashed & np.uint64(0xFFFFFFFF)) * np.uint64(slots)) >> np.uint64(32))


def same(keys, row, others, other):  # type: ignore[no-untyped-def]
    """Whether two rows are the same key."""
    equal = True
    for half in range(keys.shape[1]):
        equal &= keys[np.uint64(row), half] == others[np.uint64(other), half]
    return equal


# What a slot has: in its lower bits the number of a row of its shard, and one more, for 0 is an empty slot; in those
# that are left, some of the hash. A key is looked at only where these are the same: most that are not the one that is
# wanted cost no access to memory, which a search waits for more than for anything else.


def number_bits(keys):  # type: ignore[no-untyped-def]
    """How many bits of a slot have the number of a row."""
    bits = 0
    while keys.shape[0] >> (SHARD_BITS + bits):
        bits += 1
    return bits


def slot_with(hashed, number, bits):  # type: ignore[no-untyped-def]
    """Return what a slot has for row `number`, counted from 1."""
    return np.int64(hashed >> np.uint64(32)) << bits & np.int64(0xFFFFFFFF) | number


def row_in(slot, hashed, bits):  # type: ignore[no-untyped-def]
    """Return the row that a slot of a hash's shard has."""
    return row_of(shard_of(hashed), (slot & ((np.int64(1) << bits) - 1)) - 1)


def may_have(slot, hashed, bits):  # type: ignore[no-untyped-def]
    """Whether a slot that is not empty may have a key, by what it has of the hash."""
    return (slot ^ slot_with(hashed, 0, bits)) >> bits == 0


def find_slot(wanted, i, hashed, keys, table, bits):  # type: ignore[no-untyped-def]
    """Return the slot of its shard's table that has the row of `wanted[i]` in `keys`, or the empty one
    where it belongs.
    """
    shard, slots = shard_of(hashed), table.shape[1]
    slot = home_of(hashed, slots)
    while True:
        entry = np.int64(table[np.uint64(shard), np.uint64(slot)])
        if entry == 0 or (may_have(entry, hashed, bits) and same(keys, row_in(entry, hashed, bits), wanted, i)):
            return slot
        slot = slot + 1 if slot + 1 < slots else 0


def look_up(wanted, count, hashes, keys, table, found, bits):  # type: ignore[no-untyped-def]
    """For each of the first keys that are wanted, not 0 in `found` if it is among those visited.

    Lookups that do not depend on one another wait for memory together: first for slots, then for keys.
    """
    slots = table.shape[1]
    for i in range(count):
        found[i] = table[np.uint64(shard_of(hashes[i])), np.uint64(home_of(hashes[i], slots))]
    for i in range(count):
        slot = home_of(hashes[i], slots)
        while found[i] != 0 and not may_have(found[i], hashes[i], bits):
            slot = slot + 1 if slot + 1 < slots else 0
            found[i] = table[np.uint64(shard_of(hashes[i])), np.uint64(slot)]
    for i in range(count):
        if found[i] != 0 and not same(keys, row_in(found[i], hashes[i], bits), wanted, i):
            slot = find_slot(wanted, i, hashes[i], keys, table, bits)
            found[i] = table[np.uint64(shard_of(hashes[i])), np.uint64(slot)]


def enter_row(keys, row, table, bits):  # type: ignore[no-untyped-def]
    """Enter a row that is not there yet into a table."""
    shard, slots = row >> BLOCK_BITS & (SHARDS - 1), table.shape[1]
    hashed = hash_of(keys, row)
    slot = home_of(hashed, slots)
    while table[shard, slot] != 0:
        slot = slot + 1 if slot + 1 < slots else 0
    number = (row >> (BLOCK_BITS + SHARD_BITS)) << BLOCK_BITS | (row & (BLOCK - 1))
    table[shard, slot] = slot_with(hashed, number + 1, bits)


@kernel
def enter(keys, rows, table):  # type: ignore[no-untyped-def]
    """Enter rows into an empty table."""
    bits = number_bits(keys)
    for row in rows:
        enter_row(keys, row, table, bits)


@kernel
def fill_table(keys, sizes, table, first, last):  # type: ignore[no-untyped-def]
    """Enter all rows of the shards from `first` to `last` into an empty table."""
    bits = number_bits(keys)
    for shard in range(first, last):
        for i in range(sizes[shard]):
            enter_row(keys, row_of(shard, i), table, bits)


@kernel
def insert(keys, table, sizes, outbox, chunks, first, last):  # type: ignore[no-untyped-def]
    """Add to the shards from `first` to `last` what is in the first chunks of an outbox, in its order."""
    new_keys, hashes, parents, order, starts, _ = outbox
    room = parents.shape[1]
    slots = table.shape[1]
    bits = number_bits(keys)
    home = np.zeros(_BATCH, np.int64)
    for shard in range(first, last):
        for chunk in range(chunks):
            at, end = starts[chunk, shard], starts[chunk, shard + 1]
            while at < end:
                stop = min(at + _BATCH, end)
                for i in range(at, stop):
                    home[i - at] = table[shard, home_of(hashes[chunk, order[chunk, i]], slots)]
                for i in range(at, stop):
                    entry = order[chunk, i]
                    new, hashed, there = chunk * room + entry, hashes[chunk, entry], home[i - at]
                    may_be_there = there != 0 and may_have(there, hashed, bits)
                    if may_be_there and same(keys, row_in(there, hashed, bits), new_keys, new):
                        continue
                    slot = find_slot(new_keys, new, hashed, keys, table, bits)
                    if table[shard, slot] == 0:
                        row = row_of(shard, sizes[shard])
                        for half in range(keys.shape[1]):
                            keys[row, half] = new_keys[new, half]
                        sizes[shard] += 1
                        table[shard, slot] = slot_with(hashed, sizes[shard], bits)
                at = stop
