"""Rename the replicas of a state. The declarations of the fields say which values refer to replicas.

The rules do not depend on the names of replicas: if an event leads from state s to state t, then the renamed event
leads from the renamed s to the renamed t. A test checks this for every protocol, and searches rely on it
(harness/engine/keys/symmetry.py).
"""

from collections.abc import Sequence
from itertools import product
from typing import TypeVar

from epochfuzz.model.core.fields import NONE, Field, Interpreted, Names

_Interpreted = TypeVar("_Interpreted", bound=Interpreted)


def renamed(p: _Interpreted, names: Sequence[int]) -> _Interpreted:
    """Return a copy of the state with renamed replicas: replica r becomes replica `names[r]`."""
    other = p.copy()
    for field in p.table.variables:
        if not field.by:
            setattr(other, field.name, _renamed_value(field, getattr(p, field.name), names))
            continue
        for index in product(*(range(axis.used(p)) for axis in field.by)):
            to = tuple(names[i] if axis.of_replicas else i for i, axis in zip(index, field.by, strict=True))
            value = _renamed_value(field, getattr(p, field.name)[_key(index)], names)
            getattr(other, field.name)[_key(to)] = value
    return other


def _key(index: tuple[int, ...]) -> int | tuple[int, ...]:
    return index if len(index) == 2 else index[0]


def _renamed_value(field: Field, value: int, names: Sequence[int]) -> int:
    if field.names is Names.REPLICA:
        return value if value == NONE else names[value]
    if field.names is Names.REPLICAS:
        return sum(1 << name for r, name in enumerate(names) if value >> r & 1)
    return value
