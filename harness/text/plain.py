"""Dataclass instances as dictionaries."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def fields_of(record: "DataclassInstance") -> Any:
    """Return the fields of a record as a dictionary, at any depth. The record's class declares the same types."""
    return asdict(record)
