"""Split Kafka's wire protocol into frames. A frame is a size of four bytes, and a request or response of that size."""

import struct
from dataclasses import dataclass, field
from enum import StrEnum

_SIZE = struct.Struct(">i")
_HEADER = struct.Struct(">hhih")  # api key, version, correlation id, length of the client id
_CORRELATION = struct.Struct(">i")
_MOST = 64 << 20  # bytes; a larger frame is not Kafka's protocol


class Api:
    """The API keys that the gates know: https://kafka.apache.org/protocol#protocol_api_keys."""

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


class RequestKind(StrEnum):
    """The kinds of request that the gates distinguish."""

    FETCH = "fetch"  # a follower's fetch from its leader
    METADATA = "metadata"  # a broker's metadata fetch, answered with leader-and-ISR updates
    ALTER = "alter"  # a leader's proposal to change the ISR
    HEARTBEAT = "heartbeat"
    OTHER = "other"


@dataclass(frozen=True)
class Header:
    """The header fields that all requests share. `size` is the header's length in bytes, without tagged fields."""

    key: int
    version: int
    correlation: int
    client: str
    size: int = field(compare=False)


class FrameError(ValueError):
    """The received bytes are not a valid frame."""


def framed(body: bytes) -> bytes:
    """Return the frame of a request or response: its size, and then its bytes."""
    return _SIZE.pack(len(body)) + body


class Frames:
    """Splits a stream of bytes into the requests or responses that the stream contains."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes of the stream, and return the requests or responses that they complete.

        Raises FrameError.
        """
        self._rest += data
        whole = []
        while len(self._rest) >= _SIZE.size:
            (size,) = _SIZE.unpack_from(self._rest)
            if not 0 <= size <= _MOST:
                raise FrameError(f"the frame has {size} bytes")
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
        raise FrameError(f"the request has no header: {error}") from None


def correlation(body: bytes) -> int:
    """Return the correlation id of a response. Raises FrameError."""
    if len(body) < _CORRELATION.size:
        raise FrameError("the response has no header")
    return int(_CORRELATION.unpack_from(body)[0])


def source(header: Header) -> tuple[RequestKind, int]:
    """Return the kind of a request, and the node id of the broker that sent the request (-1: unknown).

    The API key and the client id determine the kind and the node id. The client ids are `broker-2-fetcher-0`
    (AbstractFetcherManager), `raft-client-2` (KafkaRaftManager) and `2` (NodeToControllerChannelManager).
    """
    words = header.client.split("-")
    number = next((int(word) for word in words if word.isdigit()), -1)
    if header.key == Api.FETCH and words[0] == "broker" and "fetcher" in words:
        return RequestKind.FETCH, number
    if header.key == Api.FETCH and words[:2] == ["raft", "client"]:
        return RequestKind.METADATA, number
    if header.key == Api.ALTER_PARTITION:
        return RequestKind.ALTER, number
    if header.key == Api.BROKER_HEARTBEAT:
        return RequestKind.HEARTBEAT, number
    return RequestKind.OTHER, number
