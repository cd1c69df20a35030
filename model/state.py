"""The state of a partition: one table of fields, in two representations.

Interpreted, a state is a `Partition`: an object whose fields are Python ints, and lists or grids of them. Compiled, it
is one NumPy record (`RECORD`) with the same field names. The rules cannot tell them apart: `p.leo[r]`,
`p.remote_leo[leader, follower]` and `p.produced += 1` mean the same on both.

NumPy scalars would overflow in the interpreted form, and a record is what Numba turns into plain memory: a tuple of
arrays costs a reference count for each array at every call.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from epochfuzz.model import configuration, protocols
from epochfuzz.model.configuration import MAX_EPOCHS, MAX_REPLICAS, Configuration
from epochfuzz.model.protocols import Protocol

NONE = -1  # no leader, or no epoch known yet
EPOCHS = MAX_EPOCHS + 2  # the epochs there can be: 0, one for each change, and one that healing may need

# Follower phases. A replica that follows nobody is kept in FETCHING, so that equal states compare equal.
FETCHING = 0
TRUNCATING = 1

# What is in flight to a follower.
NOTHING = 0
RECORDS = 1
OUT_OF_RANGE = 2
EPOCH_END = 3

# What a field holds; it decides how many bits an element takes in a key of the complete search.
FLAG = "flag"
CHOICE = "choice"  # a small number out of a fixed list
COUNT = "count"  # of records: an offset, a log end offset, a high watermark; NONE where undefined
EPOCH = "epoch"  # NONE where unknown
REPLICA = "replica"  # NONE for nobody
REPLICA_SET = "replica set"  # bit r for replica r
RECORD_SET = "record set"  # bit i for record m<i>
WORD = "word"  # four bits for each offset


@dataclass(frozen=True)
class Field:
    """One field: its name, what each element holds, its shape, and the value it starts from."""

    name: str
    holds: str
    shape: tuple[int, ...] = ()
    start: int = 0

    @property
    def integer(self) -> type[np.signedinteger[Any]]:
        """The integer that each element is in a record: a byte in tables by epoch or by pair, a word elsewhere.

        A record has to stay small, for a search copies it at every transition; but a rule that is called with bytes
        and with words is compiled twice, so the fields that are passed around are words.
        """
        return np.int8 if EPOCHS in self.shape or len(self.shape) == 2 else np.int64


_R = (MAX_REPLICAS,)

FIELDS: tuple[Field, ...] = (
    # Logs, and what is in flight of them, see log.py.
    Field("log_record", WORD, _R),
    Field("log_epoch", WORD, _R),
    Field("flight_record", WORD, _R),  # a Fetch answer: the records it brings
    Field("flight_record_epoch", WORD, _R),
    Field("record_offset", WORD),  # by record id, not by offset: where each record was appended first
    Field("goals", WORD),  # what this schedule has shown, see goals.py; no rule reads it
    # What each replica keeps on disk.
    Field("standing", RECORD_SET, _R),  # the records that stand at their own offset in r's log
    Field("leo", COUNT, _R),
    Field("high_watermark", COUNT, _R),
    Field("checkpointed", COUNT, _R),  # the high watermark in replication-offset-checkpoint
    Field("flushed", COUNT, _R),
    Field("cache_size", EPOCH, _R),  # entries of leader-epoch-checkpoint
    Field("cache_epoch", EPOCH, (MAX_REPLICAS, EPOCHS)),
    Field("cache_start", COUNT, (MAX_REPLICAS, EPOCHS)),
    # What each replica forgets when its process dies.
    Field("up", FLAG, _R, start=1),
    Field("known_epoch", EPOCH, _R),  # of the controller's decisions, the latest that r learned
    Field("known_leader", REPLICA, _R),  # itself: r presumes leadership
    Field("phase", CHOICE, _R),
    Field("isr", REPLICA_SET, _R),  # as a leader has it; empty elsewhere
    Field("epoch_start", COUNT, _R),  # of a leader: its LEO when it became one
    Field("remote_leo", COUNT, (MAX_REPLICAS, MAX_REPLICAS), start=NONE),  # [leader, follower]
    Field("flight", CHOICE, _R),
    Field("flight_count", COUNT, _R),  # a Fetch answer: how many records it brings
    Field("flight_offset", COUNT, _R),  # the leader's high watermark, its LEO, or the end offset of an epoch
    Field("flight_epoch", EPOCH, _R),  # an epoch answer: the epoch that ends there
    # The controller.
    Field("controller_epoch", EPOCH),
    Field("decided_leader", REPLICA, (EPOCHS,)),  # by epoch
    Field("decided_isr", REPLICA_SET, (EPOCHS,)),
    # The promises: what clients saw and were told.
    Field("produced", COUNT),
    Field("exposed", RECORD_SET),
    Field("acked", RECORD_SET),
    # Constant over a schedule: the mechanisms, the configuration, the bounds.
    Field("truncation", CHOICE),
    Field("truncate_when", CHOICE),
    Field("epoch_cache", CHOICE),
    Field("fencing", CHOICE),
    Field("isr_expansion", CHOICE),
    Field("replicas", CHOICE),
    Field("acks", CHOICE),
    Field("min_insync_replicas", CHOICE),
    Field("unclean_leader_election", FLAG),
    Field("power_loss", FLAG),
    Field("asynchronous_checkpoint", FLAG),
    Field("records_per_fetch", COUNT),
    Field("records", COUNT),
    Field("epochs", EPOCH),
)

# The settings that a state carries as numbers, `acks` aside.
CONFIGURATION_KEYS = (
    "replicas",
    "min_insync_replicas",
    "unclean_leader_election",
    "power_loss",
    "asynchronous_checkpoint",
    "records_per_fetch",
    "records",
    "epochs",
)

CONSTANT_FIELDS = frozenset(field.name for field in FIELDS[[f.name for f in FIELDS].index("truncation") :])

RECORD = np.dtype([(field.name, field.integer, field.shape) for field in FIELDS], align=True)


class Grid(dict[tuple[int, int], int]):
    """A two-dimensional field of the interpreted form, indexed `[i, j]` as a NumPy array is."""


class Partition:
    """The interpreted form of a state. Rules read and write its fields; everything else copies it."""

    __slots__ = tuple(field.name for field in FIELDS)

    def __init__(self) -> None:
        for field in FIELDS:
            setattr(self, field.name, _filled(field))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def copy(self) -> "Partition":
        """An independent state, equal to this one."""
        other = Partition.__new__(Partition)
        for name in Partition.__slots__:
            value = getattr(self, name)
            setattr(other, name, value if isinstance(value, int) else value.copy())
        return other


# What the rules call `p`: a Partition, or under Numba one RECORD.
State = Any


def _filled(field: Field) -> Any:
    if len(field.shape) == 2:
        rows, columns = field.shape
        return Grid(((i, j), field.start) for i in range(rows) for j in range(columns))
    return [field.start] * field.shape[0] if field.shape else field.start


def initial(protocol: Protocol, settings: Configuration) -> Partition:
    """The starting state: all up, A leads epoch 0, the ISR is everyone, logs empty, everyone knows epoch 0."""
    p = Partition()
    for mechanism in protocols.MECHANISMS:
        setattr(p, mechanism, getattr(protocol, mechanism))
    for key in CONFIGURATION_KEYS:
        setattr(p, key, int(getattr(settings, key)))
    p.acks = configuration.ACKS[settings.acks]
    everyone = (1 << settings.replicas) - 1
    p.decided_isr[0] = everyone
    p.isr[0] = everyone
    if p.epoch_cache == protocols.CACHE_KAFKA_7415:
        p.cache_size[0] = 1  # A became leader of epoch 0 at offset 0
    return p


def to_record(p: Partition) -> np.ndarray:
    """The compiled form of a state: an array of shape () and dtype RECORD."""
    record = np.zeros((), RECORD)
    for field in FIELDS:
        value = getattr(p, field.name)
        if len(field.shape) == 2:
            value = np.array(list(value.values())).reshape(field.shape)
        record[field.name] = value
    return record


def from_record(record: np.ndarray) -> Partition:
    """The interpreted form of a compiled state."""
    p = Partition()
    for field in FIELDS:
        value = record[field.name]
        if len(field.shape) == 2:
            setattr(p, field.name, Grid((index, int(item)) for index, item in np.ndenumerate(value)))
        else:
            setattr(p, field.name, value.tolist())
    return p
