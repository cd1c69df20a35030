"""Compute one key for all states that differ only in the names of replicas.

The rules do not depend on the names of replicas, so one state can represent a class of states (Clarke, Enders, Filkorn
and Jha, 1996). The model decides whether its rules and properties have this symmetry.

The key of a state has chunks with the values of a single replica. The module sorts the replicas by their chunks, and
packs every other value as if the replicas stood in this order. Replicas with equal chunks may stand in any order, so
the module tries all these orders. The least of the resulting keys is the key of the class.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np

from epochfuzz.harness.engine.keys.packing import Element, Layout, Place, Table
from epochfuzz.model.core.fields import NONE, Names

# Columns of a table of the elements that are in no chunk, with a row for each element. _BASE is the position in the
# record if all replicas in the index are replica A. An index has up to two replicas. For each of them, two columns hold
# the replica, and the distance to the element of the next replica. The remaining columns hold the word and the bit in
# the key, the number of bits, the least value, and whether the value names a replica, a set of replicas, or none.
_BASE, _FIRST, _BY_FIRST, _SECOND, _BY_SECOND, _WORD, _AT, _WIDTH, _FROM, _SPEAKS_OF = range(10)
_NOBODY, _ONE, _SOME = range(3)
_SPOKEN_OF = {Names.NOBODY: _NOBODY, Names.REPLICA: _ONE, Names.REPLICAS: _SOME}

_MOST_NAMES = 16  # room for every value that a replica's number may have, valid or not; a power of two, used as a mask


@dataclass(frozen=True)
class Renaming:
    """The tables that are needed to compute the key of a class of states.

    A class is a set of states that differ only in the names of replicas. `chunks` describes the chunks of a key, which
    hold the values of a single replica. `rest_bytes` and `rest_words` describe all other elements. `orders` has all
    orders of the replicas. If `orders` is empty, each state keeps its own key.
    """

    rest_bytes: Table
    rest_words: Table
    chunks: Table
    orders: Table  # empty, or every order of the replicas

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables as a tuple, in the form that compiled functions take."""
        return (self.rest_bytes, self.rest_words, self.chunks, self.orders)


def most_alike(replicas: int) -> int:
    """Return the largest number of states that differ only in replica names, for a number of replicas."""
    return factorial(replicas)


def renaming_for(layout: Layout, replicas: int, symmetric: bool) -> Renaming:
    """Return the tables to compute keys. If `symmetric`, states that differ only in replica names get the same key."""
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
    """Return the distance in a state's record between elements that are neighbours on an axis of their field."""
    return int(np.prod(element.field.shape[axis + 1 :], dtype=np.int64))


def room(renaming_tables, words):  # type: ignore[no-untyped-def]
    """Return the working arrays for computing the key of a class of states. Allocate them once for many states.

    The arrays are: the chunks of each replica's values, the order of the replicas sorted by these chunks, the order to
    try, the new number of each replica, the least key so far, and the key to try. A key has `words` words.
    """
    _, _, chunks, orders = renaming_tables
    replicas = orders.shape[1]
    return (
        np.zeros((replicas, chunks.shape[1]), np.int64),
        # One extra entry, always 0, for an element with fewer than two replicas in its index.
        np.zeros(replicas + 1, np.int64),
        np.zeros(replicas + 1, np.int64),
        # A number of no replica keeps its value, so that packing detects that this value does not fit.
        np.arange(_MOST_NAMES),
        np.zeros(words, np.int64),
        np.zeros(words, np.int64),
    )


def are_wanted(renaming_tables):  # type: ignore[no-untyped-def]
    """Return whether the tables compute a key that stands for all states that differ only in the names of replicas.

    If not, each state has a key of its own.
    """
    _, _, _, orders = renaming_tables
    return orders.shape[0] > 0


def take_chunks(key, first, chunks, blocks):  # type: ignore[no-untyped-def]
    """Copy the chunks of each replica's values from a key to `blocks`. The key begins at word `first` of `key`."""
    for r in range(blocks.shape[0]):
        for chunk in range(blocks.shape[1]):
            packed = key[first + chunks[r, chunk, 0]] >> chunks[r, chunk, 1]
            blocks[r, chunk] = packed & ((np.int64(1) << chunks[r, chunk, 2]) - 1)


def put_chunks(blocks, order, chunks, key, first):  # type: ignore[no-untyped-def]
    """Add the chunks of all replicas to a key, in the given order of the replicas. The key begins at word `first`."""
    for i in range(blocks.shape[0]):
        for chunk in range(blocks.shape[1]):
            key[first + chunks[i, chunk, 0]] += blocks[order[i], chunk] << chunks[i, chunk, 1]


def pack_rest(records, start, table, order, names, replicas, key):  # type: ignore[no-untyped-def]
    """Pack some elements of a state into a key, as if the replicas stood in the given order.

    `table` lists the elements. Returns a number other than 0 if a value does not fit into its bits.
    """
    outside = np.int64(0)
    for i in range(table.shape[0]):
        element = np.uint64(i)
        index = start + table[element, _BASE]
        index += order[np.uint64(table[element, _FIRST])] * table[element, _BY_FIRST]
        index += order[np.uint64(table[element, _SECOND])] * table[element, _BY_SECOND]  # distance 0 if there is none
        value = np.int64(records[np.uint64(index)])
        speaks_of = table[element, _SPEAKS_OF]
        if speaks_of == _ONE:
            if value != NONE:
                value = names[np.uint64(value & (_MOST_NAMES - 1))]
        elif speaks_of == _SOME:
            # Clear the members' bits and set them again by position. Bits of no replica stay: packing detects them.
            members, value = value, value >> replicas << replicas
            for r in range(replicas):
                value |= (members >> order[np.uint64(r)] & 1) << r
        value -= table[element, _FROM]
        key[np.uint64(table[element, _WORD])] += value << table[element, _AT]
        outside |= value >> table[element, _WIDTH]
    return outside


def compare(blocks, one, other):  # type: ignore[no-untyped-def]
    """Compare two replicas by their chunks of values. Returns -1 if `one` comes first, 1 if `other` does, else 0."""
    for chunk in range(blocks.shape[1]):
        if blocks[one, chunk] != blocks[other, chunk]:
            return -1 if blocks[one, chunk] < blocks[other, chunk] else 1
    return 0


def sort(blocks, order):  # type: ignore[no-untyped-def]
    """Write the replicas to `order`, sorted by their chunks of values. Returns whether some have equal chunks."""
    # An insertion sort, because there are at most five replicas and they are mostly in order.
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
    """Pack all values that are in no chunk into a key, as if the replicas stood in the given order.

    Returns a number other than 0 if a value does not fit into its bits.
    """
    rest_bytes, rest_words, _, orders = renaming_tables
    replicas = orders.shape[1]
    for r in range(replicas):
        names[order[r]] = r
    for word in range(key.shape[0]):
        key[word] = 0
    outside = pack_rest(views[0], starts[0], rest_bytes, order, names, replicas, key)
    return outside | pack_rest(views[1], starts[1], rest_words, order, names, replicas, key)


def is_less(key, other):  # type: ignore[no-untyped-def]
    """Return whether a key is less than another key of the same length."""
    for word in range(key.shape[0]):
        if key[word] != other[word]:
            return key[word] < other[word]
    return False


def reorder(orders, number, blocks, order, tried):  # type: ignore[no-untyped-def]
    """Apply permutation `number` of `orders` to the sorted replicas, and write the result to `tried`.

    Returns False if the permutation exchanges replicas with different chunks of values. In this case `tried` is
    incomplete.
    """
    for i in range(blocks.shape[0]):
        tried[i] = order[orders[number, i]]
        if tried[i] != order[i] and compare(blocks, tried[i], order[i]) != 0:
            return False
    return True


def is_in_order(order, replicas):  # type: ignore[no-untyped-def]
    """Return whether the order lists the replicas as 0, 1, 2 and so on."""
    for r in range(replicas):
        if order[r] != r:
            return False
    return True


def make_canonical(views, starts, renaming_tables, room_, key, first):  # type: ignore[no-untyped-def]
    """Replace the key of a state by the key of its class: all states that differ only in the names of replicas.

    The key begins at word `first`. The state begins at the positions `starts` in the views. Returns a number other than
    0 if a value does not fit into its bits.
    """
    _, _, chunks, orders = renaming_tables
    blocks, order, tried, names, least, rest = room_
    take_chunks(key, first, chunks, blocks)
    some_are_the_same = sort(blocks, order)
    if not some_are_the_same and is_in_order(order, blocks.shape[0]):
        return np.int64(0)
    outside = pack_in_order(views, starts, renaming_tables, order, names, least)
    if some_are_the_same:
        for number in range(1, orders.shape[0]):  # order 0 is the identity, which is packed already
            if reorder(orders, number, blocks, order, tried):
                outside |= pack_in_order(views, starts, renaming_tables, tried, names, rest)
                if is_less(rest, least):
                    for word in range(least.shape[0]):
                        least[word] = rest[word]
    for word in range(least.shape[0]):
        key[first + word] = least[word]
    put_chunks(blocks, order, chunks, key, first)
    return outside
