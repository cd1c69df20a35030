"""Compute the successors of states with the compiled code of exhaustive search, without a table of visited states."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.campaign.run.worker import require_model
from epochfuzz.harness.engine.explore.expansion import BROKEN, CHUNK, DOES_NOT_FIT, Level
from epochfuzz.harness.engine.explore.explore import prepared
from epochfuzz.harness.engine.explore.retrace import NOTHING_MET, NOTHING_VISITED
from epochfuzz.harness.engine.explore.shards import BLOCK, SHARDS
from epochfuzz.harness.engine.explore.visited import stored_keys
from epochfuzz.harness.engine.keys.packing import DoesNotFit
from epochfuzz.harness.findings.search_request import SearchRequest
from epochfuzz.model.kafka.vocabulary.state import Partition

_NO_ROWS = np.zeros(SHARDS, np.int64)

Keys = npt.NDArray[np.uint32]  # packed states, one row per state


@dataclass(frozen=True)
class Successors:
    """The successors of a chunk of states. Successor i has the key `keys[i]`.

    The event `events[i]` leads to successor i from the state with number `parents[i]` in the chunk. `applied` is the
    number of transitions. If `broken` is True, the last successor breaks the property, and later
    successors may be missing.
    """

    keys: Keys
    parents: npt.NDArray[np.int64]
    events: npt.NDArray[np.uint8]
    applied: int
    broken: bool


class Expander:
    """Computes the successors of states for one search request. A state is given as its key, a packed row."""

    def __init__(self, asked: SearchRequest) -> None:
        self._wanted = asked.wanted
        starts, self._expansion, self.symmetry = prepared(
            [asked.protocol], asked.settings, asked.wanted, asked.symmetric, jobs=1
        )
        self.halves = self._expansion.halves
        self.first = self._expansion.put(starts, self._expansion.canonical)[None].copy()

    def key_as_it_is(self, state: Partition) -> Keys:
        """Return the key of the given state itself, not of a symmetric state (with the names of replicas exchanged)."""
        return self._expansion.put([state], self._expansion.as_it_is)[None].copy()

    def chunks(self, keys: list[bytes]) -> Iterator[Keys]:
        """Yield the keys as arrays that are small enough for `successors`."""
        rows = np.frombuffer(bytearray(b"".join(keys)), np.uint32).reshape(len(keys), self.halves)
        for first in range(0, len(rows), CHUNK):
            yield rows[first : first + CHUNK]

    def successors(self, keys: Keys, which: int) -> Successors:
        """Return the successors of the states with the given keys.

        If `which` is NEW, the method returns all successors up to the first that breaks the property. If `which` is
        BREAKING, the method returns all successors that break the property, and no others. Raises DoesNotFit if a
        successor does not fit into a key.
        """
        # The rows of a level belong to its shards in turn, BLOCK rows to each (shards.row_of). With these bounds, the
        # rows of the level are the rows of `keys`.
        level = Level(_NO_ROWS, np.clip(len(keys) - BLOCK * np.arange(SHARDS), 0, BLOCK))
        expanded = self._expansion.expand(
            stored_keys(keys), NOTHING_VISITED, level, 0, len(keys), which, self._wanted, NOTHING_MET, 0, 0
        )
        if expanded.ended == DOES_NOT_FIT:
            raise DoesNotFit("a state does not fit its key")
        found, _, parents, _, _, events = self._expansion.outbox
        entries = slice(expanded.entries)
        return Successors(
            found[entries].copy(),
            parents[0, entries].copy(),
            events[0, entries].copy(),
            expanded.applied,
            expanded.ended == BROKEN,
        )


@lru_cache(maxsize=2)
def expander_of(text: str) -> Expander:
    """Return the Expander for a search request in text form, built once in a worker process. Raises WrongModelError."""
    asked = SearchRequest.from_text(text)
    require_model(asked.model)
    return Expander(asked)


def as_bytes(keys: Keys) -> npt.NDArray[Any]:
    """Return the keys as an array with one value for each key, so that NumPy can sort and compare whole keys."""
    return np.ascontiguousarray(keys).view(np.dtype((np.void, 4 * keys.shape[1])))[:, 0]
