"""Read the controller's metadata log from its file, while the controller writes it."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from epochfuzz.harness.cluster.broker.segments import Batch, batches
from epochfuzz.harness.cluster.gates.schema import Definition
from epochfuzz.harness.cluster.record_format.fields import Bytes

DIRECTORY = "__cluster_metadata-0"
NOBODY = -1

_NO_CHANGE = -2  # the leader in a PartitionChangeRecord that keeps its leader
_FENCED, _UNFENCED = 1, -1  # the values in a BrokerRegistrationChangeRecord


@dataclass
class TopicPartition:
    """The state of a topic's partition 0 in the controller's metadata."""

    topic: uuid.UUID
    leader: int = NOBODY
    epoch: int = 0
    isr: tuple[int, ...] = ()
    replicas: tuple[int, ...] = ()


@dataclass(frozen=True)
class MetadataBatch:
    """A batch of the metadata log that changes the watched partition or a broker. `what` describes the change.

    The watched partition is partition 0 of `ControllerLog.watched`. `opens_epoch` tells whether the batch begins a
    leader epoch of this partition.
    """

    offset: int
    opens_epoch: bool
    what: str

    def is_of(self, broker: int) -> bool:
        """Return whether the batch is about a broker, for example about its fencing."""
        return f"broker {broker} " in self.what

    def unfences(self, broker: int) -> bool:
        """Return whether the batch unfences a broker."""
        return f"broker {broker} is unfenced" in self.what


@dataclass(kw_only=True)
class ControllerLog:
    """The content of the controller's metadata log. `look` reads the batches that are new in the log.

    `fenced` and `registrations` have the node ids of brokers as keys. `decisions` has the batches that change a broker
    (its registration or fencing) or partition 0 of the topic `watched`.
    """

    directory: Path
    definitions: dict[int, Definition]
    watched: str = ""  # the topic whose changes count as metadata updates
    end: int = 0  # the log end offset
    topics: dict[str, uuid.UUID] = field(default_factory=dict)
    partitions: dict[uuid.UUID, TopicPartition] = field(default_factory=dict)
    fenced: dict[int, bool] = field(default_factory=dict)
    registrations: dict[int, int] = field(default_factory=dict)  # the broker epoch of each broker
    decisions: list[MetadataBatch] = field(default_factory=list)
    _read: int = 0  # bytes of the segment

    def look(self) -> "ControllerLog":
        """Read the batches that the controller has added to the file, and return this object."""
        for segment in sorted((self.directory / DIRECTORY).glob("*.log"))[:1]:
            with segment.open("rb") as file:
                file.seek(self._read)
                new = file.read()
            for batch in batches(new):
                self._read += len(batch.data)
                self._apply(batch)
        return self

    def partition(self, topic: str) -> TopicPartition | None:
        """Return partition 0 of a topic, or None if the topic does not exist."""
        known = self.topics.get(topic)
        return None if known is None else self.partitions.get(known)

    def _apply(self, batch: Batch) -> None:
        self.end = batch.offset + 1
        if batch.is_control:
            return
        said: list[tuple[str, bool]] = []
        for offset, value in batch.records():
            self.end = offset + 1
            said.extend(self._record(value))
        if said:
            opens_epoch = any(opens for _, opens in said)
            self.decisions.append(MetadataBatch(batch.offset, opens_epoch, "; ".join(what for what, _ in said)))

    def _record(self, value: bytes) -> Iterator[tuple[str, bool]]:
        """Apply a metadata record. Yields a text for each change, and whether this change opens a leader epoch."""
        key, version, data = _opened(value)
        definition = self.definitions.get(key)
        apply = _APPLY.get(definition.name) if definition else None
        if definition is not None and apply is not None:
            yield from apply(self, definition.decode(data, version))

    def _topic(self, record: dict[str, Any]) -> Iterator[tuple[str, bool]]:
        self.topics[record["Name"]] = record["TopicId"]
        return iter(())

    def _removed(self, record: dict[str, Any]) -> Iterator[tuple[str, bool]]:
        self.partitions.pop(record["TopicId"], None)
        self.topics = {name: topic for name, topic in self.topics.items() if topic != record["TopicId"]}
        return iter(())

    def _partition(self, record: dict[str, Any]) -> Iterator[tuple[str, bool]]:
        if record["PartitionId"] == 0:
            self.partitions[record["TopicId"]] = TopicPartition(
                record["TopicId"],
                record["Leader"],
                record["LeaderEpoch"],
                tuple(record["Isr"]),
                tuple(record["Replicas"]),
            )
        return iter(())

    def _changed(self, record: dict[str, Any]) -> Iterator[tuple[str, bool]]:
        """Apply a PartitionChangeRecord, as PartitionRegistration.merge does.

        A change that names a leader opens a new epoch, even if that replica led the last epoch.
        """
        partition = self.partitions.get(record["TopicId"])
        if partition is None or record["PartitionId"] != 0:
            return
        if record["Isr"] is not None:
            partition.isr = tuple(record["Isr"])
        if record["Replicas"] is not None:
            partition.replicas = tuple(record["Replicas"])
        opens_epoch = record["Leader"] != _NO_CHANGE
        if opens_epoch:
            partition.leader = record["Leader"]
            partition.epoch += 1
        if partition is self.partition(self.watched):
            yield f"leader {partition.leader} epoch {partition.epoch} ISR {list(partition.isr)}", opens_epoch

    def _registered(self, record: dict[str, Any]) -> Iterator[tuple[str, bool]]:
        broker = record["BrokerId"]
        self.fenced[broker] = record["Fenced"]
        self.registrations[broker] = record["BrokerEpoch"]
        yield f"broker {broker} registers", False

    def _registration_changed(self, record: dict[str, Any]) -> Iterator[tuple[str, bool]]:
        broker = record["BrokerId"]
        if record["Fenced"] in (_FENCED, _UNFENCED):
            self.fenced[broker] = record["Fenced"] == _FENCED
            yield f"broker {broker} is {'fenced' if self.fenced[broker] else 'unfenced'}", False
        elif record["InControlledShutdown"]:
            yield f"broker {broker} is shutting down", False


_APPLY = {
    "TopicRecord": ControllerLog._topic,
    "RemoveTopicRecord": ControllerLog._removed,
    "PartitionRecord": ControllerLog._partition,
    "PartitionChangeRecord": ControllerLog._changed,
    "RegisterBrokerRecord": ControllerLog._registered,
    "BrokerRegistrationChangeRecord": ControllerLog._registration_changed,
}


def _opened(value: bytes) -> tuple[int, int, bytes]:
    """Return the record type, the version and the encoded fields of a metadata record. Skips the frame version."""
    fields = Bytes(value)
    _, key, version = (fields.unsigned() for _ in range(3))
    return key, version, fields.take(fields.rest)
