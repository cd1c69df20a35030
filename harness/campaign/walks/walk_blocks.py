"""The table row of a block of random runs or state machines. The row has sums over the block's schedules.

The results of single schedules are not stored.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from epochfuzz.harness.campaign.machines.own import MachineFailure
from epochfuzz.harness.engine.walk.walk import Tally
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary import goals
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_SHORTEST = pa.struct(
    {
        "length": pa.int64(),  # number of applied events until the violation
        "schedule": pa.int64(),  # number of the schedule
    }
)
_FAILURE = pa.struct(
    {
        "property": pa.string(),
        "kind": pa.int32(),  # the event and the replica's role at the violation, see situations.kind_of
        "schedules": pa.int64(),  # number of schedules with this kind of violation
        "shortest": pa.list_(_SHORTEST),  # the shortest of these violations, in order of length
    }
)
_MET = pa.struct(
    {
        "situation": pa.int32(),  # number of the situation; the table of situations has its description
        "schedules": pa.int64(),  # number of schedules that met it
        "first": pa.int64(),  # number of the first schedule that met it
    }
)
_RESULT = pa.struct(
    {
        "protocol": pa.string(),
        "events": pa.int64(),  # number of applied events; each is followed by a check
        "seen": pa.map_(pa.string(), pa.int64()),  # by property: number of schedules that broke it, if any
        "goals": pa.map_(pa.string(), pa.int64()),  # by goal: number of schedules that met it, if any
        "failures": pa.list_(_FAILURE),
        "met": pa.list_(_MET),
    }
)
ERROR = pa.struct(
    {
        "error": pa.string(),  # class of the exception
        "message": pa.string(),  # text of the exception, truncated if long
        "steps": pa.list_(pa.string()),  # steps of the machine, as Hypothesis prints them
        "schedule": pa.int64(),  # number of the run
    }
)
SCHEMA = pa.schema(
    {
        "first": pa.int64(),  # number of the block's first schedule
        "schedules": pa.int64(),  # number of schedules in the block
        "results": pa.list_(_RESULT),  # one result for each protocol, in the order of the parameters
        "steps": pa.int64(),  # number of steps of a user's own machine; 0 for other kinds
        "errors": pa.list_(ERROR),  # failures of a user's own machine
    }
)


def row(first: int, tally: Tally, protocols: Sequence[Protocol]) -> dict[str, Any]:
    """Return the row of a block of random runs that begins with schedule `first`."""
    results = [_result(protocol.name, index, tally) for index, protocol in enumerate(protocols)]
    return {"first": first, "schedules": tally.schedules, "results": results, "steps": 0, "errors": []}


def machine_row(first: int, count: int, steps: int, failures: Sequence[MachineFailure]) -> dict[str, Any]:
    """Return the row of a block that ran a user's own state machine."""
    errors = [asdict(failure) for failure in failures]
    return {"first": first, "schedules": count, "results": [], "steps": steps, "errors": errors}


def _result(protocol: str, index: int, tally: Tally) -> dict[str, Any]:
    return {
        "protocol": protocol,
        "events": int(tally.events[index]),
        "seen": _nonzero(properties.NAMES, tally.seen[index]),
        "goals": _nonzero(goals.NAMES, tally.goals[index]),
        "failures": list(_failures(index, tally)),
        "met": [
            {"situation": number, "schedules": count, "first": first}
            for number, count, first in tally.met[index].rows()
        ],
    }


def _failures(index: int, tally: Tally) -> Iterator[dict[str, Any]]:
    for bit, kind in np.argwhere(tally.failures[index]).tolist():
        yield {
            "property": properties.NAMES[bit],
            "kind": kind,
            "schedules": int(tally.failures[index, bit, kind]),
            "shortest": [asdict(failure) for failure in tally.kept(index, bit, kind)],
        }


def _nonzero(names: Sequence[str], counts: np.ndarray) -> list[tuple[str, int]]:
    return [(name, int(count)) for name, count in zip(names, counts, strict=True) if count]
