"""States as keys: what can differ between two states of a search, in as few 64-bit words as the bounds allow.

A record has room for five replicas, fifteen records and fifteen epochs; a search of two replicas and three records
needs a tenth of that. What the declarations of the fields say decides: constants are left out, fields that nothing can
read under the constants of a search, and elements beyond its bounds; the others take the bits that their greatest value
needs. A value that does not fit is noticed as it is packed, for it would make two states one.

What a replica has to itself stands together in a key, in chunks that are the same for every replica: symmetry.py puts
them in another order. Everything else is a group of its own, and groups fill the words, the largest first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epochfuzz.model.core.fields import Field, Interpreted, Names

Table = npt.NDArray[np.int64]

# Rows of a table, which has a column for each element: where it is in the record, counting integers of its size, where
# it is in its word of the key, how many bits it has there, and the least that it can be: 0, or NONE. A key has by how
# much an element is above its least. Elements are in the order of the words; the last row has for each word how many
# elements there are in it and before.
INDEX, SHIFT, BITS, LEAST, END = range(5)

_WORD_BITS = 64
_CHUNK_BITS = 32  # of what a replica has to itself: smaller chunks leave less of a word unused, and take longer


class DoesNotFit(Exception):
    """A state has a value that its key has no room for: a declaration of the model is wrong, and no search is right."""


@dataclass(frozen=True)
class Element:
    """An element of a field that is in a key, with its bounds, and where it is `at` in a record (Table.place_of)."""

    field: Field
    index: tuple[int, ...]
    at: int
    least: int
    greatest: int

    @property
    def bits(self) -> int:
        """How many bits it takes."""
        return (self.greatest - self.least).bit_length()

    @property
    def is_local(self) -> bool:
        """Whether it is something that one replica has to itself, and that speaks of no replica."""
        return len(self.replicas) == 1 and self.field.names is Names.NOBODY

    @property
    def replicas(self) -> tuple[int, ...]:
        """The replicas that are in its index."""
        return tuple(i for i, axis in zip(self.index, self.field.by, strict=True) if axis.of_replicas)


@dataclass(frozen=True)
class Place:
    """Where an element is in a key, and in which chunk of its replica's; -1 where it is in none."""

    element: Element
    word: int
    shift: int
    chunk: int = -1


@dataclass(frozen=True)
class Layout:
    """Where the elements of a key are, its words, how many halves of words have any, and a table for each integer.

    `chunks`: the word and the bit where each chunk of each replica is, and how many bits it has.
    """

    places: tuple[Place, ...]
    words: int
    halves: int
    bytes_table: Table
    words_table: Table
    chunks: Table

    @property
    def elements(self) -> tuple[Element, ...]:
        """The elements of a key."""
        return tuple(place.element for place in self.places)

    def check(self, p: Interpreted) -> None:
        """Raise DoesNotFit, naming the field, for a state with a value that is out of its bounds."""
        for element in self.elements:
            value = getattr(p, element.field.name)
            for i in element.index if len(element.index) < 2 else [element.index]:
                value = value[i]
            if not element.least <= value <= element.greatest:
                where = f"{element.field.name}{list(element.index) if element.index else ''}"
                raise DoesNotFit(f"{where} is {value}, and declared to be from {element.least} to {element.greatest}")


def layout_for(starts: Sequence[Interpreted]) -> Layout:
    """Return the layout for all states that can follow from any of `starts`, which differ in their mechanisms only."""
    elements = tuple(_elements(starts))
    replicas = range(starts[0].replicas)
    local = [[each for each in elements if each.is_local and each.replicas == (r,)] for r in replicas]
    chunks = _fill([each.bits for each in local[0]], _CHUNK_BITS)
    sizes = [max((bit + each.bits for each, (i, bit) in zip(local[0], chunks, strict=True) if i == c), default=0)
             for c in range(1 + max((c for c, _ in chunks), default=-1))]  # fmt: skip
    rest = [each for each in elements if not each.is_local]
    filled = _fill([*sizes * len(replicas), *(each.bits for each in rest)], _WORD_BITS)
    filled_own, filled_rest = filled[: len(sizes) * len(replicas)], filled[len(sizes) * len(replicas) :]
    own = np.array([(*place, bits) for place, bits in zip(filled_own, sizes * len(replicas), strict=True)], np.int64)
    own = own.reshape(len(replicas), len(sizes), 3)
    places = [
        Place(each, int(own[r, chunk, 0]), int(own[r, chunk, 1]) + bit, chunk)
        for r in replicas
        for each, (chunk, bit) in zip(local[r], chunks, strict=True)
    ]
    places += [Place(each, *place) for each, place in zip(rest, filled_rest, strict=True)]
    return _layout(places, own)


def _fill(sizes: Sequence[int], room: int) -> list[tuple[int, int]]:
    """(bin, bit) for each of some sizes: the largest first, each into the first bin that has room for it."""
    used: list[int] = []
    places = [(0, 0)] * len(sizes)
    for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        size = sizes[i]
        bin_ = next((b for b, bits in enumerate(used) if bits + size <= room), len(used))
        used[bin_:] = used[bin_:] or [0]
        places[i] = bin_, min(used[bin_], room - 1)  # what takes no bits at all may come after the last one
        used[bin_] += size
    return places


def _layout(places: Sequence[Place], chunks: Table) -> Layout:
    words = 1 + max(place.word for place in places)
    in_last = max(place.shift + place.element.bits for place in places if place.word == words - 1)
    tables = [_table([each for each in places if each.element.field.integer is i], words) for i in (np.int8, np.int64)]
    return Layout(tuple(places), words, 2 * words - (in_last <= _WORD_BITS // 2), tables[0], tables[1], chunks)


def _table(places: Sequence[Place], words: int) -> Table:
    table = np.zeros((5, max(len(places), words)), np.int64)
    in_order = sorted(places, key=lambda place: place.word)
    for i, place in enumerate(in_order):
        table[:END, i] = place.element.at, place.shift, place.element.bits, place.element.least
    table[END, :words] = np.searchsorted([place.word for place in in_order], np.arange(words), side="right")
    return table


def _elements(starts: Sequence[Interpreted]) -> Iterator[Element]:
    """Every element that may differ between states."""
    p = starts[0]
    for field in p.table.variables:
        if any(field.read(each) for each in starts):
            for index in field.indices(p):
                yield Element(field, index, p.table.place_of(field, index), *field.bounds(p))


# Numba asks of a signed index whether it counts from the end, and counts references to every slice; both together are
# half of the time that packing takes. So arrays are flat here, are not sliced, and have unsigned indices.


def pack_part(records, start, table, words, key, first):  # type: ignore[no-untyped-def]
    """Add to the words of a key from `first` the elements of one table; not 0 if one of them does not fit.

    `records` are integers of the table's size, the state's own from `start`.
    """
    element, outside = np.uint64(0), np.int64(0)
    for word in range(words):
        packed, end = np.int64(0), np.uint64(table[END, np.uint64(word)])
        while element < end:
            index = np.uint64(start) + np.uint64(table[INDEX, element])
            value = np.int64(records[index]) - table[LEAST, element]
            packed += value << table[SHIFT, element]
            outside |= value >> table[BITS, element]
            element += np.uint64(1)
        key[np.uint64(first + word)] += packed
    return outside


def unpack_part(key, first, table, words, records, start):  # type: ignore[no-untyped-def]
    """Write the elements of one table, in the words of a key from `first`, to where `pack_part` reads them."""
    element = np.uint64(0)
    for word in range(words):
        packed, end = key[np.uint64(first + word)], np.uint64(table[END, np.uint64(word)])
        while element < end:
            above_least = packed >> table[SHIFT, element] & ((np.int64(1) << table[BITS, element]) - np.int64(1))
            records[np.uint64(start) + np.uint64(table[INDEX, element])] = above_least + table[LEAST, element]
            element += np.uint64(1)
