"""The event alphabet: a verb and a replica, in one byte.

A schedule is a byte string of such events. An event whose precondition does not hold is a no-op, so every byte
string over the alphabet is a valid schedule, and so is what is left after deleting any event from one.
"""

from collections.abc import Iterable

from epochfuzz.model.names import nearest

REPLICA_NAMES = "ABCDE"

# The order is part of the format of a schedule: append, never reorder.
VERBS = (
    "produce",
    "fetch",
    "receive",
    "drop",
    "crash",
    "power_loss",
    "restart",
    "notify",
    "catch_up",
    "elect",
    "expire",
    "shrink",
    "expand",
    "flush",
    "checkpoint",
)
(
    PRODUCE,
    FETCH,
    RECEIVE,
    DROP,
    CRASH,
    POWER_LOSS,
    RESTART,
    NOTIFY,
    CATCH_UP,
    ELECT,
    EXPIRE,
    SHRINK,
    EXPAND,
    FLUSH,
    CHECKPOINT,
) = range(len(VERBS))


class EventError(ValueError):
    """A text that is not an event; the message says what an event looks like."""


def encode(verb: int, replica: int) -> int:
    """The byte for `verb` (an index into VERBS) on `replica` (0 is A)."""
    return verb << 3 | replica


def verb_of(event: int) -> int:
    """The verb of an event byte, an index into VERBS."""
    return event >> 3


def replica_of(event: int) -> int:
    """The replica of an event byte, 0 for A."""
    return event & 7


def event_text(event: int) -> str:
    """`fetch B` for the byte that encodes it."""
    return f"{VERBS[verb_of(event)]} {REPLICA_NAMES[replica_of(event)]}"


def parse_event(text: str) -> int:
    """The byte for an event text such as `fetch B`. Raises EventError."""
    words = text.split() if isinstance(text, str) else []
    if len(words) != 2:
        raise EventError(f"an event is a verb and a replica, such as 'fetch B'; got {text!r}")
    verb, replica = words
    if verb not in VERBS:
        raise EventError(f"unknown event {verb!r}; {nearest(verb, VERBS, 'the events are')}")
    if len(replica) != 1 or replica not in REPLICA_NAMES:
        raise EventError(f"unknown replica {replica!r}; the replicas are {', '.join(REPLICA_NAMES)}")
    return encode(VERBS.index(verb), REPLICA_NAMES.index(replica))


def parse_schedule(texts: Iterable[str]) -> bytes:
    """The byte string for event texts in order. Raises EventError for the first text that is no event."""
    return bytes(parse_event(text) for text in texts)


def schedule_texts(schedule: bytes) -> list[str]:
    """The event texts of a schedule, in order."""
    return [event_text(event) for event in schedule]


def alphabet(replicas: int) -> bytes:
    """Every event of a partition with that many replicas, in byte order."""
    return bytes(encode(verb, replica) for verb in range(len(VERBS)) for replica in range(replicas))
