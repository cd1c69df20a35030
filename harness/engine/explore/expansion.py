"""Expand states in compiled code: compute their successors, and pack each successor into a key.

The states at one distance from the start are a level of the breadth-first search. The store of visited states
(visited.py) has a row for each state. A thread expands a chunk of rows at a time. A kernel (a compiled function) writes
the chunk's successors to a part of an outbox, which is a set of arrays. From there visited.py inserts the successors
into the set of visited states.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.engine.explore.parts import LEFT, RIGHT
from epochfuzz.harness.engine.explore.shards import SHARDS, Array, number_bits, row_of, shard_of
from epochfuzz.harness.engine.explore.visited import Stored, hash_of, look_up
from epochfuzz.harness.engine.keys import packing, symmetry
from epochfuzz.harness.engine.runtime.compilation import compiled_for, kernel_of_model
from epochfuzz.model.core.fields import Interpreted
from epochfuzz.model.core.model import APPLIED, MODEL, Model

CHUNK = 1 << 10  # rows that one thread expands at a time
CHUNKS = 1 << 6  # chunks of a wave: the search expands a wave completely before it inserts the new states
# The order of rows depends on CHUNK and CHUNKS, but never on the number of threads.
WAVE = CHUNK * CHUNKS

# The selection of successors for the outbox. A state is broken if it breaks a wanted property. NEW: successors that are
# not in the table, up to the first broken one. SOUGHT: successors that are in the table. BREAKING: broken successors
# that are not in the table.
NEW, SOUGHT, BREAKING = range(3)

# How the expansion of a chunk ended: at its last row, at a broken state, or at a state that does not fit its key.
ENDED, BROKEN, DOES_NOT_FIT = range(3)

# Slots of states. Slot 0 holds the state to expand, slot 1 a copy for the checks at the end of a schedule, and the
# successors follow. One more slot at the end holds the copy for the next event after the last successor.
_HEALED = 1
_FIRST = 2

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Level:
    """The states at one distance from the start, as rows in the store of visited states (visited.py).

    The store has several parts, the shards. In shard s, the level has the rows from `starts[s]` to `ends[s] - 1`.
    """

    starts: Rows
    ends: Rows

    @property
    def size(self) -> int:
        """Return the number of states in the level."""
        return int((self.ends - self.starts).sum())


@dataclass(frozen=True)
class Expanded:
    """The result of expanding a chunk of states.

    `entries` is the number of successors that were written to the outbox. `applied` is the number of events that were
    enabled. `ended` is the reason of the end: ENDED, BROKEN or DOES_NOT_FIT. `row` is the last row that was expanded.
    """

    entries: int
    applied: int
    ended: int
    row: int


class Expansion:
    """Expands states of one or more protocols that run side by side: computes the successors of each state.

    The successors go to the arrays of `outbox`. Each array has a part for each chunk of states. The arrays hold the
    successors' keys, the hashes of the keys, the rows of the parents, an `order` of the successors by shard, the
    `starts` of the shards in this order, and the events.
    """

    def __init__(self, model: Model, starts: Sequence[Interpreted], symmetric: bool, jobs: int) -> None:
        self.layout = packing.layout_for(starts)
        self.alphabet = np.frombuffer(model.events.possible(*starts), np.uint8)
        # At least two, because the set of visited states stores a key in two parts.
        self.halves = max(2, 2 * self.layout.words * (len(starts) - 1) + self.layout.halves)
        self.tables = (self.layout.words, self.layout.bytes_table, self.layout.words_table)
        replicas = starts[0].replicas
        self.as_it_is = symmetry.renaming_for(self.layout, replicas, False).tables
        self.canonical = symmetry.renaming_for(self.layout, replicas, symmetric).tables
        self._shape = (_FIRST + len(self.alphabet) + 1, len(starts))
        self._record = model.table.record
        self._templates = [p.to_record()[()] for p in starts]
        self._records = [self._scratch() for _ in range(jobs)]
        self._expand, self._key_of = (compiled_for(model, each, starts) for each in (expand, key_of))
        room = CHUNK * len(self.alphabet)
        self.outbox = (
            np.empty((CHUNKS * room, self.halves), np.uint32),
            np.empty((CHUNKS, room), np.uint64),
            np.empty((CHUNKS, room), np.int64),
            np.empty((CHUNKS, room), np.int32),
            np.zeros((CHUNKS, SHARDS + 1), np.int64),
            np.empty((CHUNKS, room), np.uint8),
        )

    def _scratch(self) -> tuple[Array, tuple[Array, Array]]:
        """Return memory for states, as records, together with two views of this memory.

        The first view shows the memory as bytes, the second as 64-bit words.
        """
        records = np.zeros(self._shape, self._record)
        records[:] = self._templates
        flat = records.reshape(-1)
        return records, (flat.view(np.int8), flat.view(np.int64))

    def put(self, states: Sequence[Interpreted], renaming: tuple[Any, ...]) -> Array:
        """Pack the states of the protocols into one key at the first place of the outbox. Returns the key.

        `renaming` is `canonical` for a key that stands for all states that differ only in the names of replicas, or
        `as_it_is` for the key of the given states.
        """
        records, views = self._records[0]
        records[0] = [p.to_record()[()] for p in states]
        self._key_of(views, self.tables, renaming, self.outbox)
        return self.outbox[0][0]

    def expand(
        self, stored: Stored, table: Array, level: Level, first: int, count: int,
        which: int, wanted: int, met: Array, chunk: int, thread: int,
    ) -> Expanded:  # fmt: skip
        """Expand `count` states of a level, beginning with state number `first` of the level.

        A level is the states at one distance from the start. The function writes the selected successors to part
        `chunk` of the outbox. `which` selects the successors: NEW (not in `table`), SOUGHT (in `table`), or BREAKING
        (not in `table`, and breaking a wanted property).
        """
        records, views = self._records[thread]
        return Expanded(
            *self._expand(
                records, views, self.tables, self.canonical, stored, table, level.starts, level.ends,
                first, count, self.alphabet, which, wanted, met, self.outbox, chunk,
            )
        )  # fmt: skip


def pack(views, slot, tables, renaming_tables, room, key):  # type: ignore[no-untyped-def]
    """Pack the states in a slot of memory, one for each protocol, into one common key.

    Returns a number other than 0 if a value does not fit into its bits of the key.
    """
    words, bytes_table, words_table = tables
    protocols = key.shape[0] // words
    for word in range(key.shape[0]):
        key[word] = 0
    outside = np.int64(0)  # the OR of all bits that do not fit, so that no element needs a branch
    for i in range(protocols):
        # The views are flat, because Numba would count references to a slice of a view.
        at = slot * protocols + i
        starts = (at * MODEL.table.bytes, at * MODEL.table.words)
        outside |= packing.pack_part(views[0], starts[0], bytes_table, words, key, i * words)
        outside |= packing.pack_part(views[1], starts[1], words_table, words, key, i * words)
        if symmetry.are_wanted(renaming_tables):
            outside |= symmetry.make_canonical(views, starts, renaming_tables, room, key, i * words)
    return outside


def split(key, keys, row):  # type: ignore[no-untyped-def]
    """Write a key's 64-bit words to a row of `keys`, as 32-bit halves."""
    for half in range(keys.shape[1]):
        # Storing to uint32 keeps the low half. An unsigned row spares Numba's check for a negative index.
        keys[np.uint64(row), half] = key[half >> 1] >> ((half & 1) << 5)


def join(part, row, first, key):  # type: ignore[no-untyped-def]
    """Write a row of `part`, which has the 32-bit halves of a key from number `first` on, to the key's 64-bit words."""
    for i in range(part.shape[1]):
        half = first + i
        key[half >> 1] |= np.int64(part[np.uint64(row), i]) << ((half & 1) << 5)


def unpack(stored, row, key, tables, views, slot):  # type: ignore[no-untyped-def]
    """Unpack the key in a row of the stored states into a slot of memory, which holds one state for each protocol."""
    words, bytes_table, words_table = tables
    pairs, left, right = stored
    for word in range(key.shape[0]):
        key[word] = 0
    join(left, pairs[np.uint64(row), LEFT], 0, key)
    join(right, pairs[np.uint64(row), RIGHT], left.shape[1], key)
    protocols = key.shape[0] // words
    for i in range(protocols):
        at = slot * protocols + i
        packing.unpack_part(key, i * words, bytes_table, words, views[0], at * MODEL.table.bytes)
        packing.unpack_part(key, i * words, words_table, words, views[1], at * MODEL.table.words)


@kernel_of_model
def key_of(views, tables, renaming_tables, outbox):  # type: ignore[no-untyped-def]
    """Pack the states in slot 0 of the memory, one for each protocol, into a key at the first place of an outbox."""
    new_keys, hashes, parents, order, starts, _ = outbox
    words = tables[0]
    # Rounded up: the key leaves out the last half of the last protocol's words if it is empty.
    protocols = (new_keys.shape[1] + 2 * words - 1) // (2 * words)
    # Only kernels and `room` can allocate arrays (runtime/compilation.py), so `pack` gets its arrays as arguments.
    key = np.zeros(protocols * words, np.int64)
    pack(views, 0, tables, renaming_tables, symmetry.room(renaming_tables, words), key)
    split(key, new_keys, 0)
    hashes[0, 0] = hash_of(new_keys, 0)
    parents[0, 0] = 0
    sort_by_shard(hashes[0], 1, order[0], starts[0])


def copy_states(records, slot):  # type: ignore[no-untyped-def]
    """Copy the states in slot 0 of the memory, one for each protocol, to another slot."""
    # One record at a time: a whole row would be a new array, and only kernels can allocate arrays.
    for i in range(records.shape[1]):
        records[slot, i] = records[0, i]


def apply(records, slot, event):  # type: ignore[no-untyped-def]
    """Apply an event to the states in a slot of memory, one for each protocol. Returns whether any protocol enables it.

    An event that is not enabled changes at most the coverage goals of the states.
    """
    applied = False
    for i in range(records.shape[1]):
        if MODEL.step(records[slot, i], event) == APPLIED:
            applied = True
            MODEL.forget(records[slot, i])
    return applied


def breaks_holding(records, slot):  # type: ignore[no-untyped-def]
    """Return whether a protocol other than the first breaks any property in the states in a slot of memory.

    A slot holds one state for each protocol. Properties that are checked only at the end of a schedule do not count.
    """
    for i in range(1, records.shape[1]):
        if MODEL.judgement.now(records[slot, i]):
            return True
    return False


def breaks(records, slot, wanted):  # type: ignore[no-untyped-def]
    """Return whether the first protocol breaks a wanted property, while the others break no property at the end.

    `slot` is the slot of memory with the states, one for each protocol. A model checks some properties only at the end
    of a schedule, after all faults have stopped.
    """
    if MODEL.judgement.now(records[slot, 0]) & wanted == 0 and not (
        wanted & MODEL.judgement.at_end and broken_at_end(records, slot, 0) & wanted
    ):
        return False
    for i in range(1, records.shape[1]):
        if broken_at_end(records, slot, i):
            return False
    return True


def broken_at_end(records, slot, i):  # type: ignore[no-untyped-def]
    """Return the properties that protocol `i` breaks if the schedule ends with the state in a slot, one bit each.

    The check changes a state, so the function checks a copy in the slot _HEALED.
    """
    records[_HEALED, i] = records[slot, i]
    return MODEL.judgement.end(records[_HEALED, i])


def successors(records, views, tables, renaming_tables, room, alphabet, met, key, keys, hashes, vias):  # type: ignore[no-untyped-def]
    """Apply every event to the states in slot 0, and write the resulting successors. Returns two numbers.

    Successor i goes to slot _FIRST + i, its key to `keys[i]`, the key's hash to `hashes[i]`, and its event to
    `vias[i]`. The first number is the number of successors. The second is 0 if all successors fit into keys.
    """
    count, outside = 0, np.int64(0)
    copy_states(records, _FIRST)  # copied again only after an enabled event: other events leave the slot unchanged
    for event in alphabet:
        slot = _FIRST + count
        if not apply(records, slot, event):
            continue
        if met.shape[0]:
            before = MODEL.points.before(records[0, 0], MODEL.events.replica_of(event))
            met[MODEL.points.of(records[slot, 0], event, before)] = 1
        outside |= pack(views, slot, tables, renaming_tables, room, key)
        split(key, keys, count)
        hashes[count] = hash_of(keys, count)
        vias[count] = event
        count += 1
        copy_states(records, slot + 1)
    return count, outside


def sort_by_shard(hashes, entries, order, starts):  # type: ignore[no-untyped-def]
    """Sort the entries of a chunk by shard (a part of the store of visited states).

    Writes the numbers of the entries to `order`, and the position of each shard's first entry to `starts`.
    """
    # A counting sort. It is stable, so rows get the same order however many threads insert them.
    starts[:] = 0
    for entry in range(entries):
        starts[shard_of(hashes[entry]) + 1] += 1
    for shard in range(SHARDS):
        starts[shard + 1] += starts[shard]
    for entry in range(entries):
        shard = shard_of(hashes[entry])
        order[starts[shard]] = entry
        starts[shard] += 1
    # Each start has moved to its shard's end, which is the next shard's start. Move the starts back by one place.
    for shard in range(SHARDS, 0, -1):
        starts[shard] = starts[shard - 1]
    starts[0] = 0


@kernel_of_model
def expand(  # type: ignore[no-untyped-def]
    records, views, tables, renaming_tables, stored, table, firsts, ends, first, count,
    alphabet, which, wanted, met, outbox, chunk,
):  # fmt: skip
    """Expand `count` states of a level from number `first` on. A level is the states at one distance from the start.

    Successors go to a chunk of the outbox. `which` selects them: NEW (not in `table`), SOUGHT (in `table`), or BREAKING
    (not in `table`, and breaking a wanted property). NEW ends after the first that breaks a wanted property. Returns
    the number of successors and of events, the reason of the end (ENDED, BROKEN or DOES_NOT_FIT), and the last row.
    """
    new_keys, all_hashes, all_parents, all_order, all_starts, all_vias = outbox
    hashes, parents, vias = all_hashes[chunk], all_parents[chunk], all_vias[chunk]
    words = tables[0]
    key = np.zeros(records.shape[1] * words, np.int64)
    room = symmetry.room(renaming_tables, words)
    next_keys = np.empty((alphabet.shape[0], new_keys.shape[1]), np.uint32)
    next_hashes = np.empty(alphabet.shape[0], np.uint64)
    next_vias = np.empty(alphabet.shape[0], np.uint8)
    found = np.empty(alphabet.shape[0], np.int64)
    bits = number_bits(stored[0])
    entries = applied = shard = row = 0
    ended, number = ENDED, first
    while shard < SHARDS and number >= ends[shard] - firsts[shard]:
        number -= ends[shard] - firsts[shard]
        shard += 1
    for _ in range(count):
        # A `while`, because a shard may have no rows in this level.
        while number == ends[shard] - firsts[shard]:
            number = 0
            shard += 1
        row = row_of(shard, firsts[shard] + number)
        number += 1
        unpack(stored, row, key, tables, views, 0)
        following, outside = successors(
            records, views, tables, renaming_tables, room, alphabet, met, key, next_keys, next_hashes, next_vias
        )
        applied += following
        if outside != 0:
            ended = DOES_NOT_FIT
            break
        # Look up all successors of a row together, so that their lookups wait for memory at the same time.
        look_up(next_keys, following, next_hashes, stored, table, found, bits)
        for i in range(following):
            if (found[i] != 0) != (which == SOUGHT) or breaks_holding(records, _FIRST + i):
                continue
            broken = which != SOUGHT and breaks(records, _FIRST + i, wanted)
            if which == BREAKING and not broken:
                continue
            entry = chunk * parents.shape[0] + entries
            for half in range(new_keys.shape[1]):
                new_keys[entry, half] = next_keys[i, half]
            hashes[entries], parents[entries], vias[entries] = next_hashes[i], row, next_vias[i]
            entries += 1
            if broken and which == NEW:
                ended = BROKEN
                break
        if ended == BROKEN:
            break
    sort_by_shard(hashes, entries, all_order[chunk], all_starts[chunk])
    return entries, applied, ended, row
