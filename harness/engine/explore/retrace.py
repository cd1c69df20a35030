"""Find the schedule that leads to a state, although a search keeps only the keys of states.

Retrace goes back level by level, and recomputes which states lead to the last state. A level holds the states at one
distance from the start. Then Retrace goes forward from the initial state. At each level it takes the first event that
leads to a recomputed state. So it finds the first of all shortest schedules in byte order. Symmetry does not change the
result, although with symmetry a key represents a class of states (symmetry.py).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from epochfuzz.harness.engine.explore.expansion import BREAKING, CHUNK, DOES_NOT_FIT, SOUGHT, Expansion, Level
from epochfuzz.harness.engine.explore.shards import SHARDS, Array
from epochfuzz.harness.engine.explore.visited import Visited
from epochfuzz.harness.engine.runtime.threads import Threads
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.fields import Interpreted

NOTHING_VISITED = np.zeros((SHARDS, 1), np.uint32)
NOTHING_MET = np.zeros(0, np.uint8)

Rows = npt.NDArray[np.int64]


class Retrace:
    """Finds schedules that lead to states of a finished search, by going back through the levels of the search."""

    def __init__(self, visited: Visited, expansion: Expansion, threads: Threads, levels: Sequence[Level]) -> None:
        self._visited, self._expansion, self._threads, self._levels = visited, expansion, threads, levels

    def breaking(self, wanted: int) -> Rows:
        """Return the rows of all states in the last level that have a successor which breaks a wanted property."""
        return self._leading(self._levels[-1], BREAKING, NOTHING_VISITED, wanted)

    def tables_to(self, rows: Rows) -> list[Array]:
        """Return a hash table of states for each level after the first.

        `rows` are rows of the last level. A table holds the states of its level that lead to the states in `rows`, and
        the last table holds the states in `rows`.
        """
        tables: list[Array] = []
        for level in reversed(self._levels[:-1]):
            tables.append(self._visited.table_of(rows))
            rows = self._leading(level, SOUGHT, tables[-1], 0)
        return tables[::-1]

    def _leading(self, level: Level, which: int, table: Array, wanted: int) -> Rows:
        """Return the rows of the states in a level that have a selected successor.

        `which` selects the successors: SOUGHT selects the states in `table`, and BREAKING the states that break a
        wanted property.
        """
        rows: list[Rows] = []
        chunks = -(-level.size // CHUNK)

        def work(task: int, thread: int) -> None:
            first = task * CHUNK
            found = self._expansion.expand(
                self._visited.stored, table, level, first, min(CHUNK, level.size - first),
                which, wanted, NOTHING_MET, thread, thread,
            )  # fmt: skip
            rows.append(np.unique(self._expansion.outbox[2][thread, : found.entries]))

        self._threads.run(chunks, work)
        return np.concatenate(rows)

    def schedule(self, tables: Sequence[Array], executions: Sequence[Execution], wanted: int = 0) -> bytes:
        """Return the first schedule in byte order that leads through a state in each of the tables.

        If `wanted` is not 0, the schedule has one more event, which breaks a wanted property. The executions begin in
        the initial states of the search, and the method applies the schedule to them. The schedule ends early if a
        successor does not fit into a key.
        """
        schedule = bytearray()
        steps = [(SOUGHT, table) for table in tables] + [(BREAKING, NOTHING_VISITED)] * bool(wanted)
        for which, table in steps:
            event = self._first_event([each.state for each in executions], which, table, wanted)
            if event is None:
                break
            for each in executions:
                each.apply(event)
                each.model.forget(each.state)
            schedule.append(event)
        return bytes(schedule)

    def _first_event(self, states: list[Interpreted], which: int, table: Array, wanted: int) -> int | None:
        """Return the first event that leads from the given states to a selected state.

        `which` selects the states: SOUGHT selects the states in `table`, and BREAKING the states that break a wanted
        property. Returns None if a successor does not fit into a key.
        """
        free = self._visited.put_aside(self._expansion.put(states, self._expansion.as_it_is))
        alone = Level(np.full(SHARDS, free, np.int64), free + np.eye(1, SHARDS, dtype=np.int64)[0])
        found = self._expansion.expand(self._visited.stored, table, alone, 0, 1, which, wanted, NOTHING_MET, 0, 0)
        if found.ended == DOES_NOT_FIT:
            return None
        assert found.entries, "no event leads on"
        return int(self._expansion.outbox[5][0, 0])
