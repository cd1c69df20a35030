"""The visible values of a partition, such as logs, offsets and epochs, in plain Python types.

Case files, fingerprints and the conformance protocol show these values. They do not depend on the layout of a state.
Each visible value is declared once, in the tables of this module. The readers of cases, the messages of the conformance
protocol and the TLA+ traces are derived from these tables.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from epochfuzz.model.core.fields import always_read
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.storage import log, transactions
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES
from epochfuzz.model.kafka.vocabulary.in_force import (
    falls_back_to_last_known_leader,
    has_consumer,
    has_heartbeats,
    has_retention,
    has_transactions,
    requests_isr_changes,
    retries,
    rival_overwrites,
    tracks_eligible_leaders,
    tracks_partition_epoch,
)
from epochfuzz.model.kafka.vocabulary.state import DELETED, NONE, Marker, Partition, Rival


class Shape(Enum):
    """The type of a visible value, such as a number or a list of replicas."""

    FLAG = "true or false"
    NUMBER = "a whole number"
    NUMBER_OR_NONE = "a whole number, or null"
    REPLICA_OR_NONE = "a replica, or null for nobody"
    REPLICAS = "a list of replicas"
    LOG = (
        "a list of [record, leader epoch] by offset, a record being m0, m1, ..., or a marker: COMMIT or ABORT;"
        " [DELETED, 0] below the log start"
    )
    EPOCHS = "a list of [leader epoch, start offset]"
    RECORDS = "a list of records, by number"


@dataclass(frozen=True)
class Seen:
    """The declaration of a visible value of a replica, the controller or the consumer.

    `value(p, r)` returns the value in a state. It ignores r if the value belongs to the controller or the consumer.
    `there(p)` is true if the value exists under the protocol and the settings of the state.
    """

    name: str
    shape: Shape
    meaning: str
    value: Callable[[Partition, int], Any]
    there: Callable[[Partition], bool] = always_read


# The visible values of a replica, in the order in which they are compared.
REPLICA = (
    Seen("up", Shape.FLAG, "whether the process runs", lambda p, r: bool(p.up[r])),
    Seen("leo", Shape.NUMBER, "log end offset: the offset of the next record", lambda p, r: p.leo[r]),
    Seen(
        "log_start",
        Shape.NUMBER,
        "log start offset: the first offset whose record is not deleted",
        lambda p, r: p.log_start[r],
        there=has_retention,
    ),
    Seen(
        "hw",
        Shape.NUMBER,
        "high watermark; for a process that is down, the high watermark that it would restart with",
        lambda p, r: p.high_watermark[r],
    ),
    Seen(
        "log",
        Shape.LOG,
        "by offset: the record, m0, m1, ..., and its leader epoch",
        lambda p, r: [[record_name(p, record), epoch] for record, epoch in log_entries(p, r)],
    ),
    Seen(
        "epochs",
        Shape.EPOCHS,
        "leader epoch cache: epoch and start offset",
        lambda p, r: [[p.cache_epoch[r, i], p.cache_start[r, i]] for i in range(p.cache_size[r])],
    ),
    Seen(
        "leader",
        Shape.REPLICA_OR_NONE,
        "the leader that the replica knows; null for none",
        lambda p, r: replica_name(p.known_leader[r]),
    ),
    Seen(
        "leader_epoch",
        Shape.NUMBER_OR_NONE,
        "the leader epoch of the latest update that the replica learned",
        lambda p, r: p.known_epoch[r] if p.up[r] and p.known_epoch[r] != NONE else None,
    ),
    Seen(
        "waiting",
        Shape.RECORDS,
        "the records whose acks=all requests wait at the replica",
        lambda p, r: record_names(p.waiting[r]),
        there=retries,
    ),
    Seen(
        "isr",
        Shape.REPLICAS,
        "the ISR that a leader knows, in any order; empty for other replicas",
        lambda p, r: members(p.isr[r]),
        there=tracks_partition_epoch,
    ),
    Seen(
        "pending_isr",
        Shape.REPLICAS,
        "the ISR that a leader has proposed, while the change is pending; empty if there is none",
        lambda p, r: members(p.pending_isr[r]),
        there=requests_isr_changes,
    ),
    Seen(
        "lso",
        Shape.NUMBER,
        "last stable offset: the end of the records that read_committed consumers may read from the replica",
        lambda p, r: transactions.last_stable_offset(p, r),
        there=has_transactions,
    ),
)
CONTROLLER = (
    Seen(
        "leader",
        Shape.REPLICA_OR_NONE,
        "the leader in the current update; null for none",
        lambda p, _: replica_name(controller.leader(p)),
    ),
    Seen("epoch", Shape.NUMBER, "the leader epoch of the current update", lambda p, _: p.controller_epoch),
    Seen("isr", Shape.REPLICAS, "the ISR, in any order", lambda p, _: members(controller.isr(p))),
    Seen(
        "fenced",
        Shape.REPLICAS,
        "the replicas whose session has expired, and that have sent no heartbeats since",
        lambda p, _: members(p.fenced),
        there=has_heartbeats,
    ),
    Seen(
        "elr",
        Shape.REPLICAS,
        "the eligible leader replicas",
        lambda p, _: members(p.elr),
        there=tracks_eligible_leaders,
    ),
    Seen(
        "last_known_leader",
        Shape.REPLICA_OR_NONE,
        "the previous leader while the controller names no leader; otherwise null",
        lambda p, _: replica_name(p.last_leader),
        there=falls_back_to_last_known_leader,
    ),
    Seen(
        "rival_leader",
        Shape.REPLICA_OR_NONE,
        "the leader in an update that only the old controller knows; null for none",
        lambda p, _: replica_name(p.rival_leader) if p.rival == Rival.HAS_DECIDED else None,
        there=rival_overwrites,
    ),
    Seen(
        "rival_epoch",
        Shape.NUMBER_OR_NONE,
        "the leader epoch of that update",
        lambda p, _: p.rival_epoch + 1 if p.rival == Rival.HAS_DECIDED else None,
        there=rival_overwrites,
    ),
)

CONSUMER = (
    Seen(
        "position",
        Shape.NUMBER,
        "the offset that the consumer reads next",
        lambda p, _: p.position,
        there=has_consumer,
    ),
    Seen(
        "leader_epoch",
        Shape.NUMBER,
        "the leader epoch in the consumer's metadata",
        lambda p, _: p.consumer_epoch,
        there=has_consumer,
    ),
    Seen(
        "delivered",
        Shape.RECORDS,
        "all records that the consumer has read",
        lambda p, _: record_names(p.delivered),
        there=has_consumer,
    ),
)

# The acknowledgements that producers have received. Only adapters report them. `observe` leaves them out, because they
# would change every fingerprint.
PRODUCERS = (
    Seen(
        "acked",
        Shape.RECORDS,
        "all records that were acknowledged to their producers, as acks requires",
        lambda p, _: record_names(p.acked),
    ),
)


def observe(p: Partition) -> dict[str, Any]:
    """Return the visible values: `{"replicas": {"A": {...}, ...}, "controller": {...}}`.

    Each inner dictionary maps the names in REPLICA or CONTROLLER to their values in this state. If there is a consumer,
    `"consumer": {...}` maps the names in CONSUMER.
    """
    of_replicas = _there(p, REPLICA)
    shown = {
        "replicas": {REPLICA_NAMES[r]: _values(p, of_replicas, r) for r in range(p.replicas)},
        "controller": _values(p, _there(p, CONTROLLER), NONE),
    }
    return shown | {"consumer": _values(p, _there(p, CONSUMER), NONE)} if p.consumer else shown


def record_names(record_set: int) -> list[str]:
    """Return the names of the records in a set, such as `["m0", "m2"]`."""
    return [f"m{record}" for record in record_ids(record_set)]


def record_ids(record_set: int) -> list[int]:
    """Return the ids of the records in a set (bit i for record i), in ascending order."""
    return [record for record in range(record_set.bit_length()) if record_set >> record & 1]


def _there(p: Partition, kinds: Iterable[Seen]) -> list[Seen]:
    return [seen for seen in kinds if seen.there(p)]


def _values(p: Partition, kinds: Iterable[Seen], r: int) -> dict[str, Any]:
    return {seen.name: seen.value(p, r) for seen in kinds}


def log_entries(p: Partition, r: int) -> list[tuple[int, int]]:
    """Return the (record id, leader epoch) pairs of r's log, in ascending order of their offsets."""
    return [(log.at(p.log_record[r], offset), log.at(p.log_epoch[r], offset)) for offset in range(p.leo[r])]


def record_name(p: Partition, record: int) -> str:
    """Return the name of a record in a log.

    The name is `m0` for record 0, `COMMIT` or `ABORT` for the marker of a transaction, and `DELETED` for a deleted
    record below the log start.
    """
    if has_retention(p) and record == DELETED:
        return "DELETED"
    return Marker(record).name if transactions.is_marker(p, record) else f"m{record}"


def replica_name(r: int) -> str | None:
    """Return the letter of a replica, such as "A"; None for no replica."""
    return None if r == NONE else REPLICA_NAMES[r]


def members(replica_set: int) -> list[str]:
    """Return the letters of the replicas in a set (bit r for replica r), in alphabetical order."""
    return [name for r, name in enumerate(REPLICA_NAMES) if replica_set >> r & 1]
