"""Read the output of kafka-dump-log.sh: headers of batches, and records of metadata and of consumers' positions.

DumpLogSegments prints `Dumping FILE` and then a line for each batch. With --cluster-metadata-decoder (since 3.0) and
--offsets-decoder (since 3.9), a line for each record follows, with a payload in JSON. A dump does not contain the bytes
that a checksum covers, so audit relies on the field `isvalid`.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from epochfuzz.harness.audit.disks import segments
from epochfuzz.harness.audit.disks.commits import Commit, Commits
from epochfuzz.harness.audit.disks.files import Unreadable, opened
from epochfuzz.harness.audit.disks.found import METADATA, LocatedReplica, partition_of
from epochfuzz.harness.audit.disks.metadata_log import (
    MetadataLog,
    PartitionChange,
    Place,
    apply_change,
    apply_config,
    apply_feature,
    apply_partition,
    apply_removal,
    forget,
)
from epochfuzz.harness.audit.disks.segments import BatchHeader, Damage, Segment, collected

_LONGEST = 1 << 20  # bytes of a line
_N = r"(-?[0-9]{1,19})"
_BATCH = re.compile(
    rf"baseOffset: {_N} lastOffset: {_N} count: {_N} baseSequence: {_N} lastSequence: {_N} producerId: {_N}"
    rf" producerEpoch: {_N} partitionLeaderEpoch: {_N} isTransactional: (?:true|false) isControl: (?:true|false)"
    rf"(?: deleteHorizonMs: [^ ]{{1,40}})? position: {_N} [A-Za-z]{{1,20}}: {_N} size: {_N} magic: {_N}"
    rf" compresscodec: [^ ]{{1,20}} crc: {_N} isvalid: (true|false)"
)
_RECORD = re.compile(rf"\| offset: {_N} [A-Za-z]{{1,20}}: {_N} ")
_KEY, _PAYLOAD = " key: ", " payload: "


@dataclass
class Dumped:
    """The content of one dump: replicas with their segments, copies of the metadata log, and committed positions."""

    replicas: list[tuple[LocatedReplica, list[Segment]]] = field(default_factory=list)
    metadata: list[MetadataLog] = field(default_factory=list)
    commits: Commits = field(default_factory=Commits)
    problems: list[str] = field(default_factory=list)


@dataclass
class _Section:
    """The lines of a dump about one file."""

    path: str  # as in the dump; audit does not read this path
    lines: list[tuple[int, str]] = field(default_factory=list)


def dumped(file: str, broker: int | None) -> Dumped:
    """Read a dump of segments from a broker's disk. `broker` is the broker's id, None if unknown."""
    found = Dumped()
    by_replica: dict[str, list[Segment]] = {}
    logs: dict[str, MetadataLog] = {}
    try:
        for section in _sections(file):
            directory, _, name = section.path.replace("\\", "/").rpartition("/")
            named = partition_of(directory.rpartition("/")[2])
            if named is None or not segments.NAME.fullmatch(name):
                found.problems.append(
                    f"{file}: {section.path[:200]} is not a segment of a partition, so audit left it out"
                )
                continue
            place = f"{file} ({directory})"
            if named[0] == METADATA:
                log = logs.setdefault(directory, MetadataLog(path=place, broker=broker, is_text=True))
                _read_metadata(log, file, section)
                continue
            segment = collected(file, int(name[:20]), 0, _batches(section))
            if directory not in by_replica:
                by_replica[directory] = []
                found.replicas.append((LocatedReplica(place, *named, ()), by_replica[directory]))
            by_replica[directory].append(segment)
            for each in _commits(section, file, broker):
                found.commits.add(each)
    except Unreadable as error:
        found.problems.append(f"{file}: {error}")
    for own in by_replica.values():
        own.sort(key=lambda segment: segment.base)
    found.metadata += logs.values()
    return found


def _sections(file: str) -> Iterator[_Section]:
    """Yield the sections of a dump. Each section has the lines about one dumped file."""
    section: _Section | None = None
    with opened(file) as descriptor, os.fdopen(os.dup(descriptor), "rb") as text:
        number = 0
        while raw := text.readline(_LONGEST):
            number += 1
            if not raw.endswith(b"\n") and len(raw) == _LONGEST:
                raise Unreadable(f"line {number} is longer than {_LONGEST >> 20} MiB")
            line = raw.decode(errors="replace").rstrip("\r\n")
            if line.startswith("Dumping "):
                if section is not None:
                    yield section
                section = _Section(line.removeprefix("Dumping "))
            elif section is not None and line.startswith(("baseOffset: ", "| offset: ")):
                section.lines.append((number, line))
    if section is not None:
        yield section


def _batches(section: _Section) -> Iterator[BatchHeader]:
    """Yield the batches of a section. The position of a batch is its line in the dump. Raises Damage."""
    least_offset = least_epoch = 0
    for number, line in section.lines:
        if line.startswith("|"):
            continue
        match = _BATCH.fullmatch(line)
        if match is None:
            raise Damage(number, "the line does not describe a whole batch", unit="line")
        base, last, count, sequence, _, producer, term, epoch, _, time, size, magic, crc = map(int, match.groups()[:-1])
        crc, time = crc & 0xFFFFFFFF, segments.bounded(time)
        is_possible = magic == 2 and last >= base >= least_offset and epoch >= least_epoch and last < 1 << 62
        if match[match.lastindex or 0] != "true" or not is_possible:
            raise Damage(number, "a batch is not valid, or does not continue the previous batch", unit="line")
        yield BatchHeader(
            position=number,
            base=base,
            last=last,
            epoch=epoch,
            size=size,
            crc=crc,
            attributes=0,
            time=time,
            producer=producer,
            producer_epoch=term,
            sequence=sequence,
            records=count,
        )
        least_offset, least_epoch = last + 1, epoch


def _payloads(section: _Section) -> Iterator[tuple[int, int, int, Any, Any]]:
    """Yield the line number, offset, time, key and payload of each record that has a payload."""
    for number, line in section.lines:
        match = _RECORD.match(line)
        if match is None or _PAYLOAD not in line:
            continue
        head, _, payload = line.partition(_PAYLOAD)
        key = head.partition(_KEY)[2]
        yield number, int(match[1]), segments.bounded(int(match[2])), _parsed(key), _parsed(payload)


def _parsed(text: str) -> Any:
    """Return the value of a JSON text, or None if the text is not JSON."""
    try:
        return json.loads(text, parse_int=_int)
    except (ValueError, RecursionError):
        return None


def _int(text: str) -> int:
    if len(text) > 20:
        raise ValueError("a number is too long")
    return int(text)


def _read_metadata(log: MetadataLog, file: str, section: _Section) -> None:
    first: int | None = None
    try:
        for batch in _batches(section):
            first = batch.base if first is None else first
            if batch.base > log.ends:
                forget(log, f"{file}: offsets {log.ends:,} to {batch.base - 1:,} of the metadata log are missing")
            log.ends = batch.last + 1
    except Damage as error:
        forget(log, f"{file}: {error}")
        return
    payloads = list(_payloads(section))
    if not payloads and first is not None:
        forget(log, f"{file}: the dump has no metadata records; dump the log with --cluster-metadata-decoder")
    for number, offset, time, _, payload in payloads:
        try:
            _apply(log, str(payload["type"]), payload["data"], (file, number, offset, time))
        except (KeyError, TypeError, ValueError, AttributeError):
            forget(log, f"{file}, line {number}: a metadata record cannot be read")


def _apply(log: MetadataLog, kind: str, data: dict[str, Any], place: Place) -> None:
    match kind:
        case "TOPIC_RECORD":
            log.names[str(data["topicId"])] = str(data["name"])
        case "PARTITION_RECORD":
            apply_partition(log, _change(data), int(data["leaderEpoch"]), int(data["partitionEpoch"]), place)
        case "PARTITION_CHANGE_RECORD":
            apply_change(log, _change(data), place)
        case "REMOVE_TOPIC_RECORD":
            apply_removal(log, str(data["topicId"]))
        case "FEATURE_LEVEL_RECORD":
            apply_feature(log, str(data["name"]), int(data["featureLevel"]))
        case "CONFIG_RECORD":
            value = data.get("value")
            setting = None if value is None else str(value)
            apply_config(log, int(data["resourceType"]), str(data["resourceName"]), str(data["name"]), setting)


def _change(data: dict[str, Any]) -> PartitionChange:
    leader = data.get("leader")
    return PartitionChange(
        topic_id=str(data["topicId"]),
        partition=int(data["partitionId"]),
        leader=None if leader is None else int(leader),
        isr=_members(data.get("isr")),
        replicas=_members(data.get("replicas")),
        eligible=_members(data.get("eligibleLeaderReplicas")),
        last_known=_members(data.get("lastKnownElr")),
        is_recovering=data.get("leaderRecoveryState") == 1,
    )


def _members(listed: Any) -> tuple[int, ...] | None:
    return None if listed is None else tuple(int(each) for each in listed)


def _commits(section: _Section, file: str, broker: int | None) -> Iterator[Commit]:
    for number, _, _, key, payload in _payloads(section):
        try:
            own, value = key["data"], payload["data"]
            group, topic = str(own["group"]), str(own["topic"])
            position, epoch = int(value["offset"]), int(value.get("leaderEpoch", -1))
            time = segments.bounded(int(value["commitTimestamp"]))
            yield Commit(
                group=group,
                topic=topic,
                partition=int(own["partition"]),
                position=position,
                leader_epoch=epoch,
                time=time,
                file=file,
                byte=number,
                broker=broker,
                is_text=True,
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
