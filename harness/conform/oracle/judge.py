"""The interface of an oracle: it chooses the events to send, and checks the reply to each.

There are two oracles. lockstep.py compares the system under test with the model, and promises.py checks the guarantees
to clients.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy
from epochfuzz.model.kafka.contract import observation

if TYPE_CHECKING:  # the command line needs the names before any import
    from epochfuzz.harness.conform.protocol.wire import Observation


class JudgedBy(StrEnum):
    """The two oracles for a system under test."""

    LOCKSTEP = "lock-step"
    PROMISES = "promises"


class Judge(Protocol):
    """Check one schedule, event by event."""

    goes_on: bool  # whether the oracle can check replies after a discrepancy

    def advance(self, event: int) -> bool:
        """Return whether to send the event. If so, the caller sends it and passes the reply to `judge`."""

    def judge(self, event: int, applied: bool, observation: "Observation") -> list[Discrepancy]:
        """Return the discrepancies that the reply to the last event shows, each only once."""


# The fields of an observation. A discrepancy puts the replica's name between the two parts.
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

_LONGEST_NAME = 200  # characters of a field's name that are kept

OWN = "own"  # the key of an adapter's own fields, which epochfuzz prints but never compares


def fields_of(shown: "Observation") -> Iterator[str]:
    """Yield the names of the fields that an observation has, in the format of FIELDS.

    The names include the adapter's own fields, and fields that currently have no meaning.
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


def _named(part: str, values: dict[str, Any]) -> Iterator[str]:
    yield from (f"{part}.{field[:_LONGEST_NAME]}" for field in values if field != OWN)
    yield from (f"{part}.{OWN}.{field[:_LONGEST_NAME]}" for field in values.get(OWN, {}))
