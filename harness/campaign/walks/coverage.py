"""The table of situations: the situations that a campaign met, and reachable situations that it did not meet.

A situation combines an event at a replica, the replica's state before the event (such as leader or follower), and the
effect of the event (such as a truncated log).
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from epochfuzz.harness.engine.walk.walk import Tally
from epochfuzz.model.kafka.contract import situations
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


def _column(aspect: str) -> str:
    return aspect.replace(" ", "_")


SCHEMA = pa.schema(
    [
        ("protocol", pa.string()),
        ("situation", pa.int32()),  # number of the situation, as in the rows of blocks
        *((_column(aspect.name), pa.string()) for aspect in reversed(situations.ASPECTS)),
        ("schedules", pa.int64()),  # number of schedules that met it; 0 if only exhaustive search with small bounds did
        ("first", pa.int64()),  # number of the first schedule that met it; null if none did
    ]
)
# The result of a worker: a situation that exhaustive search with small bounds meets.
REACHABLE = pa.schema({"protocol": pa.string(), "situation": pa.int32()})


def rows(tally: Tally, protocols: Sequence[Protocol], reachable: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the table of situations. A situation in `reachable` that no schedule met has the count 0."""
    made = []
    for protocol, met in zip(protocols, tally.met, strict=True):
        known = {row["situation"] for row in reachable if row["protocol"] == protocol.name}
        made += [_row(protocol, *each) for each in met.rows()]
        made += [_row(protocol, situation, 0, None) for situation in sorted(known.difference(met.situations.tolist()))]
    return made


def _row(protocol: Protocol, situation: int, schedules: int, first: int | None) -> dict[str, Any]:
    words = {_column(aspect): value for aspect, value in situations.describe(situation).items()}
    return {"protocol": protocol.name, "situation": situation, **words, "schedules": schedules, "first": first}


def in_words(situation: int) -> str:
    """Return a situation as one line of text. `situation` is its number."""
    words = situations.describe(situation)
    return (
        f"{words['event']} at a {words['role']} that knows {words['decision']}, {words['membership']},"
        f" log {words['log']}, {words['high watermark before']}, in flight {words['in flight']}:"
        f" {words['log end offset']}, {words['high watermark']}"
    )
