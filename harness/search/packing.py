"""States as keys: what can differ between two states of a search, in as few 64-bit words as the bounds allow.

A record has room for five replicas, fifteen records and fifteen epochs; a search of two replicas and three records
needs a tenth of that. What the declarations of the fields say decides: constants are left out, fields that nothing can
read under the constants of a search, and elements beyond its bounds; the others take the bits that their greatest value
needs. A value that does not fit is noticed as it is packed, for it would make two states one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epochfuzz.model import state
from epochfuzz.model.state import Field, Partition

Table = npt.NDArray[np.int64]

# Rows of a table, which has a column for each element: where it is in the record, counting integers of its size, where
# it is in its word of the key, how many bits it has there, and the least that it can be: 0, or NONE. A key has by how
# much an element is above its least. Elements are in the order of the words; the last row has for each word how many
# elements there are in it and before.
INDEX, SHIFT, BITS, LEAST, END = range(5)

BYTES = state.RECORD.itemsize
WORDS = BYTES // 8
_KEY_BITS = 63  # of a word: its sign bit stays clear, so that shifts bring no ones along


class DoesNotFit(Exception):
    """A state has a value that its key has no room for: a declaration of the model is wrong, and no search is right."""


@dataclass(frozen=True)
class Element:
    """An element of a field that is in a key, with its bounds."""

    field: Field
    index: tuple[int, ...]
    least: int
    greatest: int

    @property
    def bits(self) -> int:
        """How many bits it takes."""
        return (self.greatest - self.least).bit_length()


@dataclass(frozen=True)
class Layout:
    """The elements of a key, how many words it takes, and a table for each size of integer in a record."""

    elements: tuple[Element, ...]
    words: int
    bytes_table: Table
    words_table: Table

    def check(self, p: Partition) -> None:
        """Raises DoesNotFit, naming the field, for a state with a value that is out of its bounds."""
        for element in self.elements:
            value = getattr(p, element.field.name)
            for i in element.index if len(element.index) < 2 else [element.index]:
                value = value[i]
            if not element.least <= value <= element.greatest:
                where = f"{element.field.name}{list(element.index) if element.index else ''}"
                raise DoesNotFit(f"{where} is {value}, and declared to be from {element.least} to {element.greatest}")


def layout_for(starts: Sequence[Partition]) -> Layout:
    """The layout for all states that can follow from any of `starts`, which differ in their mechanisms only."""
    elements = tuple(_elements(starts))
    rows: dict[type, list[tuple[int, int, int, int, int]]] = {np.int8: [], np.int64: []}
    word, used = 0, 0
    for element in elements:
        if used + element.bits > _KEY_BITS:
            word, used = word + 1, 0
        rows[element.field.integer].append((word, _index(element), used, element.bits, element.least))
        used += element.bits
    return Layout(elements, word + 1, _table(rows[np.int8], word + 1), _table(rows[np.int64], word + 1))


def _table(rows: Sequence[tuple[int, int, int, int, int]], words: int) -> Table:
    word, *columns = np.array(rows, np.int64).reshape(-1, 5).T
    table = np.zeros((5, max(len(rows), words)), np.int64)
    table[:END, : len(rows)] = columns
    table[END, :words] = np.searchsorted(word, np.arange(words), side="right")
    return table


def _elements(starts: Sequence[Partition]) -> Iterator[Element]:
    """Every element that may differ between states."""
    p = starts[0]
    for field in state.VARIABLES:
        if any(field.read(each) for each in starts):
            yield from (Element(field, index, *field.bounds(p)) for index in field.indices(p))


def _index(element: Element) -> int:
    """Where an element is in a record, counting integers of its size."""
    fields = state.RECORD.fields
    assert fields is not None
    field = element.field
    offset = fields[field.name][1] // np.dtype(field.integer).itemsize
    return offset + int(np.ravel_multi_index(element.index, field.shape)) if field.shape else offset


# Numba asks of a signed index whether it counts from the end, and counts references to every slice; both together are
# half of the time that packing takes. So arrays are flat here, are not sliced, and have unsigned indices.


def pack_part(records, start, table, words, keys, row, first):  # type: ignore[no-untyped-def]
    """Add to the words of the key of a row from `first` the elements of one table; not 0 if one of them does not fit.

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
        keys[np.uint64(row), np.uint64(first + word)] += packed
    return outside


def unpack_part(keys, row, first, table, words, records, start):  # type: ignore[no-untyped-def]
    """Write the elements of one table, in the key of a row, to where `pack_part` reads them."""
    element = np.uint64(0)
    for word in range(words):
        key, end = keys[np.uint64(row), np.uint64(first + word)], np.uint64(table[END, np.uint64(word)])
        while element < end:
            above_least = key >> table[SHIFT, element] & ((np.int64(1) << table[BITS, element]) - np.int64(1))
            records[np.uint64(start) + np.uint64(table[INDEX, element])] = above_least + table[LEAST, element]
            element += np.uint64(1)
