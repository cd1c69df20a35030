"""Rename the replicas in the keys of many states at once, without unpacking the states."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.engine.keys.packing import Element, Layout, Place
from epochfuzz.model.core.fields import NONE, Names

Values = npt.NDArray[np.int64]


def renamed_keys(layout: Layout, keys: npt.NDArray[np.uint32], names: Sequence[int]) -> npt.NDArray[np.uint32]:
    """Return the keys of some states after renaming their replicas: replica r gets the name `names[r]`.

    `keys` has a row of 32-bit words for each state. All states belong to one protocol.
    """
    places = {(place.element.field.name, place.element.index): place for place in layout.places}
    words = _joined(keys, layout.words)
    renamed = np.zeros_like(words)
    for place in layout.places:
        to = places[place.element.field.name, _renamed_index(place.element, names)]
        renamed[:, to.word] |= _renamed_values(place.element, _values(words, place), names) << to.shift
    return _halved(renamed, layout.halves)


def _joined(keys: npt.NDArray[np.uint32], words: int) -> Values:
    joined = np.zeros((len(keys), words), np.int64)
    for half in range(keys.shape[1]):
        joined[:, half >> 1] |= keys[:, half].astype(np.int64) << 32 * (half & 1)
    return joined


def _halved(words: Values, halves: int) -> npt.NDArray[np.uint32]:
    parts = [words[:, half >> 1] >> 32 * (half & 1) & 0xFFFFFFFF for half in range(halves)]
    return np.stack(parts, axis=1).astype(np.uint32)


def _values(words: Values, place: Place) -> Values:
    """Return the packed value of an element in each state: the difference from the least value of the element."""
    values: Any = words[:, place.word] >> place.shift & (1 << place.element.bits) - 1
    return values


def _renamed_index(element: Element, names: Sequence[int]) -> tuple[int, ...]:
    axes = zip(element.index, element.field.by, strict=True)
    return tuple(names[i] if axis.of_replicas else i for i, axis in axes)


def _renamed_values(element: Element, values: Values, names: Sequence[int]) -> Values:
    if element.field.names is Names.REPLICA:
        replicas = values + element.least
        return np.where(replicas == NONE, replicas, np.array(names)[replicas]) - element.least
    if element.field.names is Names.REPLICAS:
        members = [(values >> r & 1) << name for r, name in enumerate(names)]
        return np.bitwise_or.reduce(members)
    return values
