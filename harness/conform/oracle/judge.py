"""What a judge of a subject is: it says which events to send, and judges what comes of each.

There are two: lockstep.py holds the subject against the model, promises.py against what clients were promised.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from epochfuzz.harness.conform.oracle.fault import Fault
from epochfuzz.model.kafka.contract import observation

if TYPE_CHECKING:  # the command line names the ways before it loads anything
    from epochfuzz.harness.conform.protocol.wire import Observation


class JudgedBy(StrEnum):
    """The two ways of judging a subject."""

    LOCKSTEP = "lock-step"
    PROMISES = "promises"


class Judge(Protocol):
    """Judges one schedule, event by event."""

    goes_on: bool  # whether what comes after a fault can still be judged

    def advance(self, event: int) -> bool:
        """Whether the event is worth sending. If so it is sent next, and `judge` is called with what came of it."""

    def judge(self, event: int, applied: bool, observation: "Observation") -> list[Fault]:
        """Return the faults that the last event sent brought to light, each once."""


# The fields of an observation, as faults name them with the replica's name in between.
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

OWN = "own"  # what a replica or the controller shows here is the subject's own: shown to people, never compared


def fields_of(shown: "Observation") -> Iterator[str]:
    """Yield the fields that an observation shows, in the manner of FIELDS; those of the subject's own are among them,
    and those that mean nothing.
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
