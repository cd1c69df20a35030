"""The interface of an oracle, which selects the events to send to an adapter, and checks the replies.

lockstep.py compares the system under test with the model. promises.py checks the guarantees to clients. For a client
library under test, client/ checks the guarantees that the library gives. This module also has the names of the fields
of an observation.
"""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy
from epochfuzz.model.kafka.contract import observation

if TYPE_CHECKING:  # the command line needs this module before it imports anything slow
    from epochfuzz.harness.conform.protocol.wire import Observation


class JudgedBy(StrEnum):
    """The name of an oracle: comparison with the model, or guarantees to clients only."""

    LOCKSTEP = "lock-step"
    PROMISES = "promises"


class Judge(Protocol):
    """An oracle for one schedule. `goes_on`: whether the oracle can check more replies after a discrepancy."""

    goes_on: bool  # whether the oracle can check replies after a discrepancy

    def begin(self, observation: "Observation") -> list[Discrepancy]:
        """Check the state after a reset, and return the discrepancies.

        `observation` is empty if the adapter's reply has no observation.
        """

    def advance(self, event: int) -> bool:
        """Return whether to send the event to the adapter. If so, the caller must pass the reply to `judge`."""

    def judge(self, event: int, applied: bool, observation: "Observation") -> list[Discrepancy]:
        """Check the reply to an event, and return its discrepancies. Each discrepancy is returned only once."""


# The fields of an observation, such as replicas.hw. A discrepancy also names the replica, as in replicas.B.hw.
FIELDS = {
    f"{part}.{seen.name}": seen
    for part, table in (
        ("replicas", observation.REPLICA),
        ("controller", observation.CONTROLLER),
        ("consumer", observation.CONSUMER),
        ("producers", observation.PRODUCERS),
    )
    for seen in table
}

# Wrong names that adapters use for fields, each with the name of the field.
_OTHER_NAMES = {
    "high_watermark": "hw",
    "log_end_offset": "leo",
    "in_sync_replicas": "isr",
    "eligible_leader_replicas": "elr",
    "leader_epoch_cache": "epochs",
    "epoch_cache": "epochs",
    "leader_id": "leader",
    "alive": "up",
}
_CLOSE = 0.75  # least similarity of a misspelt name to a name, from 0 to 1

_LONGEST_NAME = 200  # characters of a field's name that are kept

OWN = "own"  # the key of an adapter's own fields, which epochfuzz prints but never compares


def fields_of(shown: "Observation") -> Iterator[str]:
    """Yield the names of the fields in an observation, such as `replicas.hw` (FIELDS).

    The names include the adapter's own fields, and unknown fields.
    """
    for part, content in shown.items():
        values: Any = content
        if part == "replicas":
            for replica in values.values():
                yield from _named("replicas", replica)
        elif part in ("controller", "consumer", "producers"):
            yield from _named(part, values)
        else:
            yield part[:_LONGEST_NAME]


def meant(unknown: str, missing: Iterable[str]) -> str | None:
    """Return the field in `missing` whose name an unknown field probably misspells, or None.

    Names have the form `replicas.hw`. If `unknown` has no dot, such as `replica`, return a first part such as
    `replicas`.
    """
    part, _, name = unknown.partition(".")
    if not name:
        parts = {field.partition(".")[0] for field in missing}
        return next(iter(get_close_matches(part, parts, n=1, cutoff=_CLOSE)), None)
    names = [field.partition(".")[2] for field in missing if field.startswith(f"{part}.")]
    spelled = re.sub(r"(?<=[a-z])(?=[A-Z])|-", "_", name).lower()
    spelled = _OTHER_NAMES.get(spelled, spelled)
    close = get_close_matches(spelled, names, n=1, cutoff=_CLOSE)
    return f"{part}.{close[0]}" if close else None


def _named(part: str, values: dict[str, Any]) -> Iterator[str]:
    yield from (f"{part}.{field[:_LONGEST_NAME]}" for field in values if field != OWN)
    yield from (f"{part}.{OWN}.{field[:_LONGEST_NAME]}" for field in values.get(OWN, {}))
