"""Spark tasks of an exhaustive search. Each task maps Arrow batches of state keys to batches of rows."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from epochfuzz.harness.campaign.run.worker import Batches
from epochfuzz.harness.campaign.search.expander import Keys, Successors, as_bytes, expander_of
from epochfuzz.harness.engine.explore.expansion import BREAKING, NEW

KEYS = pa.schema({"key": pa.binary()})

SUCCESSORS = pa.schema(
    {
        "key": pa.binary(),
        "applied": pa.int64(),  # in the first row: number of transitions of the whole batch; in other rows: 0
        "broken": pa.bool_(),  # in the first row: whether a transition breaks the property; keys may be missing then
    }
)

EDGES = pa.schema({"key": pa.binary(), "parent": pa.binary()})


def expand(text: str, batches: Batches) -> Batches:
    """Yield the successors of states as rows of SUCCESSORS. Within a batch, no successor occurs twice."""
    for chunks in _expanded(text, batches, NEW):
        found = [each for _, each in chunks]
        keys = np.unique(np.concatenate([as_bytes(each.keys) for each in found]))
        once = np.arange(len(keys)) == 0
        applied = np.where(once, sum(each.applied for each in found), 0)
        broken = once & any(each.broken for each in found)
        yield pa.record_batch([_column(keys), applied, broken], schema=SUCCESSORS)


def edges(text: str, batches: Batches) -> Batches:
    """Yield pairs of a successor and its parent, as rows of EDGES."""
    for chunks in _expanded(text, batches, NEW):
        for keys, found in chunks:
            columns = [_column(as_bytes(found.keys)), _column(as_bytes(keys)[found.parents])]
            yield pa.record_batch(columns, schema=EDGES)


def breaking(text: str, batches: Batches) -> Batches:
    """Yield the states that have an event that breaks the property, as rows of KEYS."""
    for chunks in _expanded(text, batches, BREAKING):
        for keys, found in chunks:
            yield pa.record_batch([_column(as_bytes(keys)[np.unique(found.parents)])], schema=KEYS)


def _expanded(text: str, batches: Batches, which: int) -> Iterator[Iterator[tuple[Keys, Successors]]]:
    """Yield for each batch an iterator over its chunks of keys. Each chunk comes with its successors."""
    expander = expander_of(text)
    for batch in batches:
        chunks = expander.chunks(batch.column(0).to_pylist())
        yield ((keys, expander.successors(keys, which)) for keys in chunks)


def _column(keys: "np.ndarray") -> pa.Array:
    """Return keys as an Arrow column of bytes."""
    width = pa.binary(keys.dtype.itemsize)
    return pa.FixedSizeBinaryArray.from_buffers(width, len(keys), [None, pa.py_buffer(keys)]).cast(pa.binary())
