"""Frames of Kafka's wire protocol: four bytes of size, then a request or a response with its header."""

import struct
from dataclasses import dataclass, field
from enum import StrEnum

_SIZE = struct.Struct(">i")
_HEADER = struct.Struct(">hhih")  # api key, version, correlation id, length of the client id
_CORRELATION = struct.Struct(">i")
_MOST = 64 << 20  # bytes; who announces more does not speak this protocol


class Api:
    """The keys of the requests that are looked at: https://kafka.apache.org/protocol#protocol_api_keys."""

    PRODUCE = 0
    FETCH = 1
    METADATA = 3
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    ELECT_LEADERS = 43
    ALTER_PARTITION_REASSIGNMENTS = 45
    ALTER_PARTITION = 56
    BROKER_HEARTBEAT = 63


class Kind(StrEnum):
    """What a request is, as far as schedules are concerned."""

    FETCH = "fetch"  # a follower's of its leader
    METADATA = "metadata"  # a broker's of the controller: decisions are in the answer
    ALTER = "alter"  # a leader's proposal to change the ISR
    HEARTBEAT = "heartbeat"
    OTHER = "other"


@dataclass(frozen=True)
class Header:
    """A request's, as far as it does not depend on the version; `size` is in bytes, without tagged fields."""

    key: int
    version: int
    correlation: int
    client: str
    size: int = field(compare=False)


class FrameError(ValueError):
    """What came over the wire is no frame."""


def framed(body: bytes) -> bytes:
    """Return a body with its size before it."""
    return _SIZE.pack(len(body)) + body


class Frames:
    """Truncates what arrives in pieces into the bodies of frames."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the frames that are whole now. Raises FrameError."""
        self._rest += data
        whole = []
        while len(self._rest) >= _SIZE.size:
            (size,) = _SIZE.unpack_from(self._rest)
            if not 0 <= size <= _MOST:
                raise FrameError(f"a frame of {size} bytes")
            if len(self._rest) < _SIZE.size + size:
                break
            whole.append(self._rest[_SIZE.size : _SIZE.size + size])
            self._rest = self._rest[_SIZE.size + size :]
        return whole


def header(body: bytes) -> Header:
    """Return the header of a request. Raises FrameError."""
    try:
        key, version, correlation, length = _HEADER.unpack_from(body)
        end = _HEADER.size + max(length, 0)
        return Header(key, version, correlation, body[_HEADER.size : end].decode(), end)
    except (struct.error, UnicodeDecodeError) as error:
        raise FrameError(f"a request without a header: {error}") from None


def correlation(body: bytes) -> int:
    """Return the number of the request that a response answers. Raises FrameError."""
    if len(body) < _CORRELATION.size:
        raise FrameError("a response without a header")
    return int(_CORRELATION.unpack_from(body)[0])


def source(header: Header) -> tuple[Kind, int]:
    """Return what a request is and which broker sends it, -1 for none: client ids say so.

    `broker-2-fetcher-0` (AbstractFetcherManager), `raft-client-2` (KafkaRaftManager), `2`
    (NodeToControllerChannelManager).
    """
    words = header.client.split("-")
    number = next((int(word) for word in words if word.isdigit()), -1)
    if header.key == Api.FETCH and words[0] == "broker" and "fetcher" in words:
        return Kind.FETCH, number
    if header.key == Api.FETCH and words[:2] == ["raft", "client"]:
        return Kind.METADATA, number
    if header.key == Api.ALTER_PARTITION:
        return Kind.ALTER, number
    if header.key == Api.BROKER_HEARTBEAT:
        return Kind.HEARTBEAT, number
    return Kind.OTHER, number
