"""Read the records of __cluster_metadata and __consumer_offsets, the only topics whose records audit reads.

https://kafka.apache.org/documentation/#record describes the format. A size that exceeds the remaining bytes is an
error. `is_intact` checks the checksum of a batch.
"""

import os
import zlib
from collections.abc import Iterator

from epochfuzz.harness.audit.disks.files import opened
from epochfuzz.harness.audit.disks.segments import BatchHeader, Damage, headers
from epochfuzz.harness.cluster.record_format.batches import CONTROL, HEADER, StoredRecord, crc32c, records_in
from epochfuzz.harness.cluster.record_format.fields import MalformedBytes

LARGEST_BATCH = 64 << 20  # bytes, also unpacked
_CHECKED_FROM = 21  # bytes: the checksum covers the attributes and all that follows
_CODEC = 0x07
_NONE, _GZIP = 0, 1
_CODECS = {2: "snappy", 3: "lz4", 4: "zstd"}


def batches(file: str) -> Iterator[tuple[BatchHeader, bytes]]:
    """Yield the batches of a segment or snapshot with their bytes. Raises Damage and Unreadable."""
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
    return bool(batch.attributes & CONTROL)


def records(batch: BatchHeader, data: bytes) -> list[StoredRecord]:
    """Return the records of a batch. Raises MalformedBytes."""
    return records_in(_unpacked(batch.attributes & _CODEC, data[HEADER.size :]), batch.base, batch.records)


def _unpacked(codec: int, payload: bytes) -> bytes:
    if codec == _NONE:
        return payload
    if codec != _GZIP:
        raise MalformedBytes(f"packed with {_CODECS.get(codec, 'an unknown codec')}, which is not supported")
    try:
        unpacked = zlib.decompressobj(wbits=31).decompress(payload, LARGEST_BATCH)
    except zlib.error as error:
        raise MalformedBytes(f"not gzip: {error}") from None
    if len(unpacked) >= LARGEST_BATCH:
        raise MalformedBytes("the unpacked batch is too large to read")
    return unpacked
