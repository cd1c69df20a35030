"""Pack a state into a key: all values that can differ between states of a search, in as few 64-bit words as possible.

The structure that stores a state of Kafka's model has room for five replicas, fifteen records and seventeen epochs. A
search of two replicas and three records needs a tenth of this room. A key leaves out constants, fields that no rule
reads in this search, and elements beyond the search's bounds. Each remaining element takes the bits that its greatest
value needs. Packing detects a value that does not fit, because different states could then have the same key.

The values of a single replica lie together in chunks. A chunk has the same form for every replica, so that symmetry.py
can change the order of replicas. The chunks and all other elements are distributed to the words, the largest first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epochfuzz.model.core.fields import Field, Interpreted, Names

Table = npt.NDArray[np.int64]

# Rows of a table, which has a column for each element. INDEX is the position in the record, counted in integers of the
# element's size. SHIFT and BITS are the position and the size in the word of the key. LEAST is the least value, 0 or
# NONE: a key holds the difference from the least value. Elements are in the order of the words. END has a column for
# each word: the number of elements in this word and all earlier words.
INDEX, SHIFT, BITS, LEAST, END = range(5)

_WORD_BITS = 64
_CHUNK_BITS = 32  # size of a chunk of a replica's values; smaller chunks leave fewer bits unused, but need more time


class DoesNotFit(Exception):
    """A state has a value outside its declared bounds. The model's declarations are wrong: don't trust the search."""


@dataclass(frozen=True)
class Element:
    """An element of a field that is part of a key, with its least and its greatest value.

    `at` is the position of the element in the NumPy record that stores a state (Table.place_of).
    """

    field: Field
    index: tuple[int, ...]
    at: int
    least: int
    greatest: int

    @property
    def bits(self) -> int:
        """The number of bits that the element takes in a key."""
        return (self.greatest - self.least).bit_length()

    @property
    def is_local(self) -> bool:
        """True if the element belongs to a single replica, and its value does not name a replica."""
        return len(self.replicas) == 1 and self.field.names is Names.NOBODY

    @property
    def replicas(self) -> tuple[int, ...]:
        """The replicas in the element's index."""
        return tuple(i for i, axis in zip(self.index, self.field.by, strict=True) if axis.of_replicas)


@dataclass(frozen=True)
class Place:
    """The position of an element in a key: word and lowest bit. `chunk` is the number of its chunk, -1 for no chunk."""

    element: Element
    word: int
    shift: int
    chunk: int = -1


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The form of a key: the place of each element, and the tables that compiled functions use to pack a state.

    `words` and `halves` are the sizes of a key in 64-bit and 32-bit words. `bytes_table` is for elements stored as
    bytes, `words_table` for the others. A chunk holds values of one replica. `chunks[r, c]` holds the word, the lowest
    bit and the number of bits of chunk c of replica r.
    """

    places: tuple[Place, ...]
    words: int
    halves: int
    bytes_table: Table
    words_table: Table
    chunks: Table

    @property
    def elements(self) -> tuple[Element, ...]:
        """The elements of a state that belong to a key."""
        return tuple(place.element for place in self.places)

    def check(self, p: Interpreted) -> None:
        """Raise DoesNotFit, with the name of the field, if a value of the state is outside its declared bounds."""
        for element in self.elements:
            value = getattr(p, element.field.name)
            for i in element.index if len(element.index) < 2 else [element.index]:
                value = value[i]
            if not element.least <= value <= element.greatest:
                where = f"{element.field.name}{list(element.index) if element.index else ''}"
                raise DoesNotFit(f"{where} is {value}, and declared to be from {element.least} to {element.greatest}")


def layout_for(starts: Sequence[Interpreted]) -> Layout:
    """Return the form of the keys for all states that can follow from the states in `starts`.

    All states in `starts` have equal settings. They may have different protocols.
    """
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
    """Distribute items of the given sizes (in bits) to bins of `room` bits. Returns (bin, lowest bit) for each item.

    The largest items go first, each into the first bin with enough room.
    """
    used: list[int] = []
    places = [(0, 0)] * len(sizes)
    for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        size = sizes[i]
        bin_ = next((b for b, bits in enumerate(used) if bits + size <= room), len(used))
        used[bin_:] = used[bin_:] or [0]
        places[i] = bin_, min(used[bin_], room - 1)  # an element of no bits may follow the last bit of a full bin
        used[bin_] += size
    return places


def _layout(places: Sequence[Place], chunks: Table) -> Layout:
    words = 1 + max(place.word for place in places)
    in_last = max(place.shift + place.element.bits for place in places if place.word == words - 1)
    tables = [_table([each for each in places if each.element.field.integer is i], words) for i in (np.int8, np.int64)]
    return Layout(
        places=tuple(places),
        words=words,
        halves=2 * words - (in_last <= _WORD_BITS // 2),
        bytes_table=tables[0],
        words_table=tables[1],
        chunks=chunks,
    )


def _table(places: Sequence[Place], words: int) -> Table:
    table = np.zeros((5, max(len(places), words)), np.int64)
    in_order = sorted(places, key=lambda place: place.word)
    for i, place in enumerate(in_order):
        table[:END, i] = place.element.at, place.shift, place.element.bits, place.element.least
    table[END, :words] = np.searchsorted([place.word for place in in_order], np.arange(words), side="right")
    return table


def _elements(starts: Sequence[Interpreted]) -> Iterator[Element]:
    """Yield every element that may have different values in different states of the search."""
    p = starts[0]
    for field in p.table.variables:
        if any(field.read(each) for each in starts):
            for index in field.indices(p):
                yield Element(field, index, p.table.place_of(field, index), *field.bounds(p))


# Numba checks a signed index for a negative value, and counts references to every slice. Together these took half of
# the time of packing. So the arrays here are flat, are never sliced, and have unsigned indices.


def pack_part(records, start, table, words, key, first):  # type: ignore[no-untyped-def]
    """Pack some elements of a state into a key. `table` lists the elements.

    `key` is an array of words, and the key occupies `words` of them, from index `first` on. The state is in `records`
    from index `start` on. Returns a number other than 0 if a value does not fit into its bits.
    """
    element, outside = np.uint64(0), np.int64(0)
    for word in range(words):
        packed, end = np.int64(0), np.uint64(table[END, np.uint64(word)])
        while element < end:
            index = np.uint64(start) + np.uint64(table[INDEX, element])
            value = np.int64(records[index]) - table[LEAST, element]
            packed += value << table[SHIFT, element]
            outside |= value >> table[BITS, element]  # not 0 for a value that is too large, and for a negative one
            element += np.uint64(1)
        key[np.uint64(first + word)] += packed  # added, because both tables can have elements in this word
    return outside


def unpack_part(key, first, table, words, records, start):  # type: ignore[no-untyped-def]
    """Unpack some elements of a key into a state. `table` lists the elements. This is the inverse of `pack_part`."""
    element = np.uint64(0)
    for word in range(words):
        packed, end = key[np.uint64(first + word)], np.uint64(table[END, np.uint64(word)])
        while element < end:
            above_least = packed >> table[SHIFT, element] & ((np.int64(1) << table[BITS, element]) - np.int64(1))
            records[np.uint64(start) + np.uint64(table[INDEX, element])] = above_least + table[LEAST, element]
            element += np.uint64(1)
