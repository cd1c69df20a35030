"""Records as plain data."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def fields_of(record: "DataclassInstance") -> Any:
    """Return a record as documents have it, by field, however deep; its class is the type that they declare."""
    return asdict(record)
