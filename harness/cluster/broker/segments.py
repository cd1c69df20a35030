"""The records of a replica, read from its files while the broker writes them.

Message format 2 (KIP-98), uncompressed, as https://kafka.apache.org/documentation/#recordbatch has it. DumpLogSegments
says the same; it takes a second to start, and a follower has what it has truncated again after one.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# baseOffset, batchLength, partitionLeaderEpoch, magic, crc, attributes, lastOffsetDelta, baseTimestamp, maxTimestamp,
# producerId, producerEpoch, baseSequence, records
_BATCH = struct.Struct(">qiibIhiqqqhii")
_BEFORE_LENGTH_COUNTS = 12  # bytes: baseOffset and batchLength itself
_CONTROL = 0x20


@dataclass(frozen=True)
class Record:
    """A record of a log."""

    offset: int
    epoch: int
    value: str


def records(directory: Path) -> list[Record]:
    """Return the records of a partition's directory; none if it is not there yet."""
    found: list[Record] = []
    for segment in sorted(directory.glob("*.log")):
        found.extend(_records(segment.read_bytes()))
    return found


def _records(data: bytes) -> Iterator[Record]:
    at = 0
    while at + _BATCH.size <= len(data):
        base, length, epoch, _, _, attributes, _, _, _, _, _, _, count = _BATCH.unpack_from(data, at)
        end = at + _BEFORE_LENGTH_COUNTS + length
        if end > len(data) or length <= 0:
            return  # still being written
        if not attributes & _CONTROL:
            position = at + _BATCH.size
            for _ in range(count):
                size, body = _varint(data, position)
                yield _record(data, body, base, epoch)
                position = body + size
        at = end


def _record(data: bytes, at: int, base: int, epoch: int) -> Record:
    """Return a record without its length: attributes, timestampDelta, offsetDelta, key, value, headers."""
    _, at = _varint(data, at + 1)
    delta, at = _varint(data, at)
    size, at = _varint(data, at)
    at += max(size, 0)  # -1 stands for no key
    size, at = _varint(data, at)
    return Record(base + delta, epoch, data[at : at + max(size, 0)].decode(errors="replace"))


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number in zigzag encoding, and where it ends."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return (number >> 1) ^ -(number & 1), at
