"""Decode requests and encode responses of Kafka's wire protocol, in the versions that the endpoint supports.

The library kio has the types of all requests and responses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import timedelta
from enum import IntEnum
from functools import lru_cache
from io import BytesIO
from typing import Any, get_args, get_type_hints

from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.schema.request_header.v1.header import RequestHeader
from kio.serial import entity_reader, entity_writer

_SIZE_OF_KEYS = 4  # bytes of the API key and the version at the start of every request header


class ServedApi(IntEnum):
    """The requests that the endpoint handles: https://kafka.apache.org/protocol#protocol_api_keys.

    Each API has its key, its first and its last supported version. Fetch and Metadata stop before the versions with
    topic ids. InitProducerId stops before KIP-360, because the endpoint gives every producer the producer epoch 0.
    """

    first: int
    last: int

    def __new__(cls, key: int, first: int, last: int) -> "ServedApi":
        """Return an API key that carries the range of its versions."""
        api = int.__new__(cls, key)
        api._value_ = key
        api.first, api.last = first, last
        return api

    PRODUCE = 0, 3, 9
    FETCH = 1, 4, 12
    LIST_OFFSETS = 2, 1, 7
    METADATA = 3, 0, 9
    OFFSET_COMMIT = 8, 2, 8
    OFFSET_FETCH = 9, 1, 7
    FIND_COORDINATOR = 10, 0, 3
    JOIN_GROUP = 11, 0, 5
    HEARTBEAT = 12, 0, 4
    LEAVE_GROUP = 13, 0, 2
    SYNC_GROUP = 14, 0, 3
    API_VERSIONS = 18, 0, 3
    INIT_PRODUCER_ID = 22, 0, 2
    OFFSET_FOR_LEADER_EPOCH = 23, 2, 4


_BY_KEY = {int(api): api for api in ServedApi}


class BadRequest(ValueError):
    """A request that the endpoint does not support or cannot read. The request ends the connection."""


@dataclass(frozen=True)
class ClientRequest:
    """A client's request: the API and its version, fields of the header, and the body as an object of a kio type."""

    api: ServedApi
    version: int
    correlation: int
    client: str
    body: Any


def decode(frame: bytes) -> ClientRequest:
    """Return the request in a frame, given without the four bytes of its size. Raises BadRequest.

    An ApiVersions request of a version that is too new is returned without a body. `encode` writes its response in
    version 0, so that the client can read the supported versions and ask again (KIP-511).
    """
    key, version = _numbers(frame)
    api = _BY_KEY.get(key)
    if api is None:
        raise BadRequest(f"an unknown API key, {key}")
    if api is ServedApi.API_VERSIONS and version > api.last:
        header, _ = _read(RequestHeader, frame, 0)
        return ClientRequest(api, version, header.correlation_id, header.client_id or "", None)
    if not api.first <= version <= api.last:
        raise BadRequest(f"{api.name} of version {version}; this endpoint offers {api.first} to {api.last}")
    kind = load_request_schema(api, version)
    header, size = _read(kind.__header_schema__, frame, 0)
    body, _ = _read(kind, frame, size)
    return ClientRequest(api, version, header.correlation_id, header.client_id or "", body)


def client_of(frame: bytes) -> str:
    """Return the client id in a request's header. Raises BadRequest."""
    header, _ = _read(RequestHeader, frame, 0)
    return str(header.client_id or "")


def encode(request: ClientRequest, values: Mapping[str, Any]) -> bytes:
    """Return the frame of a response, without the four bytes of its size.

    `values` has the fields of the response, as nested dictionaries and lists. Fields that the version of the response
    lacks are left out.
    """
    version = 0 if request.version > request.api.last else request.version
    kind = load_response_schema(request.api, version)
    header = kind.__header_schema__
    buffer = BytesIO()
    entity_writer(header)(buffer, header(correlation_id=request.correlation))  # type: ignore[arg-type]
    entity_writer(kind)(buffer, entity(kind, {"throttle_time": timedelta(0), **values}))
    return buffer.getvalue()


def entity(kind: type, values: Mapping[str, Any]) -> Any:
    """Return an object of a kio type, made from nested dictionaries. Keys that the type lacks are ignored."""
    parts = _parts(kind)
    return kind(**{name: _converted(parts[name], values[name]) for name in parts if name in values})


def versions(request: ClientRequest) -> dict[str, Any]:
    """Return the fields of an ApiVersions response, with the supported versions of each API."""
    offered = [{"api_key": int(api), "min_version": api.first, "max_version": api.last} for api in ServedApi]
    is_known = request.version <= request.api.last
    return {"error_code": ErrorCode.none if is_known else ErrorCode.unsupported_version, "api_keys": offered}


def _numbers(frame: bytes) -> tuple[int, int]:
    if len(frame) < _SIZE_OF_KEYS:
        raise BadRequest(f"a request of {len(frame)} bytes")
    return int.from_bytes(frame[:2], signed=True), int.from_bytes(frame[2:4], signed=True)


def _read(kind: Any, frame: bytes, at: int) -> tuple[Any, int]:
    """Read an object of a kio type from offset `at` of a frame. Returns the object and the offset of its end.

    Raises BadRequest.
    """
    try:
        value, size = entity_reader(kind)(frame, at)
    except Exception as error:  # kio raises many kinds of errors for malformed bytes
        raise BadRequest(f"bytes that are no {kind.__name__}: {error}") from None
    return value, at + size


@lru_cache(maxsize=256)
def _parts(kind: type) -> dict[str, type | None]:
    """Return the kio type of the objects in each field of a kio type, by field name. None for plain values."""
    hints = get_type_hints(kind)
    return {each.name: _part(hints[each.name]) for each in fields(kind)}


def _part(hint: Any) -> type | None:
    if isinstance(hint, type) and is_dataclass(hint):
        return hint
    return next(filter(None, map(_part, get_args(hint))), None)


def _converted(part: type | None, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_converted(part, each) for each in value)
    return entity(part, value) if part is not None and isinstance(value, dict) else value
