"""Read the records of __cluster_metadata and __consumer_offsets, the only topics whose records audit reads.

https://kafka.apache.org/documentation/#record describes the format. A size that exceeds the remaining bytes is an
error. `is_intact` checks the checksum of a batch.
"""

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from epochfuzz.harness.audit.disks.files import opened
from epochfuzz.harness.audit.disks.segments import HEADER, BatchHeader, Damage, headers

LARGEST_BATCH = 64 << 20  # bytes, also unpacked
_CHECKED_FROM = 21  # bytes: the checksum covers the attributes and all that follows
_CODEC, _CONTROL = 0x07, 0x20
_NONE, _GZIP = 0, 1
_CODECS = {2: "snappy", 3: "lz4", 4: "zstd"}
_LONGEST_VARINT = 10  # bytes


class MalformedRecords(Exception):
    """Bytes are not in the format of a record."""


@dataclass(frozen=True, slots=True)
class DiskRecord:
    """A record with its offset. A missing key or value is None."""

    offset: int
    key: bytes | None
    value: bytes | None


class Bytes:
    """Bytes whose fields are read from front to back. Raises MalformedRecords if too few bytes are left."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def rest(self) -> int:
        """The number of bytes that are left."""
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        if not 0 <= size <= self.rest:
            raise MalformedRecords(f"{size} bytes are announced, and {self.rest} are left")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, size: int) -> int:
        """Return a signed number of `size` bytes."""
        return int.from_bytes(self.take(size), "big", signed=True)

    def unsigned(self) -> int:
        """Return an unsigned varint."""
        number = 0
        for index in range(_LONGEST_VARINT):
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << 7 * index
            if not byte & 0x80:
                return number
        raise MalformedRecords("a varint does not end")

    def zigzag(self) -> int:
        """Return a signed varint."""
        number = self.unsigned()
        return (number >> 1) ^ -(number & 1)

    def nullable(self) -> bytes | None:
        """Read a length (a signed varint) and that number of bytes. Returns the bytes, or None if the length is -1."""
        size = self.zigzag()
        return None if size == -1 else self.take(size)


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


def batches(file: str) -> Iterator[tuple[BatchHeader, bytes]]:
    """Yield the batches of a segment or snapshot with their bytes. Raises Damage, Unreadable and OSError."""
    with opened(file) as descriptor:
        for batch in headers(descriptor, os.fstat(descriptor).st_size, 0):
            if batch.size > LARGEST_BATCH:
                raise Damage(batch.position, f"a batch of {batch.size:,} bytes, which is too large to read")
            yield batch, os.pread(descriptor, batch.size, batch.position)


def is_intact(batch: BatchHeader, data: bytes) -> bool:
    """Return whether the bytes of a batch match its size and its checksum."""
    return len(data) == batch.size and crc32c(data[_CHECKED_FROM:]) == batch.crc & 0xFFFFFFFF


def is_control(batch: BatchHeader) -> bool:
    """Return whether a batch contains control records, such as commit markers, instead of records of clients."""
    return bool(batch.attributes & _CONTROL)


def records(batch: BatchHeader, data: bytes) -> list[DiskRecord]:
    """Return the records of a batch. Raises MalformedRecords."""
    fields = Bytes(_unpacked(batch.attributes & _CODEC, data[HEADER.size :]))
    found = []
    for _ in range(batch.records):
        record = Bytes(fields.take(fields.zigzag()))
        record.take(1)  # attributes
        record.zigzag()  # timestampDelta
        offset = batch.base + record.zigzag()
        found.append(DiskRecord(offset, record.nullable(), record.nullable()))
    return found


def _unpacked(codec: int, payload: bytes) -> bytes:
    if codec == _NONE:
        return payload
    if codec != _GZIP:
        raise MalformedRecords(f"packed with {_CODECS.get(codec, 'an unknown codec')}, which is not supported")
    try:
        unpacked = zlib.decompressobj(wbits=31).decompress(payload, LARGEST_BATCH)
    except zlib.error as error:
        raise MalformedRecords(f"not gzip: {error}") from None
    if len(unpacked) >= LARGEST_BATCH:
        raise MalformedRecords("the unpacked batch is too large to read")
    return unpacked
