"""Find data directories among the paths that an operator names, and the replicas in these directories."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from epochfuzz.harness.audit.disks import checkpoints, segments
from epochfuzz.harness.audit.disks.files import DirectoryEntry, Unreadable, changed, entries, has, opened, size_of

METADATA = "__cluster_metadata"
OFFSETS = "__consumer_offsets"

_PARTITION = re.compile(r"([A-Za-z0-9._-]{1,249})-([0-9]{1,10})")
_MOST_PARTITION = 2**31 - 1
# LogManager's names of a partition that was deleted, or that the controller does not know on this broker.
_SET_ASIDE = re.compile(r"[A-Za-z0-9._-]{1,249}-[0-9]{1,10}\.[0-9a-f]{32}-(?:delete|stray)")
_DUMP = b"Dumping "  # the first line of DumpLogSegments
_DEEPEST = 12  # levels of directories below a named path


@dataclass(frozen=True)
class LocatedReplica:
    """A partition's directory, and the files of its segments."""

    path: str
    topic: str
    partition: int
    segments: tuple[str, ...]


@dataclass
class LocatedDirectory:
    """A data directory with its replicas and dumps. `left_out` lists the paths that were not read, and the reasons."""

    path: str
    replicas: list[LocatedReplica] = field(default_factory=list)
    dumps: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def is_data_directory(path: str) -> bool:
    """Return whether a path is a data directory of a broker (one of log.dirs), or a copy of one."""
    if has(path, checkpoints.META) or has(path, checkpoints.HIGH_WATERMARKS):
        return True
    return any(entry.is_directory and _is_replica(entry.path, entry.name) for entry in _entries(path))


def is_dump(path: str) -> bool:
    """Return whether a file is the output of kafka-dump-log.sh."""
    if not os.path.isfile(path):
        return False  # reading from a pipe here would take data from the reader of logs
    try:
        with opened(path) as descriptor:
            return os.pread(descriptor, len(_DUMP), 0) == _DUMP
    except Unreadable:
        return False


def disks_among(paths: Iterable[str]) -> list[str]:
    """Return the data directories and the dumps among paths and below them.

    Links below the paths are not followed. A dump in a data directory is part of the directory, and not in the result.
    """
    return list(dict.fromkeys(found for path in paths for found in _below(path, 0)))


def _below(path: str, depth: int) -> Iterator[str]:
    if "://" in path:
        return
    if not os.path.isdir(path):
        if is_dump(path):
            yield path
        return
    if is_data_directory(path) or _is_replica(path, os.path.basename(os.path.abspath(path))):
        yield path
    elif depth < _DEEPEST:
        for entry in _entries(path):
            if entry.is_directory or entry.is_file:
                yield from _below(entry.path, depth + 1)


def located(path: str) -> LocatedDirectory:
    """Return the replicas and dumps of a data directory. `path` may also be a partition's directory, or a dump."""
    found = LocatedDirectory(path)
    if is_dump(path):
        found.dumps.append(path)
        return found
    alone = os.path.basename(os.path.abspath(path))
    if not is_data_directory(path) and _is_replica(path, alone):
        _add(found, path, alone)
        return found
    try:
        inside = entries(path)
    except Unreadable as error:
        found.left_out.append(f"{path}: {error}")
        return found
    for entry in inside:
        if entry.is_directory and partition_of(entry.name) is not None:
            _add(found, entry.path, entry.name)
        elif entry.is_directory and _SET_ASIDE.fullmatch(entry.name):
            found.left_out.append(
                f"{entry.path} was set aside by the broker, and was not compared. If its topic was not deleted, copy it"
                " to a directory with the name of its partition, and audit that directory with the others"
            )
        elif entry.is_file and is_dump(entry.path):
            found.dumps.append(entry.path)
        elif not entry.is_directory and not entry.is_file:
            found.left_out.append(
                f"{entry.path} is a link or a special file, so audit did not read it; name its target"
            )
    return found


def state_of(paths: Iterable[str]) -> str:
    """Return a digest of the sizes and times of all segments at the paths, or an empty text if there are none."""
    replicas = (replica for path in paths for replica in located(path).replicas)
    files = sorted(file for replica in replicas for file in replica.segments)
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file} {size_of(file)} {changed(file)}\n".encode(errors="surrogateescape"))
    return digest.hexdigest() if files else ""


def _add(found: LocatedDirectory, path: str, name: str) -> None:
    named = partition_of(name)
    assert named is not None
    try:
        inside = entries(path)
    except Unreadable as error:
        found.left_out.append(f"{path}: {error}")
        return
    logs = [entry for entry in inside if segments.NAME.fullmatch(entry.name)]
    for entry in logs:
        if not entry.is_file:
            found.left_out.append(f"{entry.path} is not a regular file, so audit did not read it")
    files = tuple(entry.path for entry in logs if entry.is_file)
    found.replicas.append(LocatedReplica(path, *named, files))


def partition_of(name: str) -> tuple[str, int] | None:
    """Return the topic and partition in a directory's name, or None if the name has another form.

    Kafka names the directories of deleted, moved and stray partitions topic-partition.ID-delete, -future and -stray
    (LogManager).
    """
    match = _PARTITION.fullmatch(name)
    if match is None or int(match[2]) > _MOST_PARTITION:
        return None
    return match[1], int(match[2])


def _is_replica(path: str, name: str) -> bool:
    if partition_of(name) is None:
        return False
    marks = {checkpoints.EPOCHS, checkpoints.TOPIC_ID}
    return any(entry.name in marks or segments.NAME.fullmatch(entry.name) for entry in _entries(path))


def _entries(path: str) -> list[DirectoryEntry]:
    try:
        return entries(path)
    except Unreadable:
        return []
