"""Symmetry: one key for all states that are the same but for the names of replicas.

The rules treat replicas alike, so of a class of such states one stands for all (Clarke, Enders, Filkorn and Jha, 1996).
Its key is made without renaming the state: what each replica has to itself is in chunks of the state's own key, which
are sorted replica by replica, and everything else is packed as if the replicas stood in that order, as they mostly do.
Replicas that have the same to themselves may stand in any order; of these keys the least is taken.

Whether rules and properties are that symmetric, the model says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np

from epochfuzz.harness.engine.keys.packing import Element, Layout, Place, Table
from epochfuzz.model.core.fields import NONE, Names

# Columns of a table of what is in no chunk, a row for each element: where replica A's is in the record, whose it is and
# how far on the next one's is, once for each replica in its index; its word and bit in the key, its bits, its least
# value, and of whom it speaks.
_BASE, _FIRST, _BY_FIRST, _SECOND, _BY_SECOND, _WORD, _AT, _WIDTH, _FROM, _SPEAKS_OF = range(10)
_NOBODY, _ONE, _SOME = range(3)
_SPOKEN_OF = {Names.NOBODY: _NOBODY, Names.REPLICA: _ONE, Names.REPLICAS: _SOME}

_MOST_NAMES = 16  # of a value that may be a replica, right or wrong


@dataclass(frozen=True)
class Renaming:
    """The tables by which a canonical key is packed; with no `orders`, keys are those of states as they are."""

    rest_bytes: Table
    rest_words: Table
    chunks: Table
    orders: Table  # every order of the replicas

    @property
    def tables(self) -> tuple[Table, ...]:
        """As kernels take them."""
        return (self.rest_bytes, self.rest_words, self.chunks, self.orders)


def most_alike(replicas: int) -> int:
    """Return how many states one may stand for at the most."""
    return factorial(replicas)


def renaming_for(layout: Layout, replicas: int, symmetric: bool) -> Renaming:
    """Return the tables for the keys of a layout."""
    rest = [place for place in layout.places if place.chunk < 0]
    of_bytes, of_words = (
        np.array([_row(place, replicas) for place in rest if place.element.field.integer is integer], np.int64)
        for integer in (np.int8, np.int64)
    )
    orders = np.array(list(permutations(range(replicas))), np.int64) if symmetric else np.zeros((0, replicas), np.int64)
    columns = _SPEAKS_OF + 1
    return Renaming(of_bytes.reshape(-1, columns), of_words.reshape(-1, columns), layout.chunks, orders)


def _row(place: Place, replicas: int) -> Sequence[int]:
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
    _, _, chunks, orders = renaming_tables
    replicas = orders.shape[1]
    return (
        np.zeros((replicas, chunks.shape[1]), np.int64),
        np.zeros(replicas + 1, np.int64),  # with one more for what is nobody's
        np.zeros(replicas + 1, np.int64),
        np.arange(_MOST_NAMES),  # what is no replica keeps its number, and does not fit
        np.zeros(words, np.int64),
        np.zeros(words, np.int64),
    )


def are_wanted(renaming_tables):  # type: ignore[no-untyped-def]
    """Whether keys are to be those of classes."""
    _, _, _, orders = renaming_tables
    return orders.shape[0] > 0


def take_chunks(key, first, chunks, blocks):  # type: ignore[no-untyped-def]
    """Write the chunks of each replica, from the words of a key from `first`, to `blocks`."""
    for r in range(blocks.shape[0]):
        for chunk in range(blocks.shape[1]):
            packed = key[first + chunks[r, chunk, 0]] >> chunks[r, chunk, 1]
            blocks[r, chunk] = packed & ((np.int64(1) << chunks[r, chunk, 2]) - 1)


def put_chunks(blocks, order, chunks, key, first):  # type: ignore[no-untyped-def]
    """Add the chunks of each replica, in an order of theirs, to the words of a key from `first`."""
    for i in range(blocks.shape[0]):
        for chunk in range(blocks.shape[1]):
            key[first + chunks[i, chunk, 0]] += blocks[order[i], chunk] << chunks[i, chunk, 1]


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
    rest_bytes, rest_words, _, orders = renaming_tables
    replicas = orders.shape[1]
    for r in range(replicas):
        names[order[r]] = r
    for word in range(key.shape[0]):
        key[word] = 0
    outside = pack_rest(views[0], starts[0], rest_bytes, order, names, replicas, key)
    return outside | pack_rest(views[1], starts[1], rest_words, order, names, replicas, key)


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


def is_in_order(order, replicas):  # type: ignore[no-untyped-def]
    """Whether replicas stand in an order as they do in the state."""
    for r in range(replicas):
        if order[r] != r:
            return False
    return True


def make_canonical(views, starts, renaming_tables, room_, key, first):  # type: ignore[no-untyped-def]
    """Make of the key of a state, in the words of a key from `first`, that of its class; not 0 if it does not fit.

    The state's bytes and words begin at `starts` of the views.
    """
    _, _, chunks, orders = renaming_tables
    blocks, order, tried, names, least, rest = room_
    take_chunks(key, first, chunks, blocks)
    some_are_the_same = sort(blocks, order)
    if not some_are_the_same and is_in_order(order, blocks.shape[0]):
        return np.int64(0)
    outside = pack_in_order(views, starts, renaming_tables, order, names, least)
    if some_are_the_same:
        for number in range(1, orders.shape[0]):
            if reorder(orders, number, blocks, order, tried):
                outside |= pack_in_order(views, starts, renaming_tables, tried, names, rest)
                if is_less(rest, least):
                    for word in range(least.shape[0]):
                        least[word] = rest[word]
    for word in range(least.shape[0]):
        key[first + word] = least[word]
    put_chunks(blocks, order, chunks, key, first)
    return outside
