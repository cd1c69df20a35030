"""Batches of message format 2 (KIP-98): the header, the records and the checksum.

https://kafka.apache.org/documentation/#recordbatch describes the format.
"""

import struct
from dataclasses import dataclass

from epochfuzz.harness.cluster.record_format.fields import Bytes

# baseOffset, batchLength, partitionLeaderEpoch, magic, crc, attributes, lastOffsetDelta, baseTimestamp, maxTimestamp,
# producerId, producerEpoch, baseSequence, records
HEADER = struct.Struct(">qiibIhiqqqhii")
BEFORE_LENGTH_COUNTS = 12  # bytes: baseOffset and batchLength itself
CONTROL = 0x20  # the attribute of a batch with control records, such as commit markers, instead of records of clients


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record with its offset. A missing key or value is None."""

    offset: int
    key: bytes | None
    value: bytes | None


def records_in(payload: bytes, base: int, count: int) -> list[StoredRecord]:
    """Return the records of a batch. Raises MalformedBytes.

    `payload` has the uncompressed bytes after the header, and `base` is the offset of the first record.
    """
    fields = Bytes(payload)
    found = []
    for _ in range(count):
        record = Bytes(fields.take(fields.zigzag()))
        record.take(1)  # attributes
        record.zigzag()  # timestampDelta
        offset = base + record.zigzag()
        found.append(StoredRecord(offset, record.nullable(), record.nullable()))
    return found


def _table() -> list[int]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


_CASTAGNOLI = _table()


def crc32c(data: bytes) -> int:
    """Return the checksum of a batch (RFC 3720, Castagnoli). The standard library does not provide this checksum."""
    crc, table = 0xFFFFFFFF, _CASTAGNOLI
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF
