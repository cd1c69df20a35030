"""Rows of 32-bit words in shards, with a hash table for each shard: the layout of the states that a search has visited.

The hash of a row's contents determines the row's shard, so threads that fill different shards share no data.
"""

import mmap
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.engine.runtime.threads import Threads

SHARD_BITS = 6
SHARDS = 1 << SHARD_BITS
BLOCK_BITS = 6  # a block is a run of consecutive rows of one shard
BLOCK = 1 << BLOCK_BITS
BATCH = 16  # lookups that wait for memory at the same time

_FIRST_SLOTS = 64  # initial size of each shard's table
_MOST_LOAD = 0.8
_SLOT = 4  # bytes
_LEAST_GROWTH = 64  # a table that can grow by less than this part of its size is full
_PIECE = 1 << 20  # rows of a piece (see Shards.pieces)
_MOST_ROWS = (1 << 32) // SHARDS - 2 * BLOCK  # of a shard: parts.py stores the index of a row in 32 bits
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0  # MAP_NORESERVE, for which Python 3.11 has no name

Array = npt.NDArray[Any]
Counts = npt.NDArray[np.int64]  # a number for each shard


class Shards:
    """Rows of `width` 32-bit words. Row i of a shard is `rows[row_of(shard, i)]`, and `sizes` has the number of rows.

    `memory` is the largest size in bytes. The constructor reserves address space for all rows, and the operating system
    allocates only the pages that are written. A shard holds up to `limit` rows, and has free rows after these.
    """

    def __init__(self, width: int, memory: int) -> None:
        fitting = int(memory / (4 * width + _SLOT / _MOST_LOAD)) // SHARDS // BLOCK * BLOCK
        self.limit = min(max(BLOCK, fitting), _MOST_ROWS)
        count = (self.limit + BLOCK) * SHARDS
        self._room = mmap.mmap(-1, count * width * 4, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
        self.rows = np.frombuffer(self._room, np.uint32).reshape(count, width)
        self.table = np.zeros((SHARDS, _FIRST_SLOTS), np.uint32)
        self.sizes = np.zeros(SHARDS, np.int64)

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.sizes.sum())

    @property
    def bytes(self) -> int:
        """The memory that the rows and their hash tables take, in bytes."""
        return self._bytes_of(self.sizes) + self.table.nbytes

    def bytes_for(self, coming: Counts) -> int:
        """Return the memory that more rows take, in bytes. `coming` has the number of these rows for each shard."""
        return self._bytes_of(self.sizes + coming) - self._bytes_of(self.sizes)

    def _bytes_of(self, sizes: Counts) -> int:
        return int((-(-sizes // BLOCK)).sum()) * BLOCK * self.rows.shape[1] * self.rows.itemsize

    def enlarge(self, coming: Counts, spare: int, threads: Threads, fill: Callable[..., None], keys: Any) -> bool:
        """Enlarge the hash tables for more rows. Returns False if the tables would exceed the memory.

        `coming` has the number of these rows for each shard, and `spare` is the size of the free memory in bytes.
        `fill(keys, sizes, table, first, last)` is a kernel that enters the rows of the shards from `first` to `last`
        (exclusive) into a new table. `keys` is the argument from which the kernel reads the contents of the rows.
        """
        most = int((self.sizes + coming).max())
        if most > self.limit:
            return False
        slots = self.table.shape[1]
        if most <= slots * _MOST_LOAD:
            return True
        # Huge pages only for a search that has outgrown its first table: a small search should touch little memory.
        self._room.madvise(mmap.MADV_HUGEPAGE)
        needed = int(most / _MOST_LOAD) + 1
        # Double the table. When memory becomes scarce, leave most of it to the rows.
        grown = max(needed, min(2 * slots, slots + spare // 4 // (SHARDS * _SLOT)))
        if (grown - slots) * SHARDS * _SLOT > spare or grown - slots < slots // _LEAST_GROWTH:
            return False
        self.table = np.zeros((SHARDS, grown), np.uint32)
        self.enter(threads, fill, keys)
        return True

    def enter(self, threads: Threads, fill: Callable[..., None], keys: Any) -> None:
        """Enter all rows into empty hash tables. `fill` and `keys` are as for `enlarge`."""
        tasks = SHARDS if self.size > BLOCK * SHARDS else 1
        threads.run(tasks, lambda task, _: fill(keys, self.sizes, self.table, *shards_of(task, tasks)))

    def pieces(self) -> Iterator[Array]:
        """Yield the sizes of the shards, the size of a hash table, and the rows in pieces, for `restore`."""
        yield self.sizes
        yield np.array(self.table.shape[1])
        for first, end in self._ranges():
            yield self.rows[first:end]

    def restore(self, pieces: Iterator[Array]) -> bool:
        """Take over the rows from `pieces`, with empty hash tables. Returns False if the rows exceed the limit."""
        sizes = next(pieces)
        if sizes.max() > self.limit:
            return False
        self.sizes[:] = sizes
        self.table = np.zeros((SHARDS, int(next(pieces))), np.uint32)
        for first, end in self._ranges():
            self.rows[first:end] = next(pieces)
        return True

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Yield (first, end) of consecutive runs of rows that contain all rows of all shards."""
        all_rows = -(-int(self.sizes.max()) // BLOCK) * BLOCK * SHARDS
        for first in range(0, all_rows, _PIECE):
            yield first, min(first + _PIECE, all_rows)


def table_for(most: int) -> Array:
    """Return an empty hash table with room for `most` rows in each shard."""
    return np.zeros((SHARDS, int(most / _MOST_LOAD) + 1), np.uint32)


def shards_of(task: int, tasks: int) -> tuple[int, int]:
    """Return the range of shards (first, last exclusive) that a task handles, if `tasks` tasks share them."""
    return task * SHARDS // tasks, (task + 1) * SHARDS // tasks


def row_of(shard, i):  # type: ignore[no-untyped-def]
    """Return the index of row i of a shard.

    A block is a run of consecutive rows of one shard. The blocks of all shards take turns, so that a small search
    touches little memory.
    """
    return ((i >> BLOCK_BITS) * SHARDS + shard) << BLOCK_BITS | (i & (BLOCK - 1))


def mixed(value, word):  # type: ignore[no-untyped-def]
    """Return the hash that results from mixing one more word into the hash `value`."""
    value = (value ^ word) * np.uint64(0xFF51AFD7ED558CCD)
    return value ^ value >> np.uint64(32)


def shard_of(hashed):  # type: ignore[no-untyped-def]
    """Return the shard (part of the set) that holds the key with a hash."""
    # The highest bits, because `home_of` computes the slot from the lower half of the hash.
    return np.int64(hashed >> np.uint64(64 - SHARD_BITS))


def home_of(hashed, slots):  # type: ignore[no-untyped-def]
    """Return the first slot to look at for a key with this hash, in a hash table of `slots` slots."""
    # A product in place of a remainder: a division would be slower, and the number of slots need not be a power of two.
    return np.int64(((hashed & np.uint64(0xFFFFFFFF)) * np.uint64(slots)) >> np.uint64(32))


# The lower bits of a slot hold a row number within the shard plus 1, because 0 marks an empty slot. The remaining bits
# hold a part of the hash. A lookup reads a key only if these bits agree with the hash of the wanted key. So it seldom
# reads a different key. This saves time, because waiting for memory is the largest cost of a search.


def number_bits(rows):  # type: ignore[no-untyped-def]
    """Return how many bits of a slot hold a row number. A slot is a 32-bit entry of the hash table."""
    bits = 0
    while rows.shape[0] >> (SHARD_BITS + bits):
        bits += 1
    return bits


def slot_with(hashed, number, bits):  # type: ignore[no-untyped-def]
    """Return the contents of a slot of the hash table: some bits of a hash, and a row number.

    The rows of a shard are numbered from 1, because 0 marks an empty slot. `bits` is the size of the row number.
    """
    # The upper half of the hash. The lower half chose the slot, so it distinguishes keys in neighbouring slots poorly.
    return np.int64(hashed >> np.uint64(32)) << bits & np.int64(0xFFFFFFFF) | number


def row_in(slot, hashed, bits):  # type: ignore[no-untyped-def]
    """Return the row that a slot of the hash table refers to. The hash determines the shard."""
    return row_of(shard_of(hashed), (slot & ((np.int64(1) << bits) - 1)) - 1)


def may_have(slot, hashed, bits):  # type: ignore[no-untyped-def]
    """Return whether a slot may refer to a key with a hash: the bits of a hash in the slot agree with this hash.

    The slot must not be empty.
    """
    return (slot ^ slot_with(hashed, 0, bits)) >> bits == 0


def number_of(row):  # type: ignore[no-untyped-def]
    """Return the number of a row within its shard, from 0. This is the inverse of `row_of`."""
    return (row >> (BLOCK_BITS + SHARD_BITS)) << BLOCK_BITS | (row & (BLOCK - 1))


def first_free(table, shard, hashed):  # type: ignore[no-untyped-def]
    """Return the first empty slot of a shard's hash table for a row with this hash."""
    slots = table.shape[1]
    slot = home_of(hashed, slots)
    while table[shard, slot] != 0:
        slot = slot + 1 if slot + 1 < slots else 0
    return slot
