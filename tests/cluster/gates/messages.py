"""Definitions of messages, similar to those in Kafka's jars, and messages for tests that follow them."""

import json
import struct
import uuid
import zipfile
from pathlib import Path
from typing import Any

from epochfuzz.harness.cluster.gates.frames import Api
from epochfuzz.harness.cluster.gates.schema import Definition, Messages

TOPIC = uuid.UUID(int=7)

FETCH = """// As of 4.3.1, without the fields that no test needs.
{
  "apiKey": 1, "type": "request", "name": "FetchRequest", "validVersions": "4-18", "flexibleVersions": "12+",
  "fields": [
    // A comment between fields.
    { "name": "ReplicaState", "type": "ReplicaState", "versions": "15+", "taggedVersions": "15+", "tag": 1, "fields": [
      { "name": "ReplicaId", "type": "int32", "versions": "15+", "default": "-1" }]},
    { "name": "SessionId", "type": "int32", "versions": "7+", "default": "0" },
    { "name": "Topics", "type": "[]FetchTopic", "versions": "0+", "fields": [
      { "name": "Topic", "type": "string", "versions": "0-12" },
      { "name": "TopicId", "type": "uuid", "versions": "13+" },
      { "name": "Partitions", "type": "[]FetchPartition", "versions": "0+", "fields": [
        { "name": "Partition", "type": "int32", "versions": "0+" },
        { "name": "CurrentLeaderEpoch", "type": "int32", "versions": "9+", "default": "-1" },
        { "name": "FetchOffset", "type": "int64", "versions": "0+" }]}]},
    { "name": "ForgottenTopicsData", "type": "[]ForgottenTopic", "versions": "7+", "fields": [
      { "name": "TopicId", "type": "uuid", "versions": "13+" },
      { "name": "Partitions", "type": "[]int32", "versions": "7+" }]},
    { "name": "RackId", "type": "string", "versions": "11+", "default": "" }
  ]
}"""
FETCHED = {
    "apiKey": 1,
    "type": "response",
    "name": "FetchResponse",
    "validVersions": "4-18",
    "flexibleVersions": "12+",
    "fields": [
        {"name": "ErrorCode", "type": "int16", "versions": "7+"},
        {
            "name": "Responses",
            "type": "[]FetchableTopicResponse",
            "versions": "0+",
            "fields": [
                {
                    "name": "Partitions",
                    "type": "[]PartitionData",
                    "versions": "0+",
                    "fields": [
                        {"name": "ErrorCode", "type": "int16", "versions": "0+"},
                        {"name": "HighWatermark", "type": "int64", "versions": "0+"},
                        {
                            "name": "DivergingEpoch",
                            "type": "EpochEndOffset",
                            "versions": "12+",
                            "taggedVersions": "12+",
                            "tag": 0,
                            "fields": [
                                {"name": "Epoch", "type": "int32", "versions": "12+", "default": "-1"},
                                {"name": "EndOffset", "type": "int64", "versions": "12+", "default": "-1"},
                            ],
                        },
                        {"name": "Records", "type": "records", "versions": "0+", "nullableVersions": "0+"},
                    ],
                }
            ],
        },
    ],
}
HEARTBEAT = {
    "apiKey": Api.BROKER_HEARTBEAT,
    "type": "request",
    "name": "BrokerHeartbeatRequest",
    "validVersions": "0-1",
    "flexibleVersions": "0+",
    "fields": [{"name": "CurrentMetadataOffset", "type": "int64", "versions": "0+"}],
}


def _record(key: int, name: str, *fields: dict[str, Any]) -> dict[str, Any]:
    head = {"apiKey": key, "type": "metadata", "name": name, "validVersions": "0-1", "flexibleVersions": "0+"}
    return head | {"fields": [{"versions": "0+"} | field for field in fields]}


def _field(name: str, kind: str, tag: int | None = None, default: str | None = None) -> dict[str, Any]:
    tagged = {} if tag is None else {"taggedVersions": "0+", "tag": tag}
    nullable = {"nullableVersions": "0+"} if default == "null" else {}
    return {"name": name, "type": kind} | tagged | nullable | ({} if default is None else {"default": default})


RECORDS = (
    _record(2, "TopicRecord", _field("Name", "string"), _field("TopicId", "uuid")),
    _record(9, "RemoveTopicRecord", _field("TopicId", "uuid")),
    _record(
        3,
        "PartitionRecord",
        _field("PartitionId", "int32"),
        _field("TopicId", "uuid"),
        _field("Replicas", "[]int32"),
        _field("Isr", "[]int32"),
        _field("Leader", "int32"),
        _field("LeaderEpoch", "int32"),
    ),
    _record(
        5,
        "PartitionChangeRecord",
        _field("PartitionId", "int32"),
        _field("TopicId", "uuid"),
        _field("Isr", "[]int32", 0, "null"),
        _field("Leader", "int32", 1, "-2"),
        _field("Replicas", "[]int32", 2, "null"),
    ),
    _record(
        27,
        "RegisterBrokerRecord",
        _field("BrokerId", "int32"),
        _field("BrokerEpoch", "int64"),
        _field("Fenced", "bool", default="true"),
    ),
    _record(
        17,
        "BrokerRegistrationChangeRecord",
        _field("BrokerId", "int32"),
        _field("Fenced", "int8", 0),
        _field("InControlledShutdown", "int8", 1),
    ),
)


def jar(directory: Path) -> tuple[str, ...]:
    """Write a jar with the definitions, and return a class path that has it."""
    with zipfile.ZipFile(directory / "kafka-clients-4.3.1.jar", "w") as archive:
        archive.writestr("common/message/FetchRequest.json", FETCH)
        for definition in (FETCHED, HEARTBEAT):
            archive.writestr(f"common/message/{definition['name']}.json", json.dumps(definition))
        for definition in RECORDS:
            archive.writestr(f"common/metadata/{definition['name']}.json", json.dumps(definition))
        archive.writestr("org/apache/kafka/Some.class", b"\xca\xfe")
    return (str(directory / "*"),)


def definitions(directory: Path) -> Messages:
    """Return the definitions."""
    return Messages.of(jar(directory))


def request(definition: Definition, client: str, values: dict[str, Any], correlation: int = 1) -> bytes:
    """Return the body of a request of the latest version, which is flexible."""
    name = client.encode()
    head = struct.pack(">hhih", definition.key, definition.latest, correlation, len(name)) + name + b"\0"
    return head + definition.encode(values, definition.latest)


def response(definition: Definition, values: dict[str, Any], correlation: int = 1) -> bytes:
    """Return the body of a response."""
    return struct.pack(">ib", correlation, 0) + definition.encode(values, definition.latest)


def batch(offset: int, *values: bytes, control: bool = False) -> bytes:
    """Return a batch of records, without a checksum."""
    body = b"".join(_of_length(b"\0" + _zigzag(0) + _zigzag(i) + _zigzag(-1) + _of_length(value) + _zigzag(0))
                    for i, value in enumerate(values))  # fmt: skip
    tail = struct.pack(">ibIhiqqqhii", 0, 2, 0, 0x20 * control, len(values) - 1, 0, 0, -1, -1, -1, len(values)) + body
    return struct.pack(">qi", offset, len(tail)) + tail


def record(definitions: dict[int, Definition], key: int, **fields: Any) -> bytes:
    """Return the value of a record of the metadata log."""
    return bytes((1, key, 0)) + definitions[key].encode(fields, 0)


def _zigzag(number: int) -> bytes:
    number = number << 1 ^ number >> 63
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _of_length(data: bytes) -> bytes:
    return _zigzag(len(data)) + data
