"""Convert dataclass instances to dictionaries."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def fields_of(record: "DataclassInstance") -> Any:
    """Return a dataclass instance as a dictionary. Instances in its fields become dictionaries too, at any depth."""
    return asdict(record)
