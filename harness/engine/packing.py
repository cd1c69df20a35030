"""States as keys: what can differ between two states of a search, in as few 64-bit words as the bounds allow.

A record has room for five replicas, fifteen records and fifteen epochs; a search of two replicas and three records
needs a tenth of that. Constants, and fields that nothing in the configuration can read, are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.engine.compilation import part
from model import protocols, state
from model.state import Field, Partition

Table = npt.NDArray[np.int64]

# Columns of a table: where an element is in the record, where it is in the key, its bits there, and those of its value:
# they are as many, but where the element may be NONE, which has all bits set.
INDEX, WORD, SHIFT, WIDTH, BITS, VALUE = range(6)


@dataclass(frozen=True)
class Packing:
    """How to pack: the words of a key, and a table of elements for each size of integer in a record.

    A table has a row for each element, INDEX counting integers of that size, in the order of the words.
    """

    words: int
    bytes_table: Table
    words_table: Table


def packing_for(starts: Sequence[Partition]) -> Packing:
    """The packing for all states that can follow from any of `starts`, which differ in their mechanisms only."""
    tables: dict[type, list[tuple[int, ...]]] = {np.int8: [], np.int64: []}
    word, used = 0, 0
    for field, index, width, signed in _elements(starts):
        if used + width > 64:
            word, used = word + 1, 0
        bits = (1 << width) - 1
        tables[field.integer].append((index, word, used, width, bits, -1 if signed else bits))
        used += width
    arrays = [np.array(rows, np.int64).reshape(-1, 6) for rows in tables.values()]
    return Packing(word + 1, *arrays)


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


@part
def pack_part(source, table, key):  # type: ignore[no-untyped-def]
    """Add to `key` the elements of one table, read from a record seen as integers of the table's size."""
    word, packed = 0, np.int64(0)
    for row in range(table.shape[0]):
        if table[row, WORD] != word:
            key[word] |= packed
            word, packed = table[row, WORD], np.int64(0)
        packed |= (np.int64(source[table[row, INDEX]]) & table[row, BITS]) << table[row, SHIFT]
    key[word] |= packed


@part
def unpack_part(key, table, target):  # type: ignore[no-untyped-def]
    """Write the elements of one table from `key` into a record seen as integers of the table's size."""
    for row in range(table.shape[0]):
        width = table[row, WIDTH]
        highest = key[table[row, WORD]] << (64 - width - table[row, SHIFT])
        target[table[row, INDEX]] = highest >> (64 - width) & table[row, VALUE]
