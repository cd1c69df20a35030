"""List all transitions between the states within bounds, as arrays.

With symmetry one state, the representative, stands for all states that differ only in the names of replicas. So a
successor of a representative is usually not a representative itself, but a renamed copy of a representative. The module
compares keys to find the renaming. The module identifies states by 64-bit hashes, and detects two states with the same
hash.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.engine.explore.expansion import CHUNK, NEW, Expansion, Level
from epochfuzz.harness.engine.explore.explore import DEFAULT_MEMORY, SearchProgress, prepared, visit
from epochfuzz.harness.engine.explore.retrace import NOTHING_MET, NOTHING_VISITED
from epochfuzz.harness.engine.explore.shards import SHARDS, row_of
from epochfuzz.harness.engine.explore.visited import Visited, hash_of
from epochfuzz.harness.engine.keys import symmetry
from epochfuzz.harness.engine.keys.renamed_keys import renamed_keys
from epochfuzz.harness.engine.runtime.threads import Threads, cores
from epochfuzz.model.core.model import Protocol, Settings

Numbers = npt.NDArray[np.int32]
Hashes = npt.NDArray[np.uint64]


class Ambiguous(Exception):
    """The transitions are not known: two states have equal hashes, or a successor's hash belongs to no known state."""


@dataclass(frozen=True, kw_only=True)
class Transitions:
    """All transitions between the states within bounds, as arrays.

    Transition i leads from state `sources[i]` by `events[i]` to state `targets[i]`. The array `sources` is in ascending
    order, and schedules start in state 0. With symmetry, a state stands for all states that differ only in the names of
    replicas. A transition may then rename replicas: replica r of the target is called `orders[names[i]][r]` in the
    state after the event. Replica r of state 0 is called `orders[start][r]` in the initial state.
    """

    states: int
    sources: Numbers
    events: npt.NDArray[np.uint8]
    targets: Numbers
    names: npt.NDArray[np.uint8]
    orders: Sequence[tuple[int, ...]]
    start: int
    alphabet: bytes

    def renaming(
        self, renamed_event: Callable[[int, Sequence[int]], int]
    ) -> tuple[list[dict[int, int]], list[list[int]]]:
        """Return two tables: renamed events, and the results of two renamings in sequence.

        Item [n][event] of the first table is the event with the names `orders[n]`. Item [n][m] of the second table is
        the number of the order that gives replica r the name `orders[n][orders[m][r]]`.
        """
        numbers = {order: number for number, order in enumerate(self.orders)}
        events = [{event: renamed_event(event, order) for event in self.alphabet} for order in self.orders]
        after = [[numbers[tuple(first[r] for r in second)] for second in self.orders] for first in self.orders]
        return events, after


def transitions(
    protocol: Protocol,
    settings: Settings,
    memory: int = DEFAULT_MEMORY,
    report: Callable[[SearchProgress], None] = lambda progress: None,
) -> Transitions:
    """Return every transition within bounds. Raises DoesNotFit, MemoryEnded and Ambiguous.

    `memory` limits the memory for the states, in bytes.
    """
    with Threads(cores()) as threads:
        visited, levels, expansion = visit(protocol, settings, threads, memory, report)
        (start,), as_it_is, _ = prepared((protocol,), settings, 0, False, threads.jobs)
        parents, events, hashes = _successors(visited, levels, expansion, threads)
        is_symmetric = symmetry.are_wanted(expansion.canonical)
        found = _successors(visited, levels, as_it_is, threads)[2] if is_symmetric else hashes
    rows = np.concatenate([_rows(level) for level in levels])
    numbers = np.zeros(int(rows.max()) + 1, np.int32)
    numbers[rows] = np.arange(len(rows), dtype=np.int32)
    keys = visited.keys_of(rows)
    everybody = range(settings.replicas)
    orders = list(permutations(everybody)) if is_symmetric else [tuple(everybody)]
    in_orders = [_hashes(renamed_keys(expansion.layout, keys, order)) for order in orders]
    targets = _numbers(hashes, in_orders[0])
    first = _hashes(as_it_is.put([start], as_it_is.as_it_is)[None, :])
    started_as = _names(first, np.zeros(1, np.int32), in_orders)
    return Transitions(
        states=len(rows),
        sources=numbers[parents],
        events=events,
        targets=targets,
        names=_names(found, targets, in_orders),
        orders=orders,
        start=int(started_as[0]),
        alphabet=bytes(expansion.alphabet),
    )


def _hashes(keys: npt.NDArray[np.uint32]) -> Hashes:
    return hash_of(keys, np.arange(len(keys)))


def _rows(level: Level) -> npt.NDArray[np.int64]:
    """Return the rows of all states of a level, in ascending order of their shards and of their places there."""
    shards = [row_of(shard, np.arange(level.starts[shard], level.ends[shard])) for shard in range(SHARDS)]
    return np.concatenate(shards)


def _successors(
    visited: Visited, levels: Sequence[Level], expansion: Expansion, threads: Threads
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], Hashes]:
    """Return three arrays with an element for each successor: its parent's row, its event, and its key's hash."""
    parts: dict[tuple[int, int], tuple[Any, ...]] = {}
    for number, level in enumerate(levels):

        def work(task: int, thread: int, number: int = number, level: Level = level) -> None:
            rows = min(CHUNK, level.size - task * CHUNK)
            found = expansion.expand(
                visited.stored, NOTHING_VISITED, level, task * CHUNK, rows, NEW, 0, NOTHING_MET, thread, thread
            )
            _, hashes, parents, _, _, events = expansion.outbox
            parts[number, task] = tuple(each[thread, : found.entries].copy() for each in (parents, events, hashes))

        threads.run(-(-level.size // CHUNK), work)
    in_order = [parts[key] for key in sorted(parts)]
    parents, events, hashes = (np.concatenate([part[i] for part in in_order]) for i in range(3))
    return parents, events, hashes


def _numbers(wanted: Hashes, hashes: Hashes) -> Numbers:
    """Return the numbers of the states that have the wanted hashes. Raises Ambiguous.

    `hashes[n]` is the hash of state n.
    """
    order = np.argsort(hashes)
    ascending = hashes[order]
    places = np.minimum(np.searchsorted(ascending, wanted), len(order) - 1)
    if (ascending[1:] == ascending[:-1]).any() or (ascending[places] != wanted).any():
        raise Ambiguous("two states have the same hash; choose other bounds, which have other states")
    return order[places].astype(np.int32)


def _names(found: Hashes, targets: Numbers, in_orders: Sequence[Hashes]) -> npt.NDArray[np.uint8]:
    """Return for each successor the number of the first renaming that turns its target state into the successor.

    `found` has the hash of each successor, and `targets` the number of its target state. `in_orders[k][n]` is the hash
    of state n with its replicas renamed by order k. Raises Ambiguous if no renaming fits.
    """
    names = np.full(len(found), len(in_orders), np.uint8)
    for number in reversed(range(len(in_orders))):
        names[in_orders[number][targets] == found] = number
    if (names == len(in_orders)).any():
        raise Ambiguous("no renamed state has the hash of a successor; choose other bounds, which have other states")
    return names
