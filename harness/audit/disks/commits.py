"""__consumer_offsets: the positions that consumers committed, with the leader epoch of the last record that they read.

Audit reads all commits that compaction has left, not only the last commit of each group. After a loss, a consumer
commits a lower position, and the earlier commit is the evidence of the loss.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from epochfuzz.harness.audit.disks.files import Unreadable
from epochfuzz.harness.audit.disks.found import LocatedReplica
from epochfuzz.harness.audit.disks.records import batches, is_control, is_intact, records
from epochfuzz.harness.audit.disks.segments import Damage, bounded
from epochfuzz.harness.cluster.record_format.batches import StoredRecord
from epochfuzz.harness.cluster.record_format.fields import Bytes, MalformedBytes

_OFFSET_COMMIT_KEYS = (0, 1)  # GroupMetadataManager; 2 is a group itself
_FIRST_WITH_EPOCH, _FIRST_FLEXIBLE, _NEWEST = 3, 4, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A position that a group committed for a partition, and the place of the commit in a file."""

    group: str
    topic: str
    partition: int
    position: int
    leader_epoch: int  # of the last record that was read, -1 if the commit does not contain it
    time: int
    file: str
    byte: int  # or the line of a dump
    broker: int | None  # the owner of the disk
    is_text: bool = False  # the file is a dump


@dataclass
class Commits:
    """The greatest committed position per partition and leader epoch, in a copy of a __consumer_offsets partition."""

    greatest: dict[tuple[str, int, int], Commit] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, commit: Commit) -> None:
        """Add a commit if its position is the greatest for its partition and leader epoch."""
        key = commit.topic, commit.partition, commit.leader_epoch
        known = self.greatest.get(key)
        if known is None or commit.position > known.position:
            self.greatest[key] = commit


def commits_of(where: LocatedReplica, broker: int | None, topics: Iterable[tuple[str, int]]) -> Commits:
    """Read the commits for the partitions in `topics` from a copy of a __consumer_offsets partition."""
    found, wanted = Commits(), frozenset(topics)
    for file in where.segments:
        try:
            for batch, data in batches(file):
                if is_control(batch):
                    continue
                try:
                    read = [_commit(each, (file, batch.position, broker)) for each in records(batch, data)]
                except MalformedBytes as error:
                    found.problems.append(f"{file}, byte {batch.position:,}: {error}")
                    break
                for each in read:
                    if each is not None and (each.topic, each.partition) in wanted:
                        found.add(each)
        except (Damage, Unreadable) as error:
            found.problems.append(f"{file}: {error}")
    return found


def still_stands(commit: Commit) -> bool:
    """Return whether the batch of a commit has the right checksum. Only commits that show a loss need this check.

    Returns True for a commit from a dump, which does not contain the batch.
    """
    if commit.is_text:
        return True
    try:
        for batch, data in batches(commit.file):
            if batch.position == commit.byte:
                return is_intact(batch, data)
    except (Damage, Unreadable):
        pass
    return False


def _commit(record: StoredRecord, place: tuple[str, int, int | None]) -> Commit | None:
    """Return the commit in a record, or None for tombstones and group metadata. Raises MalformedBytes."""
    if record.key is None or record.value is None:
        return None
    key, value = Bytes(record.key), Bytes(record.value)
    if key.number(2) not in _OFFSET_COMMIT_KEYS:
        return None
    file, byte, broker = place
    group, topic, partition = _string(key), _string(key), key.number(4)
    version = value.number(2)
    if not 0 <= version <= _NEWEST:
        return None
    position = value.number(8)
    epoch = value.number(4) if version >= _FIRST_WITH_EPOCH else -1
    value.take(value.unsigned() - 1 if version >= _FIRST_FLEXIBLE else value.number(2))  # the consumer's own metadata
    time = value.number(8)
    return Commit(
        group=group,
        topic=topic,
        partition=partition,
        position=position,
        leader_epoch=epoch,
        time=bounded(time),
        file=file,
        byte=byte,
        broker=broker,
    )


def _string(key: Bytes) -> str:
    return key.take(key.number(2)).decode(errors="replace")
