"""States as keys: what can differ between two states of a search, in as few 64-bit words as the bounds allow.

A record has room for five replicas, fifteen records and fifteen epochs; a search of two replicas and three records
needs a tenth of that. Constants, and fields that nothing in the configuration can read, are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.search.compilation import part
from epochfuzz.model import protocols, state
from epochfuzz.model.state import NONE, Field, Partition

Table = npt.NDArray[np.int64]

# Columns of a table: where an element is in the record, where it is in the key, its bits there before they are shifted,
# and the least that it can be: 0, or NONE. A key has by how much an element is above its least.
INDEX, WORD, SHIFT, BITS, LEAST = range(5)

BYTES = state.RECORD.itemsize
WORDS = BYTES // 8


@dataclass(frozen=True)
class Packing:
    """How to pack: the key of a state whose elements are all 0, and a table for each size of integer in a record.

    A table has a row for each element, INDEX counting integers of that size, in the order of the words.
    """

    zero: Table
    bytes_table: Table
    words_table: Table


def packing_for(starts: Sequence[Partition]) -> Packing:
    """The packing for all states that can follow from any of `starts`, which differ in their mechanisms only."""
    tables: dict[type, list[tuple[int, ...]]] = {np.int8: [], np.int64: []}
    word, used = 0, 0
    for field, index, width, signed in _elements(starts):
        if used + width > 64:
            word, used = word + 1, 0
        tables[field.integer].append((index, word, used, (1 << width) - 1, NONE if signed else 0))
        used += width
    arrays = [np.array(rows, np.int64).reshape(-1, 5) for rows in tables.values()]
    zero = np.zeros(word + 1, np.int64)
    for array in arrays:
        np.subtract.at(zero, array[:, WORD], array[:, LEAST] << array[:, SHIFT])
    return Packing(zero, *arrays)


def _elements(starts: Sequence[Partition]) -> Iterator[tuple[Field, int, int, bool]]:
    """Of every element that may differ between states: its field, INDEX and WIDTH, and whether it may be NONE."""
    p = starts[0]
    left_out = state.CONSTANT_FIELDS.union(set.intersection(*map(_unread, starts)))
    for field in state.FIELDS:
        if field.name in left_out:
            continue
        start = _offset(field) // np.dtype(field.integer).itemsize
        for position, index in enumerate(np.ndindex(field.shape)):
            if _is_used(p, field, index):
                yield field, start + position, *_width(p, field)


def _offset(field: Field) -> int:
    """Where a field starts in a record, in bytes."""
    fields = state.RECORD.fields
    assert fields is not None
    return fields[field.name][1]


def _unread(p: Partition) -> set[str]:
    """The fields that no rule reads under the configuration and mechanisms of `p`."""
    unread = {"goals"}
    if not p.asynchronous_checkpoint:
        unread.add("checkpointed")
    if not p.power_loss:
        unread.add("flushed")
    if p.isr_expansion != protocols.EXPAND_AT_EPOCH_START:
        unread.add("epoch_start")
    if p.truncation == protocols.TRUNCATE_TO_HIGH_WATERMARK:
        unread |= {"cache_size", "cache_epoch", "cache_start"}
    return unread


def _is_used(p: Partition, field: Field, index: tuple[int, ...]) -> bool:
    """Whether an element lies within the bounds of `p`."""
    if field.name == "remote_leo":
        return max(index) < p.replicas and index[0] != index[1]
    if field.name in ("cache_epoch", "cache_start"):
        return index[0] < p.replicas and index[1] <= p.epochs
    if field.name in ("decided_leader", "decided_isr"):
        return index[0] <= p.epochs
    return not index or index[0] < p.replicas


def _width(p: Partition, field: Field) -> tuple[int, bool]:
    """How many bits an element of a field takes, and whether it is signed, which it is where it may be NONE."""
    if field.name in ("flight_record", "flight_record_epoch"):
        return 4 * min(p.records_per_fetch, p.records), False
    if field.holds == state.COUNT:
        return p.records.bit_length() + 1, True
    if field.holds == state.EPOCH:
        return (p.epochs + 1).bit_length() + 1, True
    return {
        state.FLAG: (1, False),
        state.CHOICE: (2, False),
        state.REPLICA: (4, True),
        state.REPLICA_SET: (p.replicas, False),
        state.RECORD_SET: (p.records, False),
        state.WORD: (4 * p.records, False),
    }[field.holds]


# Numba asks of a signed index whether it counts from the end, and counts references to every slice; both together are
# half of the time that packing takes. So arrays are flat here, are not sliced, and have unsigned indices.


@part
def pack_part(records, start, table, keys, row, first):  # type: ignore[no-untyped-def]
    """Add to the key of a row, from word `first`, the elements of one table.

    `records` are integers of the table's size, the state's own from `start`.
    """
    word, packed = np.uint64(first), np.int64(0)
    for element in range(table.shape[0]):
        next_word = np.uint64(first) + np.uint64(table[element, WORD])
        if next_word != word:
            keys[np.uint64(row), word] += packed
            word, packed = next_word, np.int64(0)
        value = np.int64(records[np.uint64(start) + np.uint64(table[element, INDEX])])
        packed += value << table[element, SHIFT]
    keys[np.uint64(row), word] += packed


@part
def unpack_part(keys, row, first, table, records, start):  # type: ignore[no-untyped-def]
    """Write the elements of one table, in a row's key from word `first`, to where `pack_part` reads them."""
    for element in range(table.shape[0]):
        word = np.uint64(first) + np.uint64(table[element, WORD])
        above_least = keys[np.uint64(row), word] >> table[element, SHIFT] & table[element, BITS]
        records[np.uint64(start) + np.uint64(table[element, INDEX])] = above_least + table[element, LEAST]
