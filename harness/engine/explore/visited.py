"""The set of states that a search has visited: the parts of packed keys, and a hash table of their pairs.

A state is a pair of parts (see parts.py). A lookup compares whole keys, so a collision of hashes cannot make a search
skip a state. The set does not record how the search reached a state; retrace.py recomputes this.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.engine.explore.parts import LEFT, RIGHT, SEED, PartBox, Parts, cut_of, fill_parts, hash_words
from epochfuzz.harness.engine.explore.shards import (
    BATCH,
    BLOCK_BITS,
    SHARDS,
    Array,
    Counts,
    Shards,
    first_free,
    home_of,
    may_have,
    number_bits,
    number_of,
    row_in,
    row_of,
    shard_of,
    shards_of,
    slot_with,
    table_for,
)
from epochfuzz.harness.engine.runtime.compilation import compiled, kernel
from epochfuzz.harness.engine.runtime.threads import Threads

Stored = tuple[Array, Array, Array]  # the pairs of parts, the left parts, and the right parts, with a row for each


class Visited:
    """The keys of visited states. A key has `halves` 32-bit words, at least two. `memory` is in bytes."""

    def __init__(self, halves: int, memory: int) -> None:
        self.memory = memory
        self._cut = cut_of(halves)
        self._states = Shards(2, memory)
        self._parts = Parts(LEFT, halves, memory), Parts(RIGHT, halves, memory)
        self._box: PartBox | None = None
        self.stored: Stored = (self._states.rows, self._parts[LEFT].shards.rows, self._parts[RIGHT].shards.rows)

    @property
    def size(self) -> int:
        """The number of states."""
        return self._states.size

    @property
    def sizes(self) -> Counts:
        """The number of states by shard."""
        return self._states.sizes

    @property
    def table(self) -> Array:
        """The hash table of the states."""
        return self._states.table

    @property
    def bytes(self) -> int:
        """The memory that the states take, in bytes."""
        return self._states.bytes + sum(each.shards.bytes for each in self._parts)

    def add(self, outbox: tuple[Array, ...], chunks: int, threads: Threads) -> bool:
        """Add the states in the first `chunks` chunks of an outbox (see Expansion).

        Returns False if the memory is full. Then the function adds no state.
        """
        if self._box is None:
            self._box = PartBox(outbox)
        box, starts = self._box, outbox[4][:chunks]
        box.take(outbox, chunks, self._cut, threads)
        if not self._make_room(box, (starts[:, 1:] - starts[:, :-1]).sum(axis=0), chunks, threads):
            return False
        for each in self._parts:
            each.add(box, outbox, chunks, threads)
        tasks = 1 if chunks == 1 else SHARDS // 4
        adding, states = compiled(insert), self._states

        def work(task: int, thread: int) -> None:
            adding(self.stored, states.table, states.sizes, outbox, box.indexes, chunks, *shards_of(task, tasks))

        threads.run(tasks, work)
        return True

    def _make_room(self, box: PartBox, coming: Counts, chunks: int, threads: Threads) -> bool:
        """Make room for more states. Returns False if they would exceed the memory.

        `coming` has the number of these states for each shard. The function assumes that all states and parts are new.
        """
        comings = coming, *(box.counts[:chunks, side].sum(axis=0) for side in (LEFT, RIGHT))
        more = [(*each, some) for each, some in zip(self._filled(), comings, strict=True)]
        rows = sum(shards.bytes_for(some) for shards, _, _, some in more)
        if self.bytes + rows > self.memory:
            return False
        return all(
            shards.enlarge(some, self.memory - self.bytes - rows, threads, fill, keys)
            for shards, fill, keys, some in more
        )

    def _filled(self) -> list[tuple[Shards, Callable[..., None], Any]]:
        """Return the shards of the states and of the parts, each with the arguments `fill` and `keys` of `enlarge`."""
        parts = [(part.shards, compiled(fill_parts), part.shards.rows) for part in self._parts]
        return [(self._states, compiled(fill_table), self.stored), *parts]

    def pieces(self) -> Iterator[Array]:
        """Yield arrays with all states, for `restore`."""
        for shards, _, _ in self._filled():
            yield from shards.pieces()

    def restore(self, pieces: Iterator[Array], threads: Threads) -> bool:
        """Take over the states from `pieces`. Returns False if they exceed the memory. The object is unusable then."""
        filled = self._filled()
        if not all(shards.restore(pieces) for shards, _, _ in filled) or self.bytes > self.memory:
            return False
        for shards, fill, keys in filled:
            shards.enter(threads, fill, keys)
        return True

    def put_aside(self, key: Array) -> int:
        """Store a key outside of the set, until the next call. Returns the number of its row in shard 0."""
        free = row_of(0, self._states.limit)  # the first row of shard 0 beyond the limit, which the search never fills
        for side, part in enumerate((key[: self._cut], key[self._cut :])):
            self.stored[0][free, side] = index = row_of(0, self._parts[side].shards.limit)
            self.stored[1 + side][index] = part
        return self._states.limit

    def keys_of(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
        """Return the keys of the states in the given rows, one row for each."""
        pairs, left, right = self.stored
        return np.hstack([left[pairs[rows, LEFT]], right[pairs[rows, RIGHT]]])

    def table_of(self, rows: npt.NDArray[np.int64]) -> Array:
        """Return a hash table that holds only the states in the given rows."""
        table = table_for(int(np.bincount(rows >> BLOCK_BITS & (SHARDS - 1), minlength=1).max()))
        compiled(enter)(self.stored, rows, table)
        return table


def stored_keys(keys: npt.NDArray[np.uint32]) -> Stored:
    """Return keys in the form of stored states: row i is the state with key number i."""
    cut, numbers = cut_of(keys.shape[1]), np.arange(len(keys), dtype=np.uint32)
    return np.stack([numbers, numbers], axis=1), keys[:, :cut].copy(), keys[:, cut:].copy()


def hash_of(keys, row):  # type: ignore[no-untyped-def]
    """Return a 64-bit hash of the key in a row of `keys`."""
    cut = cut_of(keys.shape[1])
    left = hash_words(keys, row, 0, cut, np.uint64(SEED))
    return hash_words(keys, row, cut, keys.shape[1], left)


def hash_of_stored(stored, row):  # type: ignore[no-untyped-def]
    """Return the hash of a stored key, as `hash_of` computes it."""
    pairs, left, right = stored
    value = hash_words(left, pairs[np.uint64(row), LEFT], 0, left.shape[1], np.uint64(SEED))
    return hash_words(right, pairs[np.uint64(row), RIGHT], 0, right.shape[1], value)


def same(stored, row, keys, key):  # type: ignore[no-untyped-def]
    """Return whether a row of the stored states and a row of `keys` hold the same key."""
    pairs, left, right = stored
    on_left, on_right = np.uint64(pairs[np.uint64(row), LEFT]), np.uint64(pairs[np.uint64(row), RIGHT])
    cut = left.shape[1]
    # No early return: the loops stay free of branches, and the compared keys are almost always equal.
    equal = True
    for half in range(cut):
        equal &= left[on_left, half] == keys[np.uint64(key), half]
    for half in range(right.shape[1]):
        equal &= right[on_right, half] == keys[np.uint64(key), cut + half]
    return equal


def find_slot(wanted, i, hashed, stored, table, bits):  # type: ignore[no-untyped-def]
    """Return the slot of the hash table that holds the key `wanted[i]`, or the empty slot where it belongs."""
    shard, slots = shard_of(hashed), table.shape[1]
    slot = home_of(hashed, slots)
    while True:
        entry = np.int64(table[np.uint64(shard), np.uint64(slot)])
        if entry == 0 or (may_have(entry, hashed, bits) and same(stored, row_in(entry, hashed, bits), wanted, i)):
            return slot
        slot = slot + 1 if slot + 1 < slots else 0


def look_up(wanted, count, hashes, stored, table, found, bits):  # type: ignore[no-untyped-def]
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
        if found[i] != 0 and not same(stored, row_in(found[i], hashes[i], bits), wanted, i):
            slot = find_slot(wanted, i, hashes[i], stored, table, bits)
            found[i] = table[np.uint64(shard_of(hashes[i])), np.uint64(slot)]


def enter_row(stored, row, table, bits):  # type: ignore[no-untyped-def]
    """Enter a row of the stored states into the hash table. The table must not hold this row yet."""
    hashed = hash_of_stored(stored, row)
    shard = shard_of(hashed)
    table[shard, first_free(table, shard, hashed)] = slot_with(hashed, number_of(row) + 1, bits)


@kernel
def enter(stored, rows, table):  # type: ignore[no-untyped-def]
    """Enter some rows of the stored states into an empty hash table."""
    bits = number_bits(stored[0])
    for row in rows:
        enter_row(stored, row, table, bits)


@kernel
def fill_table(stored, sizes, table, first, last):  # type: ignore[no-untyped-def]
    """Enter all states of the shards from `first` to `last` (exclusive) into an empty hash table."""
    bits = number_bits(stored[0])
    for shard in range(first, last):
        for i in range(sizes[shard]):
            enter_row(stored, row_of(shard, i), table, bits)


@kernel
def insert(stored, table, sizes, outbox, indexes, chunks, first, last):  # type: ignore[no-untyped-def]
    """Add the new states in the first `chunks` chunks of an outbox to the shards from `first` to `last` (exclusive).

    The states are added in the order of the outbox. States that the set already holds are skipped. The parts of the
    states are stored already, and `indexes` has their indexes.
    """
    new_keys, hashes, parents, order, starts, _ = outbox
    pairs = stored[0]
    room, slots, bits = parents.shape[1], table.shape[1], number_bits(pairs)
    home = np.zeros(BATCH, np.int64)
    for shard in range(first, last):
        for chunk in range(chunks):
            at, end = starts[chunk, shard], starts[chunk, shard + 1]
            while at < end:
                stop = min(at + BATCH, end)
                # Load the slots of a batch first, so that they arrive while the batch is inserted. A slot may be
                # filled within the batch: an entry that is not found in its home slot goes through `find_slot`.
                for i in range(at, stop):
                    home[i - at] = table[shard, home_of(hashes[chunk, order[chunk, i]], slots)]
                for i in range(at, stop):
                    entry = order[chunk, i]
                    new, hashed, there = chunk * room + entry, hashes[chunk, entry], home[i - at]
                    may_be_there = there != 0 and may_have(there, hashed, bits)
                    if may_be_there and same(stored, row_in(there, hashed, bits), new_keys, new):
                        continue
                    slot = find_slot(new_keys, new, hashed, stored, table, bits)
                    if table[shard, slot] == 0:
                        row = row_of(shard, sizes[shard])
                        pairs[row, LEFT] = indexes[chunk, entry, LEFT]
                        pairs[row, RIGHT] = indexes[chunk, entry, RIGHT]
                        sizes[shard] += 1
                        table[shard, slot] = slot_with(hashed, sizes[shard], bits)
                at = stop
