"""Read the records of a replica from its segment files, while the broker writes them.

Supports message format 2 (KIP-98), uncompressed, see https://kafka.apache.org/documentation/#recordbatch.
DumpLogSegments reads the same files, but takes a second to start. In one second, a follower often truncates records and
fetches them again.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from epochfuzz.harness.documents.cluster_records import Record

# baseOffset, batchLength, partitionLeaderEpoch, magic, crc, attributes, lastOffsetDelta, baseTimestamp, maxTimestamp,
# producerId, producerEpoch, baseSequence, records
_BATCH = struct.Struct(">qiibIhiqqqhii")
_BEFORE_LENGTH_COUNTS = 12  # bytes of baseOffset and batchLength, which batchLength does not count
_CONTROL = 0x20


@dataclass(frozen=True)
class Batch:
    """A record batch: its base offset, its leader epoch, and its bytes including the header.

    A control batch has no records of clients.
    """

    offset: int
    epoch: int
    is_control: bool
    data: bytes

    def records(self) -> list[tuple[int, int]]:
        """Return a pair for each record: its offset, and the position in `data` after the record's length field."""
        *_, count = _BATCH.unpack_from(self.data)
        found, at = [], _BATCH.size
        for _ in range(count):
            size, body = _varint(self.data, at)
            found.append((self.offset + _offset_delta(self.data, body), body))
            at = body + size
        return found

    def values(self) -> list[bytes]:
        """Return the values of the records, in the order of their offsets."""
        return [_value(self.data, at) for _, at in self.records()]


def records(directory: Path) -> list[Record]:
    """Return the records in a partition's data directory. Empty if the directory doesn't exist yet."""
    found: list[Record] = []
    for segment in sorted(directory.glob("*.log")):
        for batch in batches(segment.read_bytes()):
            if not batch.is_control:
                found.extend(
                    Record(offset, batch.epoch, _value(batch.data, at).decode(errors="replace"))
                    for offset, at in batch.records()
                )
    return found


def batches(data: bytes) -> Iterator[Batch]:
    """Yield the complete batches in the bytes of a segment file."""
    at = 0
    while at + _BATCH.size <= len(data):
        base, length, epoch, _, _, attributes, *_ = _BATCH.unpack_from(data, at)
        end = at + _BEFORE_LENGTH_COUNTS + length
        if end > len(data) or length <= 0:
            return  # still being written
        yield Batch(base, epoch, bool(attributes & _CONTROL), data[at:end])
        at = end


def _offset_delta(data: bytes, at: int) -> int:
    """Return a record's offset relative to its batch. `at` is the position after the record's length field.

    A record has, in this order, the fields attributes, timestampDelta, offsetDelta, key, value and headers.
    """
    _, at = _varint(data, at + 1)
    return _varint(data, at)[0]


def _value(data: bytes, at: int) -> bytes:
    _, at = _varint(data, at + 1)
    _, at = _varint(data, at)
    size, at = _varint(data, at)
    at += max(size, 0)  # -1 stands for no key
    size, at = _varint(data, at)
    return data[at : at + max(size, 0)]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the zigzag-encoded number at a position, and the position after it."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return (number >> 1) ^ -(number & 1), at
