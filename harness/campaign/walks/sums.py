"""Add up the blocks of random runs and state machines, one Arrow table after another.

For a directory on this machine, this process reads a table from each file. For any other directory, each of Spark's
workers adds up the blocks that it reads, and this process adds up the workers' sums. A worker returns a single row with
its sum. The data that this process receives therefore doesn't grow with the number of blocks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from epochfuzz.harness.campaign.walks import walk_blocks
from epochfuzz.harness.engine.coverage.coverage import Coverage
from epochfuzz.harness.engine.walk.walk import Tally
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.contract.situations import SITUATIONS
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary import goals
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

Numbers = npt.NDArray[np.int64]

_NEVER = np.iinfo(np.int64).max


@dataclass
class Summed:
    """The sums over blocks. `steps` and `errors` are about runs of a user's own state machine.

    `errors` maps the name of an exception class to a row of _COUNTED. The row describes the run that raised
    the exception after the fewest steps.
    """

    tally: Tally
    steps: int = 0
    errors: dict[str, dict[str, Any]] = field(default_factory=dict)


# The row of an error. In a block, a row describes one run. In a sum, a row describes the run with the fewest steps, and
# `seen` is the number of runs that ended with this error.
_COUNTED = pa.struct([*walk_blocks.ERROR, pa.field("seen", pa.int64())])
SUMS = pa.schema(
    [pa.field("errors", pa.list_(_COUNTED)) if each.name == "errors" else each for each in walk_blocks.SCHEMA]
)


def summed(parts: Iterable[pa.Table], protocols: Sequence[Protocol]) -> Summed:
    """Add up the rows of tables. A row is a block, or the sum of several blocks (SUMS)."""
    whole = Summed(Tally.empty(KAFKA, len(protocols)))
    index = {protocol.name: number for number, protocol in enumerate(protocols)}
    met = _Met(len(protocols))
    for part in parts:
        whole.tally.schedules += int(pc.sum(part["schedules"]).as_py() or 0)
        whole.steps += int(pc.sum(part["steps"]).as_py() or 0)
        _add_errors(whole.errors, part["errors"])
        _, results = _flat(part["results"])
        if len(results):
            of = np.array([index[name] for name in results.field("protocol").to_pylist()])
            _add_counts(whole.tally, of, results)
            _add_shortest(whole.tally, of, results)
            met.add(of, results)
    whole.tally.met = met.coverage()
    return whole


def sum_row(whole: Summed, protocols: Sequence[Protocol]) -> dict[str, Any]:
    """Return sums as a row of SUMS."""
    return walk_blocks.row(0, whole.tally, protocols) | {"steps": whole.steps, "errors": list(whole.errors.values())}


def _flat(lists: pa.ChunkedArray | pa.Array) -> tuple[Numbers, Any]:
    """Flatten a column of lists. Returns two arrays of equal length: list numbers and elements.

    The list number of an element is the row of the list that contains the element. An element of a map is a struct of
    key and value.
    """
    whole = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    if pa.types.is_map(whole.type):
        pairs = pa.StructArray.from_arrays([whole.keys, whole.items], ["key", "value"])
        whole = pa.ListArray.from_arrays(whole.offsets, pairs)
    return pc.list_parent_indices(whole).to_numpy().astype(np.int64), whole.flatten()


def _numbers(values: Any, name: str) -> Numbers:
    return np.asarray(values.field(name).to_numpy(zero_copy_only=False), np.int64)


def _bits(values: Any, name: str, names: Sequence[str]) -> Numbers:
    place = {each: number for number, each in enumerate(names)}
    return np.array([place[each] for each in values.field(name).to_pylist()], np.int64)


def _add_counts(tally: Tally, of: Numbers, results: Any) -> None:
    np.add.at(tally.events, of, _numbers(results, "events"))
    parent, met = _flat(results.field("goals"))
    np.add.at(tally.goals, (of[parent], _bits(met, "key", goals.NAMES)), _numbers(met, "value"))


def _add_shortest(tally: Tally, of: Numbers, results: Any) -> None:
    """Add the failures in `results` to a tally: the number and the shortest failures of each kind.

    `of` has the number of the protocol for each row of `results`.
    """
    parent, failures = _flat(results.field("failures"))
    place = of[parent], _bits(failures, "property", properties.NAMES), _numbers(failures, "kind")
    np.add.at(tally.failures, place, _numbers(failures, "schedules"))
    parent, shortest = _flat(failures.field("shortest"))
    found = zip(*(each[parent].tolist() for each in place), strict=True)
    by_kind: dict[tuple[int, ...], list[list[int]]] = {}
    for where, length, schedule in zip(
        found, _numbers(shortest, "length").tolist(), _numbers(shortest, "schedule").tolist(), strict=True
    ):
        by_kind.setdefault(where, []).append([length, schedule])
    for where, rows in by_kind.items():
        best = sorted([*tally.shortest[where].tolist(), *rows])
        tally.shortest[where] = best[: len(tally.shortest[where])]


class _Met:
    """Counts the schedules that met each situation under each protocol, and finds the first of these schedules."""

    def __init__(self, protocols: int) -> None:
        self._schedules = np.zeros((protocols, SITUATIONS), np.int64)
        self._first = np.full((protocols, SITUATIONS), _NEVER)

    def add(self, of: Numbers, results: Any) -> None:
        parent, met = _flat(results.field("met"))
        place = of[parent], _numbers(met, "situation")
        np.add.at(self._schedules, place, _numbers(met, "schedules"))
        np.minimum.at(self._first, place, _numbers(met, "first"))

    def coverage(self) -> list[Coverage]:
        covered = []
        for schedules, first in zip(self._schedules, self._first, strict=True):
            (situations,) = np.nonzero(schedules)
            covered.append(Coverage(situations.astype(np.int64), schedules[situations], first[situations]))
        return covered


def _add_errors(errors: dict[str, dict[str, Any]], lists: pa.ChunkedArray) -> None:
    _, flat = _flat(lists)
    for error in flat.to_pylist():
        known = errors.setdefault(error["error"], error | {"seen": 0})
        seen = known["seen"] + error.get("seen", 1)
        shorter = min(known, error, key=lambda each: (len(each["steps"]), each["schedule"]))
        errors[error["error"]] = shorter | {"seen": seen}
