"""States as keys: what can differ between two states of a search, in as few 64-bit words as the bounds allow.

A record has room for five replicas, fifteen records and fifteen epochs; a search of two replicas and three records
needs a tenth of that. Constants, and fields that nothing in the configuration can change or read, are left out.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from model import protocols, state
from model.state import Field

_IN_EPOCH_BITS = frozenset({state.EPOCH})


@dataclass(frozen=True)
class Packing:
    """How to pack: for each kind of integer in a record, one row (index in the record, word, shift, bits, signed)."""

    words: int
    int8: np.ndarray
    int16: np.ndarray
    int64: np.ndarray


def packing_for(p: state.Partition) -> Packing:
    """The packing for all states that can follow from `p`."""
    tables: dict[int, list[tuple[int, int, int, int, int]]] = {1: [], 2: [], 8: []}
    word, used = 0, 0
    for field, index, width, signed in _elements(p):
        if used + width > 64:
            word, used = word + 1, 0
        tables[state.RECORD[field.name].base.itemsize].append((index, word, used, width, int(signed)))
        used += width
    return Packing(word + 1, *(np.array(rows, np.int64).reshape(-1, 5) for rows in tables.values()))


def _elements(p: state.Partition):
    """(field, index in a record seen as integers of the field's size, bits, signed) of every part that may differ."""
    for field in state.FIELDS:
        if field.name in state.CONSTANT_FIELDS or field.name in _unread(p):
            continue
        base = state.RECORD.fields[field.name][1] // state.RECORD[field.name].base.itemsize
        for position, index in enumerate(np.ndindex(field.shape)):
            if _is_used(p, field, index):
                yield field, base + position, *_bits(p, field)


def _unread(p: state.Partition) -> set[str]:
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


def _is_used(p: state.Partition, field: Field, index: tuple[int, ...]) -> bool:
    if field.name == "remote_leo":
        return max(index) < p.replicas and index[0] != index[1]
    if field.name.startswith("decided"):
        return index[0] <= p.epochs
    if field.name.startswith("cache_") and field.name != "cache_size":
        return index[0] < p.replicas and index[1] <= p.epochs
    return not index or index[0] < p.replicas


def _bits(p: state.Partition, field: Field) -> tuple[int, bool]:
    """How many bits an element of a field needs, and whether it may be NONE."""
    if field.name.startswith("flight_record"):
        return 4 * min(p.records_per_fetch, p.records), False
    if field.holds == state.COUNT:
        return int(p.records).bit_length() + 1, True
    if field.holds == state.EPOCH:
        return int(p.epochs + 1).bit_length() + 1, True
    return {
        state.FLAG: (1, False),
        state.CHOICE: (2, False),
        state.REPLICA: (4, True),
        state.REPLICA_SET: (p.replicas, False),
        state.RECORD_SET: (p.records, False),
        state.WORD: (4 * p.records, False),
    }[field.holds]


@njit(cache=True)
def pack_part(source, table, key):
    for row in range(table.shape[0]):
        mask = (np.int64(1) << table[row, 3]) - 1
        key[table[row, 1]] |= (np.int64(source[table[row, 0]]) & mask) << table[row, 2]


@njit(cache=True)
def unpack_part(key, table, target):
    for row in range(table.shape[0]):
        width = table[row, 3]
        value = (key[table[row, 1]] >> table[row, 2]) & ((np.int64(1) << width) - 1)
        if table[row, 4] and value >> (width - 1):
            value -= np.int64(1) << width
        target[table[row, 0]] = value
