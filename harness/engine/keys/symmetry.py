"""Symmetry: one key for all states that are the same but for the names of replicas.

The rules treat replicas alike, so of a class of such states one stands for all (Clarke, Enders, Filkorn and Jha, 1996).
Its key is made without renaming the state: what each replica has to itself is packed into chunks, the chunks are sorted
replica by replica, and everything else is packed as if the replicas stood in that order. Replicas that have the same to
themselves may stand in any order; of these keys the least is taken.

Whether rules and properties are that symmetric, the model says.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np

from epochfuzz.harness.engine.keys.packing import Element, Layout, Place, Table
from epochfuzz.model.core.fields import NONE, Names

# Columns of a table of what replicas have to themselves, a row for each element: where replica A's is in the record,
# how far on the next replica's is, in which chunk it is at which bit, how many bits it has, and its least value.
_INDEX, _STRIDE, _CHUNK, _SHIFT, _BITS, _LEAST = range(6)

# Columns of a table of all else: where the element of replica A is, whose it is and how far on the next one's is, once
# for each replica in its index; its word and bit in the key, its bits, its least value, and of whom it speaks.
_BASE, _FIRST, _BY_FIRST, _SECOND, _BY_SECOND, _WORD, _AT, _WIDTH, _FROM, _SPEAKS_OF = range(10)
_NOBODY, _ONE, _SOME = range(3)
_SPOKEN_OF = {Names.NOBODY: _NOBODY, Names.REPLICA: _ONE, Names.REPLICAS: _SOME}

_MOST_NAMES = 16  # of a value that may be a replica, right or wrong


@dataclass(frozen=True)
class Renaming:
    """The tables by which a canonical key is packed; with no `orders`, keys are those of states as they are."""

    local_bytes: Table
    local_words: Table
    rest_bytes: Table
    rest_words: Table
    chunks: Table
    orders: Table  # every order of the replicas

    @property
    def tables(self) -> tuple[Table, ...]:
        """As kernels take them."""
        return (self.local_bytes, self.local_words, self.rest_bytes, self.rest_words, self.chunks, self.orders)


def most_alike(replicas: int) -> int:
    """Return how many states one may stand for at the most."""
    return factorial(replicas)


def renaming_for(layout: Layout, replicas: int, symmetric: bool) -> Renaming:
    """Return the tables for the keys of a layout."""
    local = [place for place in layout.places if place.chunk >= 0 and place.element.replicas == (0,)]
    rest = [place for place in layout.places if place.chunk < 0]
    parts = [
        _table((make(place, replicas) for place in places if place.element.field.integer is integer), columns)
        for places, make, columns in ((local, _local_row, 6), (rest, _rest_row, 10))
        for integer in (np.int8, np.int64)
    ]
    orders = np.array(list(permutations(range(replicas))), np.int64) if symmetric else np.zeros((0, replicas), np.int64)
    return Renaming(parts[0], parts[1], parts[2], parts[3], layout.chunks, orders)


def _table(rows: Iterable[Sequence[int]], columns: int) -> Table:
    return np.array(list(rows), np.int64).reshape(-1, columns)


def _local_row(place: Place, replicas: int) -> Sequence[int]:
    element = place.element
    (axis,) = _replica_axes(element)
    return (element.at, _stride(element, axis), place.chunk, place.chunk_shift, element.bits, element.least)


def _rest_row(place: Place, replicas: int) -> Sequence[int]:
    element = place.element
    whose = [(element.index[axis], _stride(element, axis)) for axis in _replica_axes(element)]
    base = element.at - sum(i * stride for i, stride in whose)
    (first, by_first), (second, by_second) = (*whose, (replicas, 0), (replicas, 0))[:2]
    place_in_key = (place.word, place.shift, element.bits, element.least)
    return (base, first, by_first, second, by_second, *place_in_key, _SPOKEN_OF[element.field.names])


def _replica_axes(element: Element) -> list[int]:
    return [number for number, axis in enumerate(element.field.by) if axis.of_replicas]


def _stride(element: Element, axis: int) -> int:
    """How far on in a record the element is that is one further on an axis."""
    return int(np.prod(element.field.shape[axis + 1 :], dtype=np.int64))


def room(renaming_tables, words):  # type: ignore[no-untyped-def]
    """Room to work in: chunks by replica, an order of replicas, that order tried, names, and words of a key."""
    chunks, orders = renaming_tables[4], renaming_tables[5]
    replicas = orders.shape[1]
    return (
        np.zeros((replicas, chunks.shape[1]), np.int64),
        np.zeros(replicas + 1, np.int64),  # with one more for what is nobody's
        np.zeros(replicas + 1, np.int64),
        np.arange(_MOST_NAMES),  # what is no replica keeps its number, and does not fit
        np.zeros(words, np.int64),
        np.zeros(words, np.int64),
    )


def pack_chunks(records, start, table, blocks):  # type: ignore[no-untyped-def]
    """Add to the chunks of each replica the elements of one table; not 0 if one of them does not fit."""
    outside = np.int64(0)
    for element in range(table.shape[0]):
        index, stride = np.uint64(start + table[element, _INDEX]), np.uint64(table[element, _STRIDE])
        chunk, shift = np.uint64(table[element, _CHUNK]), table[element, _SHIFT]
        bits, least = table[element, _BITS], table[element, _LEAST]
        for r in range(blocks.shape[0]):
            value = np.int64(records[index]) - least
            blocks[np.uint64(r), chunk] += value << shift
            outside |= value >> bits
            index += stride
    return outside


def pack_rest(records, start, table, order, names, replicas, key):  # type: ignore[no-untyped-def]
    """Add to a key the elements of one table as they are when replicas stand in an order; not 0 if one does not fit."""
    outside = np.int64(0)
    for i in range(table.shape[0]):
        element = np.uint64(i)
        index = start + table[element, _BASE]
        index += order[np.uint64(table[element, _FIRST])] * table[element, _BY_FIRST]
        index += order[np.uint64(table[element, _SECOND])] * table[element, _BY_SECOND]
        value = np.int64(records[np.uint64(index)])
        speaks_of = table[element, _SPEAKS_OF]
        if speaks_of == _ONE:
            if value != NONE:
                value = names[np.uint64(value & (_MOST_NAMES - 1))]
        elif speaks_of == _SOME:
            members, value = value, value >> replicas << replicas
            for r in range(replicas):
                value |= (members >> order[np.uint64(r)] & 1) << r
        value -= table[element, _FROM]
        key[np.uint64(table[element, _WORD])] += value << table[element, _AT]
        outside |= value >> table[element, _WIDTH]
    return outside


def compare(blocks, one, other):  # type: ignore[no-untyped-def]
    """Below 0, 0, or above 0 as what one replica has comes before, with or after what another has."""
    for chunk in range(blocks.shape[1]):
        if blocks[one, chunk] != blocks[other, chunk]:
            return -1 if blocks[one, chunk] < blocks[other, chunk] else 1
    return 0


def sort(blocks, order):  # type: ignore[no-untyped-def]
    """Put the replicas in order by what they have to themselves; returns whether some have the same."""
    same = False
    for i in range(blocks.shape[0]):
        place = i
        while place > 0:
            compared = compare(blocks, i, order[place - 1])
            same |= compared == 0
            if compared >= 0:
                break
            order[place] = order[place - 1]
            place -= 1
        order[place] = i
    return same


def pack_in_order(views, starts, renaming_tables, order, names, key):  # type: ignore[no-untyped-def]
    """Make a key of all but what replicas have to themselves, for an order of theirs; not 0 if one does not fit."""
    replicas = renaming_tables[5].shape[1]
    for r in range(replicas):
        names[order[r]] = r
    for word in range(key.shape[0]):
        key[word] = 0
    outside = pack_rest(views[0], starts[0], renaming_tables[2], order, names, replicas, key)
    return outside | pack_rest(views[1], starts[1], renaming_tables[3], order, names, replicas, key)


def is_less(key, other):  # type: ignore[no-untyped-def]
    """Whether a key comes before another."""
    for word in range(key.shape[0]):
        if key[word] != other[word]:
            return key[word] < other[word]
    return False


def reorder(orders, number, blocks, order, tried):  # type: ignore[no-untyped-def]
    """Try an order of what was put in order; returns whether only replicas that have the same change places."""
    for i in range(blocks.shape[0]):
        tried[i] = order[orders[number, i]]
        if tried[i] != order[i] and compare(blocks, tried[i], order[i]) != 0:
            return False
    return True


def pack_canonically(views, starts, renaming_tables, room_, key, first):  # type: ignore[no-untyped-def]
    """Add to the words of a key from `first` that of the class of a state; not 0 if something does not fit.

    The state's bytes and words begin at `starts` of the views.
    """
    local_bytes, local_words, _, _, chunks, orders = renaming_tables
    blocks, order, tried, names, least, rest = room_
    for r in range(blocks.shape[0]):
        for chunk in range(blocks.shape[1]):
            blocks[r, chunk] = 0
    outside = pack_chunks(views[0], starts[0], local_bytes, blocks)
    outside |= pack_chunks(views[1], starts[1], local_words, blocks)
    some_are_the_same = sort(blocks, order)
    outside |= pack_in_order(views, starts, renaming_tables, order, names, least)
    if some_are_the_same:
        for number in range(1, orders.shape[0]):
            if reorder(orders, number, blocks, order, tried):
                outside |= pack_in_order(views, starts, renaming_tables, tried, names, rest)
                if is_less(rest, least):
                    for word in range(least.shape[0]):
                        least[word] = rest[word]
    for word in range(least.shape[0]):
        key[first + word] += least[word]
    for i in range(blocks.shape[0]):
        for chunk in range(blocks.shape[1]):
            key[first + chunks[i, chunk, 0]] += blocks[order[i], chunk] << chunks[i, chunk, 1]
    return outside
