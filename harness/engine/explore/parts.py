"""The distinct left and right parts of the keys that a search has visited.

Many keys have a part in common: 6 million states of kafka-4.1 have 0.6 million distinct left parts and 0.4 million
distinct right parts. So a search stores each part once, and a state as the pair of its parts. This is the first level
of the tree compression of Laarman, van de Pol and Weber ("Parallel Recursive State Compression for Free", SPIN 2011).
More levels would save less than they cost: the parts take a third of the memory of a search.
"""

import numpy as np

from epochfuzz.harness.engine.explore.shards import (
    SHARDS,
    Array,
    Counts,
    Shards,
    first_free,
    home_of,
    may_have,
    mixed,
    number_bits,
    number_of,
    row_in,
    row_of,
    shard_of,
    shards_of,
    slot_with,
)
from epochfuzz.harness.engine.runtime.compilation import compiled, kernel
from epochfuzz.harness.engine.runtime.threads import Threads

LEFT, RIGHT = range(2)
SEED = 0x9E3779B97F4A7C15  # the hash of no words


def cut_of(halves: int) -> int:
    """Return the number of 32-bit halves in the left part of a key that has `halves` halves."""
    # Three halves on the right needed the least memory for most protocols and bounds, and two for keys of five halves.
    return halves - max(min(3, halves // 2), halves // 4)


class Parts:
    """The distinct parts of one side (LEFT or RIGHT) of keys. A part's index in `shards.rows` identifies the part."""

    def __init__(self, side: int, halves: int, memory: int) -> None:
        cut = cut_of(halves)
        self._side, self._first = side, cut if side == RIGHT else 0
        self.shards = Shards(halves - cut if side == RIGHT else cut, memory)

    def add(self, box: "PartBox", outbox: tuple[Array, ...], chunks: int, threads: Threads) -> None:
        """Add the parts in the first `chunks` chunks of an outbox. Writes their indexes to `box.indexes`."""
        tasks = min(threads.jobs, SHARDS) if chunks > 1 else 1
        adding, shards = compiled(intern), self.shards

        def work(task: int, thread: int) -> None:
            some = shards_of(task, tasks)
            adding(
                shards.rows, shards.table, shards.sizes, outbox, box.hashes, box.indexes, self._side, self._first,
                chunks, *some,
            )  # fmt: skip

        threads.run(tasks, work)


class PartBox:
    """The parts of the keys in an outbox (see Expansion), in arrays with an element for each side and key.

    `hashes[chunk, entry, side]` is the hash of a part, and `indexes[chunk, entry, side]` the part's index.
    `counts[chunk, side]` has the number of parts for each shard.
    """

    def __init__(self, outbox: tuple[Array, ...]) -> None:
        chunks, room = outbox[1].shape
        self.hashes = np.empty((chunks, room, 2), np.uint64)
        self.indexes = np.empty((chunks, room, 2), np.uint32)
        self.counts: Counts = np.zeros((chunks, 2, SHARDS), np.int64)

    def take(self, outbox: tuple[Array, ...], chunks: int, cut: int, threads: Threads) -> None:
        """Compute the hashes of the parts in the first `chunks` chunks of an outbox, and count them."""
        hashing = compiled(hash_parts)
        threads.run(chunks, lambda chunk, _: hashing(outbox, chunk, cut, self.hashes[chunk], self.counts[chunk]))


def hash_words(rows, row, first, last, value):  # type: ignore[no-untyped-def]
    """Return the hash `value` after mixing in the halves from `first` to `last` (exclusive) of a row, two at a time.

    The multiplier of the mixing is from MurmurHash3's finalizer.
    """
    for half in range(first, last - 1, 2):
        word = np.uint64(rows[np.uint64(row), half]) | np.uint64(rows[np.uint64(row), half + 1]) << np.uint64(32)
        value = mixed(value, word)
    if (last - first) & 1:
        value = mixed(value, np.uint64(rows[np.uint64(row), last - 1]))
    return value


@kernel
def hash_parts(outbox, chunk, cut, hashes, counts):  # type: ignore[no-untyped-def]
    """Compute the hashes of the parts of all keys in a chunk of an outbox, and count the parts by side and shard."""
    new_keys, all_hashes, starts = outbox[0], outbox[1], outbox[4]
    first = chunk * all_hashes.shape[1]
    counts[:] = 0
    for entry in range(starts[chunk, SHARDS]):
        hashes[entry, LEFT] = hash_words(new_keys, first + entry, 0, cut, np.uint64(SEED))
        hashes[entry, RIGHT] = hash_words(new_keys, first + entry, cut, new_keys.shape[1], np.uint64(SEED))
        counts[LEFT, shard_of(hashes[entry, LEFT])] += 1
        counts[RIGHT, shard_of(hashes[entry, RIGHT])] += 1


def is_part(rows, row, keys, key, first):  # type: ignore[no-untyped-def]
    """Return whether a row is the part of a key that begins with the key's half number `first`."""
    equal = True
    for half in range(rows.shape[1]):
        equal &= rows[np.uint64(row), half] == keys[np.uint64(key), first + half]
    return equal


@kernel
def intern(rows, table, sizes, outbox, hashes, indexes, side, cut, chunks, first, last):  # type: ignore[no-untyped-def]
    """Add the parts of one side to the shards from `first` to `last` (exclusive), each part once, and note its index.

    The part begins with the key's half number `cut`. The parts are added in the order of the outbox.
    """
    new_keys, all_hashes, starts = outbox[0], outbox[1], outbox[4]
    slots, bits = table.shape[1], number_bits(rows)
    for chunk in range(chunks):
        for entry in range(starts[chunk, SHARDS]):
            hashed = hashes[chunk, entry, side]
            shard = shard_of(hashed)
            if shard < first or shard >= last:
                continue
            key, slot = chunk * all_hashes.shape[1] + entry, home_of(hashed, slots)
            there = np.int64(table[shard, slot])
            while there != 0 and not (
                may_have(there, hashed, bits) and is_part(rows, row_in(there, hashed, bits), new_keys, key, cut)
            ):
                slot = slot + 1 if slot + 1 < slots else 0
                there = np.int64(table[shard, slot])
            if there == 0:
                row = row_of(shard, sizes[shard])
                for half in range(rows.shape[1]):
                    rows[row, half] = new_keys[key, cut + half]
                sizes[shard] += 1
                there = slot_with(hashed, sizes[shard], bits)
                table[shard, slot] = there
            indexes[chunk, entry, side] = row_in(there, hashed, bits)


@kernel
def fill_parts(rows, sizes, table, first, last):  # type: ignore[no-untyped-def]
    """Enter all parts of the shards from `first` to `last` (exclusive) into an empty hash table."""
    bits = number_bits(rows)
    for shard in range(first, last):
        for i in range(sizes[shard]):
            row = row_of(shard, i)
            hashed = hash_words(rows, row, 0, rows.shape[1], np.uint64(SEED))
            table[shard, first_free(table, shard, hashed)] = slot_with(hashed, number_of(row) + 1, bits)
