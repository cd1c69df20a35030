"""The set of states that a search has visited: packed keys in shards, and a hash table for each shard.

The hash of a key determines the key's shard, so threads that fill different shards share no data. A lookup compares
whole keys, so a collision of hashes cannot make a search skip a state. The set does not record how the search reached a
state; retrace.py recomputes this.
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
BLOCK_BITS = 6  # a block is a run of consecutive rows of one shard
BLOCK = 1 << BLOCK_BITS

_FIRST_SLOTS = 64  # initial size of each shard's table
_MOST_LOAD = 0.8
_SLOT = 4  # bytes
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0  # MAP_NORESERVE, for which Python 3.11 has no name
_BATCH = 16  # lookups that wait for memory at the same time

Array = npt.NDArray[Any]


class Visited:
    """The keys of visited states: a row of `halves` 32-bit words for each state.

    `sizes` has the number of rows by shard. Row i of a shard is `keys[row_of(shard, i)]`. `memory` is in bytes. The
    constructor reserves address space for all rows, and the operating system allocates only the pages that are written.
    A shard holds up to `limit` states, and has free rows after these.
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
        """Return the bytes that a state takes when memory is full: its key and its share of the hash table."""
        return 4 * halves + _SLOT / _MOST_LOAD

    @property
    def size(self) -> int:
        """The number of states."""
        return int(self.sizes.sum())

    @property
    def bytes(self) -> int:
        """The memory that the states take, in bytes."""
        blocks = int((-(-self.sizes // BLOCK)).sum())
        return blocks * BLOCK * self.keys.shape[1] * self.keys.itemsize + self.table.nbytes

    def has_room_for(self, coming: npt.NDArray[np.int64], threads: Threads) -> bool:
        """Make room for more rows. Returns False if these rows would exceed the memory.

        `coming` has the number of these rows for each shard.
        """
        most = int((self.sizes + coming).max())
        if most > self.limit:
            return False
        slots = self.table.shape[1]
        if most > slots * _MOST_LOAD:
            # Huge pages only for a search that has outgrown its first table: a small search should touch little memory.
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
        """Add the states in the first `chunks` chunks of an outbox (see Expansion). Call `has_room_for` first.

        The shards are divided among `tasks` tasks, which the threads run.
        """
        adding = compiled(insert)

        def work(task: int, thread: int) -> None:
            adding(self.keys, self.table, self.sizes, outbox, chunks, *shards_of(task, tasks))

        threads.run(tasks, work)

    def table_of(self, rows: npt.NDArray[np.int64]) -> Array:
        """Return a hash table that holds only the states in the given rows."""
        most = int(np.bincount(rows >> BLOCK_BITS & (SHARDS - 1), minlength=1).max())
        table = np.zeros((SHARDS, int(most / _MOST_LOAD) + 1), np.uint32)
        compiled(enter)(self.keys, rows, table)
        return table


def _reserved(size: int) -> mmap.mmap:
    """Return a memory mapping of `size` zero bytes. Only the pages that are written take memory."""
    return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)


def shards_of(task: int, tasks: int) -> tuple[int, int]:
    """Return the range of shards (first, last exclusive) that a task handles, if `tasks` tasks share them."""
    return task * SHARDS // tasks, (task + 1) * SHARDS // tasks


def row_of(shard, i):  # type: ignore[no-untyped-def]
    """Return the index in `keys` of row i of a shard.

    A block is a run of consecutive rows of one shard. The blocks of all shards take turns in `keys`, so that a small
    search touches little memory.
    """
    return ((i >> BLOCK_BITS) * SHARDS + shard) << BLOCK_BITS | (i & (BLOCK - 1))


def hash_of(keys, row):  # type: ignore[no-untyped-def]
    """Return a 64-bit hash of the key in a row of `keys`.

    The function mixes in the key's 64-bit words one after the other, with a multiplier of MurmurHash3's finalizer.
    """
    value = np.uint64(0x9E3779B97F4A7C15)
    for half in range(0, keys.shape[1] - 1, 2):
        word = np.uint64(keys[np.uint64(row), half]) | np.uint64(keys[np.uint64(row), half + 1]) << np.uint64(32)
        value = mixed(value, word)
    if keys.shape[1] & 1:
        value = mixed(value, np.uint64(keys[np.uint64(row), keys.shape[1] - 1]))
    return value


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


def same(keys, row, others, other):  # type: ignore[no-untyped-def]
    """Return whether a row of `keys` and a row of `others` hold the same key."""
    # No early return: the loop stays free of branches, and the compared keys are almost always equal.
    equal = True
    for half in range(keys.shape[1]):
        equal &= keys[np.uint64(row), half] == others[np.uint64(other), half]
    return equal


# The lower bits of a slot hold a row number within the shard plus 1, because 0 marks an empty slot. The remaining bits
# hold a part of the hash. A lookup reads a key only if these bits agree with the hash of the wanted key. So it seldom
# reads a different key. This saves time, because waiting for memory is the largest cost of a search.


def number_bits(keys):  # type: ignore[no-untyped-def]
    """Return how many bits of a slot hold a row number. A slot is a 32-bit entry of the hash table."""
    bits = 0
    while keys.shape[0] >> (SHARD_BITS + bits):
        bits += 1
    return bits


def slot_with(hashed, number, bits):  # type: ignore[no-untyped-def]
    """Return the contents of a slot of the hash table: some bits of a hash, and a row number.

    The rows of a shard are numbered from 1, because 0 marks an empty slot. `bits` is the size of the row number.
    """
    # The upper half of the hash. The lower half chose the slot, so it distinguishes keys in neighbouring slots poorly.
    return np.int64(hashed >> np.uint64(32)) << bits & np.int64(0xFFFFFFFF) | number


def row_in(slot, hashed, bits):  # type: ignore[no-untyped-def]
    """Return the row in `keys` that a slot of the hash table refers to. The hash determines the shard."""
    return row_of(shard_of(hashed), (slot & ((np.int64(1) << bits) - 1)) - 1)


def may_have(slot, hashed, bits):  # type: ignore[no-untyped-def]
    """Return whether a slot may refer to a key with a hash: the bits of a hash in the slot agree with this hash.

    The slot must not be empty.
    """
    return (slot ^ slot_with(hashed, 0, bits)) >> bits == 0


def find_slot(wanted, i, hashed, keys, table, bits):  # type: ignore[no-untyped-def]
    """Return the slot of the hash table that holds the key `wanted[i]`, or the empty slot where it belongs."""
    shard, slots = shard_of(hashed), table.shape[1]
    slot = home_of(hashed, slots)
    while True:
        entry = np.int64(table[np.uint64(shard), np.uint64(slot)])
        if entry == 0 or (may_have(entry, hashed, bits) and same(keys, row_in(entry, hashed, bits), wanted, i)):
            return slot
        slot = slot + 1 if slot + 1 < slots else 0


def look_up(wanted, count, hashes, keys, table, found, bits):  # type: ignore[no-untyped-def]
    """Look up the first `count` keys of `wanted` in the hash table.

    Sets `found[i]` to 0 if key i has not been visited, and to the contents of its slot if it has. The lookups do
    not depend on one another, so the processor overlaps their cache misses.
    """
    slots = table.shape[1]
    # Three loops in place of one: the loads in a loop are independent, so the processor runs many at a time.
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
    """Enter a row of `keys` into the hash table. The table must not hold this row yet."""
    shard, slots = row >> BLOCK_BITS & (SHARDS - 1), table.shape[1]
    hashed = hash_of(keys, row)
    slot = home_of(hashed, slots)
    while table[shard, slot] != 0:
        slot = slot + 1 if slot + 1 < slots else 0
    number = (row >> (BLOCK_BITS + SHARD_BITS)) << BLOCK_BITS | (row & (BLOCK - 1))  # the inverse of `row_of`
    table[shard, slot] = slot_with(hashed, number + 1, bits)


@kernel
def enter(keys, rows, table):  # type: ignore[no-untyped-def]
    """Enter some rows of `keys` into an empty hash table."""
    bits = number_bits(keys)
    for row in rows:
        enter_row(keys, row, table, bits)


@kernel
def fill_table(keys, sizes, table, first, last):  # type: ignore[no-untyped-def]
    """Enter all rows of the shards from `first` to `last` (exclusive) into an empty hash table."""
    bits = number_bits(keys)
    for shard in range(first, last):
        for i in range(sizes[shard]):
            enter_row(keys, row_of(shard, i), table, bits)


@kernel
def insert(keys, table, sizes, outbox, chunks, first, last):  # type: ignore[no-untyped-def]
    """Add the new states in the first `chunks` chunks of an outbox to the shards from `first` to `last` (exclusive).

    The states are added in the order of the outbox. States that the set already holds are skipped.
    """
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
                # Load the slots of a batch first, so that they arrive while the batch is inserted. A slot may be
                # filled within the batch: an entry that is not found in its home slot goes through `find_slot`.
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
