"""Read __cluster_metadata-0: the leader and the ISR of each partition over time, and its unclean elections.

Only the fields of six record types are decoded (metadata/src/main/resources/common/metadata/*.json, all versions).
"""

import base64
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from epochfuzz.harness.audit.disks.files import Unreadable, entries
from epochfuzz.harness.audit.disks.found import LocatedReplica
from epochfuzz.harness.audit.disks.records import batches, is_control, is_intact, records
from epochfuzz.harness.audit.disks.segments import BatchHeader, Damage
from epochfuzz.harness.cluster.record_format.fields import Bytes, MalformedBytes

NOBODY = -1

_SNAPSHOT = re.compile(r"([0-9]{20})-[0-9]{10}\.checkpoint")
_NO_CHANGE = -2  # of the leader
_TOPIC, _PARTITION, _CONFIG, _PARTITION_CHANGE, _REMOVE_TOPIC, _FEATURE = 2, 3, 4, 5, 9, 12
_RECOVERING = 1
_ELR_FEATURE = "eligible.leader.replicas.version"
_FRAME_VERSION = 1  # MetadataRecordSerde
_MOST_MEMBERS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionState:
    """The state of a partition after a record of the metadata log, and the place of that record."""

    leader: int
    epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    eligible: tuple[int, ...]  # ELR (KIP-966)
    last_known: tuple[int, ...]
    file: str
    position: int
    offset: int
    time: int


@dataclass
class PartitionHistory:
    """One partition in the metadata log: its state at the end, and its unclean elections."""

    state: PartitionState
    unclean: list[tuple[PartitionState, PartitionState]] = field(default_factory=list)  # states just before and after
    uses_eligible: bool = False
    leaders: dict[int, int] = field(default_factory=dict)  # by leader epoch
    alone: dict[int, int] = field(default_factory=dict)  # by epoch: its leader, if alone in the ISR at its end


@dataclass(kw_only=True)
class MetadataLog:
    """One copy of the metadata log. `is_whole` is True if it was read from the cluster's first record to its end."""

    path: str
    broker: int | None
    is_whole: bool = True
    is_text: bool = False  # the file is a dump
    ends: int = 0
    names: dict[str, str] = field(default_factory=dict)  # by topic id, including deleted topics
    partitions: dict[tuple[str, int], PartitionHistory] = field(default_factory=dict)
    has_eligible: bool = False  # eligible.leader.replicas.version is 1 or more
    least_in_sync: dict[str, int] = field(default_factory=dict)  # min.insync.replicas by topic; "" for the cluster
    problems: list[str] = field(default_factory=list)

    def ids_of(self, topic: str) -> set[str]:
        """Return all topic ids that a topic name has had."""
        return {topic_id for topic_id, name in self.names.items() if name == topic}

    def least_in_sync_of(self, topic: str) -> int:
        """Return min.insync.replicas of a topic."""
        return self.least_in_sync.get(topic, self.least_in_sync.get("", 1))


def metadata_log(where: LocatedReplica, broker: int | None) -> MetadataLog:
    """Read a copy of the metadata log. If its first records were deleted, read a snapshot before the other records."""
    log = MetadataLog(path=where.path, broker=broker)
    first = int(os.path.basename(where.segments[0])[:20]) if where.segments else 0
    if first > 0 or not where.segments:
        log.is_whole = False
        log.ends = _from_snapshot(log, where.path, first)
    for segment in where.segments:
        for batch, data in _batches(log, segment):
            if batch.base > log.ends:
                forget(log, f"{segment}: offsets {log.ends:,} to {batch.base - 1:,} are missing")
            if batch.last >= log.ends:
                log.ends = batch.last + 1
                _read(log, segment, batch, data)
    return log


def _batches(log: MetadataLog, file: str) -> Iterator[tuple[BatchHeader, bytes]]:
    try:
        yield from batches(file)
    except (Damage, Unreadable) as error:
        forget(log, f"{file}: {error}")


def forget(log: MetadataLog, problem: str) -> None:
    """Note a problem, and forget the states of all partitions, because missing records may have changed them."""
    log.problems.append(problem)
    log.is_whole = False
    log.partitions.clear()


def _from_snapshot(log: MetadataLog, path: str, first: int) -> int:
    """Read the earliest snapshot that ends at offset `first` (the start of the log) or later.

    Returns the end offset of this snapshot, or `first` if no snapshot is found.
    """
    try:
        found = {int(match[1]): entry for entry in entries(path) if (match := _SNAPSHOT.fullmatch(entry.name))}
    except Unreadable as error:
        log.problems.append(f"{path}: {error}")
        return first
    usable = sorted(end for end, entry in found.items() if end >= first and entry.is_file)
    if not usable:
        log.problems.append(f"{path}: begins at offset {first:,}, and has no snapshot from there")
        return first
    file = found[usable[0]].path
    for batch, data in _batches(log, file):
        _read(log, file, batch, data)
    return usable[0]


def _read(log: MetadataLog, file: str, batch: BatchHeader, data: bytes) -> None:
    if is_control(batch):
        return
    if not is_intact(batch, data):
        forget(log, f"{file}, byte {batch.position:,}: a batch has the wrong checksum")
        return
    try:
        for record in records(batch, data):
            if record.value is not None:
                _apply(log, Bytes(record.value), (file, batch.position, record.offset, batch.time))
    except MalformedBytes as error:
        forget(log, f"{file}, byte {batch.position:,}: a record cannot be read: {error}")


Place = tuple[str, int, int, int]  # file, byte or line, offset, time


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionChange:
    """The fields of a PartitionRecord or PartitionChangeRecord. A field that does not change is None."""

    topic_id: str
    partition: int
    leader: int | None = None
    isr: tuple[int, ...] | None = None
    replicas: tuple[int, ...] | None = None
    eligible: tuple[int, ...] | None = None
    last_known: tuple[int, ...] | None = None
    is_recovering: bool = False  # LeaderRecoveryState (KIP-704): true after an unclean election


def _apply(log: MetadataLog, value: Bytes, place: Place) -> None:
    if value.unsigned() != _FRAME_VERSION:
        raise MalformedBytes("the frame of the record has an unknown version")
    key, version = value.unsigned(), value.unsigned()
    if key == _TOPIC:
        name = _string(value)
        log.names[_uuid(value)] = name
    elif key == _PARTITION:
        _partition(log, value, version, place)
    elif key == _PARTITION_CHANGE:
        apply_change(log, _change(value), place)
    elif key == _REMOVE_TOPIC:
        apply_removal(log, _uuid(value))
    elif key == _FEATURE:
        apply_feature(log, _string(value), value.number(2))
    elif key == _CONFIG:
        apply_config(log, value.number(1), _string(value), _string(value), _nullable_string(value))


def _partition(log: MetadataLog, value: Bytes, version: int, place: Place) -> None:
    number, topic_id = value.number(4), _uuid(value)
    replicas, isr = _members(value) or (), _members(value) or ()
    _members(value)  # those to remove
    _members(value)  # those to add
    leader, epoch, partition_epoch = value.number(4), value.number(4), value.number(4)
    if version >= 1:
        value.take(16 * max(value.unsigned() - 1, 0))  # directories
    tags = _tags(value)
    change = PartitionChange(
        topic_id=topic_id,
        partition=number,
        leader=leader,
        isr=isr,
        replicas=replicas,
        eligible=_tagged_members(tags, 1),
        last_known=_tagged_members(tags, 2),
    )
    apply_partition(log, change, epoch, partition_epoch, place)


def _change(value: Bytes) -> PartitionChange:
    number, topic_id = value.number(4), _uuid(value)
    tags = _tags(value)
    leader = Bytes(tags[1]).number(4) if 1 in tags else _NO_CHANGE
    return PartitionChange(
        topic_id=topic_id,
        partition=number,
        leader=None if leader == _NO_CHANGE else leader,
        isr=_tagged_members(tags, 0),
        replicas=_tagged_members(tags, 2),
        eligible=_tagged_members(tags, 6),
        last_known=_tagged_members(tags, 7),
        is_recovering=5 in tags and Bytes(tags[5]).number(1) == _RECOVERING,
    )


def _fields(place: Place) -> dict[str, Any]:
    """Return the fields of PartitionState that name a place."""
    return dict(zip(("file", "position", "offset", "time"), place, strict=True))


def apply_partition(log: MetadataLog, new: PartitionChange, epoch: int, partition_epoch: int, place: Place) -> None:
    """Apply a PartitionRecord, which describes a new partition or comes from a snapshot."""
    leader = NOBODY if new.leader is None else new.leader
    eligible, last_known = new.eligible or (), new.last_known or ()
    state = PartitionState(
        leader=leader,
        epoch=epoch,
        partition_epoch=partition_epoch,
        isr=new.isr or (),
        replicas=new.replicas or (),
        eligible=eligible,
        last_known=last_known,
        **_fields(place),
    )
    history = PartitionHistory(state, uses_eligible=bool(eligible or last_known), leaders={epoch: leader})
    log.partitions[new.topic_id, new.partition] = history


def apply_change(log: MetadataLog, change: PartitionChange, place: Place) -> None:
    """Apply a change as PartitionRegistration.merge does: a change with a leader starts a new leader epoch."""
    history = log.partitions.get((change.topic_id, change.partition))
    if history is None:
        return
    before, leader = history.state, change.leader
    after = PartitionState(
        leader=before.leader if leader is None else leader,
        epoch=before.epoch if leader is None else before.epoch + 1,
        partition_epoch=before.partition_epoch + 1,
        isr=before.isr if change.isr is None else change.isr,
        replicas=before.replicas if change.replicas is None else change.replicas,
        eligible=before.eligible if change.eligible is None else change.eligible,
        last_known=before.last_known if change.last_known is None else change.last_known,
        **_fields(place),
    )
    history.uses_eligible = history.uses_eligible or bool(after.eligible or after.last_known)
    if after.epoch > before.epoch and before.leader != NOBODY and before.isr == (before.leader,):
        history.alone[before.epoch] = before.leader
    if leader is not None and leader >= 0 and _is_unclean(before, after, change):
        history.unclean.append((before, after))
    history.leaders[after.epoch] = after.leader
    history.state = after


def _is_unclean(before: PartitionState, after: PartitionState, change: PartitionChange) -> bool:
    """Return whether a change elects a broker that was neither in the ISR nor in the ELR.

    A change that completes a reassignment may add a broker to the ISR and elect it at once. Such an election is clean
    (PartitionReassignmentReplicas.maybeCompleteReassignment). Before KIP-704, no field marks an election as unclean.
    """
    if after.leader in before.isr or after.leader in before.eligible:
        return False
    return change.is_recovering or (change.replicas is None and after.isr == (after.leader,))


def apply_removal(log: MetadataLog, topic_id: str) -> None:
    """Apply a RemoveTopicRecord."""
    for each in [each for each in log.partitions if each[0] == topic_id]:
        del log.partitions[each]


def apply_feature(log: MetadataLog, name: str, level: int) -> None:
    """Apply a FeatureLevelRecord."""
    if name == _ELR_FEATURE:
        log.has_eligible = level > 0


def apply_config(log: MetadataLog, kind: int, resource: str, name: str, setting: str | None) -> None:
    """Apply a ConfigRecord if it sets min.insync.replicas of a topic or of the cluster.

    A topic has ConfigResource type 2. The cluster has type 4, without a name.
    """
    if name != "min.insync.replicas" or not (kind == 2 or (kind == 4 and not resource)):
        return
    if setting is not None and setting.isdecimal() and len(setting) < 6:
        log.least_in_sync[resource] = int(setting)
    else:
        log.least_in_sync.pop(resource, None)


def _uuid(value: Bytes) -> str:
    return base64.urlsafe_b64encode(value.take(16)).decode().rstrip("=")


def _string(value: Bytes) -> str:
    return value.take(value.unsigned() - 1).decode(errors="replace")


def _nullable_string(value: Bytes) -> str | None:
    size = value.unsigned()
    return None if size == 0 else value.take(size - 1).decode(errors="replace")


def _members(value: Bytes) -> tuple[int, ...] | None:
    """Return the broker ids in a compact array, or None for a null array."""
    size = value.unsigned() - 1
    if size < 0:
        return None
    if size > _MOST_MEMBERS:
        raise MalformedBytes(f"{size} replicas of one partition")
    return tuple(value.number(4) for _ in range(size))


def _tags(value: Bytes) -> dict[int, bytes]:
    """Return the tagged fields of a record."""
    count = value.unsigned()
    if count > _MOST_MEMBERS:
        raise MalformedBytes(f"{count} tagged fields")
    found = {}
    for _ in range(count):
        tag = value.unsigned()
        found[tag] = value.take(value.unsigned())
    return found


def _tagged_members(tags: dict[int, bytes], tag: int) -> tuple[int, ...] | None:
    return _members(Bytes(tags[tag])) if tag in tags else None
