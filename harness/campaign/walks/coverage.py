"""Coverage: the situations that a campaign has met, in words, and those within reach that it has not."""

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
        ("situation", pa.int32()),  # its number, as in the rows of blocks
        *((_column(aspect.name), pa.string()) for aspect in reversed(situations.ASPECTS)),
        ("schedules", pa.int64()),  # how many met it; 0 where exhaustive search of small bounds did and no schedule
        ("first", pa.int64()),  # the number of the first that met it; null where none did
    ]
)
# What a worker returns: a situation that exhaustive search of small bounds meets.
REACHABLE = pa.schema({"protocol": pa.string(), "situation": pa.int32()})


def rows(tally: Tally, protocols: Sequence[Protocol], reachable: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the table: what was met, and what was within reach (rows of REACHABLE) and not met."""
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
    """Return a situation in a line."""
    words = situations.describe(situation)
    return (
        f"{words['event']} at a {words['role']} that knows {words['decision']}, {words['membership']},"
        f" log {words['log']}, {words['high watermark before']}, in flight {words['in flight']}:"
        f" {words['log end offset']}, {words['high watermark']}"
    )
