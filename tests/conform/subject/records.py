"""Record batches in Kafka's format, version 2 (KIP-98): one record in each, checked by CRC-32C."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

_HEAD = struct.Struct(">qiibI")  # base offset, length, partition leader epoch, magic, CRC of all that follows
_BODY = struct.Struct(">hiqqqhii")  # attributes, last offset delta, two timestamps, producer id, epoch, sequence, count
_LENGTH_FROM = 12  # the length counts what comes after itself
_MAGIC = 2
_NO_PRODUCER = (-1, -1, -1)


class Batch(NamedTuple):
    """A record as it stands in a log."""

    offset: int
    epoch: int
    record: str
    data: bytes


def batch(offset: int, epoch: int, record: str) -> Batch:
    """The batch of one record."""
    value = record.encode()
    # Attributes, timestamp delta, offset delta, key length (-1: none), value, number of headers; zigzag varints.
    content = b"\0\0\0" + _varint(-1) + _varint(len(value)) + value + b"\0"
    body = _BODY.pack(0, 0, 0, 0, *_NO_PRODUCER, 1) + _varint(len(content)) + content
    head = _HEAD.pack(offset, _HEAD.size - _LENGTH_FROM + len(body), epoch, _MAGIC, crc32c(body))
    return Batch(offset, epoch, record, head + body)


def batches(data: bytes) -> Iterator[Batch]:
    """The batches at the start of data, as far as they are whole and sound."""
    at = 0
    while at + _HEAD.size + _BODY.size <= len(data):
        offset, length, epoch, magic, checksum = _HEAD.unpack_from(data, at)
        end = at + _LENGTH_FROM + length
        body = data[at + _HEAD.size : end]
        if magic != _MAGIC or end > len(data) or crc32c(body) != checksum:
            return
        _, start = _read_varint(body, _BODY.size)
        _, start = _read_varint(body, start + 3)  # the key's length, which is none
        size, start = _read_varint(body, start)
        yield Batch(offset, epoch, body[start : start + size].decode(), data[at:end])
        at = end


def crc32c(data: bytes) -> int:
    """The checksum of Castagnoli's polynomial, which the standard library does not have."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _table_entry(index: int) -> int:
    for _ in range(8):
        index = index >> 1 ^ (0x82F63B78 if index & 1 else 0)
    return index


_TABLE = tuple(map(_table_entry, range(256)))


def _varint(number: int) -> bytes:
    zigzag = number << 1 ^ number >> 63
    out = bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    zigzag = shift = 0
    while True:
        byte = data[at]
        zigzag |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return zigzag >> 1 ^ -(zigzag & 1), at
