"""The JSON documents that commands print with `--json`: a type for each, against which what builds it is checked.

As a command runs, none of the types is imported. `schemas` makes a JSON schema of each, under docs/schemas.
"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def fields_of(record: "DataclassInstance") -> Any:
    """Return a record as documents have it, by field, however deep; its class is the type that they declare."""
    return asdict(record)
