"""Describe the values of a state as text, for any model."""

from itertools import product
from typing import Any

from epochfuzz.model.core.fields import NONE, Field, Names

REPLICA_NAMES = "ABCDEFGH"


def values(p: Any) -> dict[str, str]:
    """Return the value of each element of an interpreted state as text, by a name such as `log[A, 0]`."""
    described = {}
    for field in p.table.variables:
        if field.read(p):
            for index in product(*(range(axis.used(p)) for axis in field.by)):
                value = getattr(p, field.name)
                if index:
                    value = value[index if len(index) > 1 else index[0]]
                described[_name(field, index)] = _text(field, value)
    return described


def _name(field: Field, index: tuple[int, ...]) -> str:
    of = (REPLICA_NAMES[i] if axis.of_replicas else str(i) for i, axis in zip(index, field.by, strict=True))
    return f"{field.name}[{', '.join(of)}]" if index else field.name


def _text(field: Field, value: int) -> str:
    if field.names is Names.REPLICA:
        return "nobody" if value == NONE else REPLICA_NAMES[value]
    if field.names is Names.REPLICAS:
        return "".join(name for r, name in enumerate(REPLICA_NAMES) if value >> r & 1) or "nobody"
    return str(value)
