"""The small text files of a data directory: broker id, topic ids, leader epochs, high watermarks and other offsets.

These files have no checksum, so each line must have exactly Kafka's format.
"""

import os
import re
from dataclasses import dataclass, field

from epochfuzz.harness.audit.disks.files import Unreadable, changed, has, text_of

META = "meta.properties"
HIGH_WATERMARKS = "replication-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CLEANED = "cleaner-offset-checkpoint"
EPOCHS = "leader-epoch-checkpoint"
TOPIC_ID = "partition.metadata"
CLEAN_SHUTDOWN = (".kafka_cleanshutdown", ".kafka_cleanshutdown.json")  # LogLoader; the latter since KIP-966

_MOST_OFFSET = 2**63 - 1
_MOST_EPOCH = 2**31 - 1
_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_DIGITS = re.compile(r"[0-9]{1,19}")
_ZERO_ID = "A" * 22


@dataclass(frozen=True)
class EpochEntry:
    """The start offset of a leader epoch on a replica. `line` is the epoch's line in the checkpoint file, or None."""

    epoch: int
    start: int
    line: int | None = None


@dataclass(kw_only=True)
class LogDirectory:
    """The files of a data directory that concern all of its partitions."""

    path: str
    broker: int | None = None
    cluster: str | None = None
    high_watermarks: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)  # offset and line
    recovery_points: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    log_starts: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    cleaned: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    ended_cleanly: bool = False
    checkpointed: int = 0  # when the high watermarks were written, in milliseconds
    problems: list[str] = field(default_factory=list)


def directory_of(path: str) -> LogDirectory:
    """Read the files of a data directory that concern all of its partitions."""
    read = LogDirectory(path=path)
    _read_meta(read)
    for name, target in (
        (HIGH_WATERMARKS, read.high_watermarks),
        (RECOVERY_POINTS, read.recovery_points),
        (LOG_STARTS, read.log_starts),
        (CLEANED, read.cleaned),
    ):
        if has(path, name):
            try:
                target |= _offsets(text_of(os.path.join(path, name)))
            except Unreadable as error:
                read.problems.append(f"{os.path.join(path, name)}: {error}")
    read.ended_cleanly = any(has(path, name) for name in CLEAN_SHUTDOWN)
    read.checkpointed = changed(os.path.join(path, HIGH_WATERMARKS))
    return read


def _read_meta(read: LogDirectory) -> None:
    """Read the ids of the broker and of the cluster from meta.properties.

    The broker's id is broker.id in version 0 of the file, and node.id in version 1 (BrokerMetadataCheckpoint).
    """
    if not has(read.path, META):
        return
    file = os.path.join(read.path, META)
    try:
        lines = text_of(file).splitlines()
    except Unreadable as error:
        read.problems.append(f"{file}: {error}")
        return
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    values = {name.strip(): value.strip() for name, value in pairs}
    number = values.get("node.id", values.get("broker.id", ""))
    if _DIGITS.fullmatch(number) and int(number) <= _MOST_EPOCH:
        read.broker = int(number)
    else:
        read.problems.append(f"{file}: node.id or broker.id must be a number, but is missing or something else")
    cluster = values.get("cluster.id", "")
    read.cluster = cluster if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", cluster) else None


def _lines(text: str) -> list[list[str]]:
    """Return the fields of each entry in a checkpoint. Raises Unreadable for an invalid text, as CheckpointFile does.

    Line 1 is the version, 0. Line 2 is the number of entries, and each further line is an entry. An empty text is valid
    and has no entries, because a broker creates the file before its first entry.
    """
    if not text:
        return []
    version, _, rest = text.partition("\n")
    count, _, rest = rest.partition("\n")
    if version != "0":
        raise Unreadable("line 1 must be the version, 0")
    if not _DIGITS.fullmatch(count):
        raise Unreadable("line 2 must be the number of entries")
    lines = rest.split("\n")
    if lines[-1] != "" or len(lines) - 1 != int(count):
        raise Unreadable(f"line 2 promises {int(count):,} entries, but {len(lines) - 1:,} lines follow")
    return [line.split(" ") for line in lines[:-1]]


def _offsets(text: str) -> dict[tuple[str, int], tuple[int, int]]:
    found = {}
    for number, fields in enumerate(_lines(text), start=3):
        if len(fields) != 3 or not _TOPIC.fullmatch(fields[0]):
            raise Unreadable(f"line {number} must be a topic, a partition and an offset")
        key = fields[0], _number(fields[1], _MOST_EPOCH, number)
        if key in found:
            raise Unreadable(f"line {number} repeats {key[0]}-{key[1]}")
        found[key] = _number(fields[2], _MOST_OFFSET, number), number
    return found


def epochs_of(path: str) -> list[EpochEntry] | None:
    """Return the epochs in the checkpoint of a partition, or None if there is no checkpoint. Raises Unreadable."""
    if not has(path, EPOCHS):
        return None
    found: list[EpochEntry] = []
    for number, fields in enumerate(_lines(text_of(os.path.join(path, EPOCHS))), start=3):
        if len(fields) != 2:
            raise Unreadable(f"line {number} must be an epoch and an offset")
        entry = EpochEntry(_number(fields[0], _MOST_EPOCH, number), _number(fields[1], _MOST_OFFSET, number), number)
        if found and (entry.epoch <= found[-1].epoch or entry.start < found[-1].start):
            raise Unreadable(f"line {number} has a lower epoch or offset than the line before")
        found.append(entry)
    return found


def topic_id_of(path: str) -> str | None:
    """Return the topic id in a partition's directory, or None if the directory has no topic id. Raises Unreadable."""
    if not has(path, TOPIC_ID):
        return None
    match = re.fullmatch(r"version: 0\ntopic_id: (\S+)\n?", text_of(os.path.join(path, TOPIC_ID)))
    if match is None or not _ID.fullmatch(match[1]):
        raise Unreadable("the file must hold version 0 and a topic id")
    return None if match[1] == _ZERO_ID else match[1]


def _number(text: str, most: int, line: int) -> int:
    if not _DIGITS.fullmatch(text) or int(text) > most:
        raise Unreadable(f"line {line} must have a number from 0 to {most}; got {text[:40]!r}")
    return int(text)
