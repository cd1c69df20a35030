"""Requests as a client encodes them, and responses as it decodes them, without a socket."""

import asyncio
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import pytest

pytest.importorskip("kio")

from kio.index import load_request_schema, load_response_schema
from kio.records.readers import read_batch
from kio.records.schema import NewRecordBatch, Record
from kio.records.writers import write_new_batch
from kio.serial import entity_reader, entity_writer

from epochfuzz.harness.serve.endpoint import respond
from epochfuzz.harness.serve.messages import ServedApi, entity
from epochfuzz.harness.serve.served_cluster import ServedCluster
from epochfuzz.harness.serve.served_partition import ServedPartition
from epochfuzz.harness.serve.settings import settings_for_clients
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_event
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED

TOPIC = "t"
PATIENCE = 5.0


def cluster(*events: str, protocol: str = "kip-320", is_free: bool = True, **settings: Any) -> ServedCluster:
    """Return a served cluster after some events of brokers."""
    partition = ServedPartition(parse_protocol(protocol), settings_for_clients(Configuration(**settings)))
    served = (ServedCluster.healthy if is_free else ServedCluster.of_schedule)(partition, TOPIC)
    served.ports = [1001, 1002, 1003]
    happen(served, *events)
    return served


def happen(served: ServedCluster, *events: str) -> None:
    for event in events:
        assert served.partition.apply(parse_event(event)) is APPLIED, event


def frame(api: ServedApi, version: int, client: str = "client", **values: Any) -> bytes:
    """Return the frame of a request, without its size."""
    kind: Any = load_request_schema(api, version)
    header = kind.__header_schema__
    fields = {"request_api_key": int(api), "request_api_version": version, "correlation_id": 7, "client_id": client}
    buffer = BytesIO()
    entity_writer(header)(buffer, header(**fields))
    entity_writer(kind)(buffer, entity(kind, values))
    return buffer.getvalue()


def decoded(api: ServedApi, version: int, response: bytes | None) -> Any:
    """Return the body of a response, and check its header."""
    assert response is not None
    kind: Any = load_response_schema(api, version)
    header, size = entity_reader(kind.__header_schema__)(response, 0)
    assert header.correlation_id == 7
    body, end = entity_reader(kind)(response, size)
    assert size + end == len(response)
    return body


async def response_to(served: ServedCluster, r: int, api: ServedApi, version: int, **values: Any) -> Any:
    served.partition.wake()  # each request of these tests has an event loop of its own
    asked = respond(served, r, frame(api, version, **values))
    return decoded(api, version, await asyncio.wait_for(asked, PATIENCE))


async def _replicating(served: ServedCluster) -> None:
    while True:
        served.partition.replicate()
        await served.partition.change()


async def _response_while_replicating(
    served: ServedCluster, r: int, api: ServedApi, version: int, **values: Any
) -> Any:
    served.partition.wake()
    followers = asyncio.create_task(_replicating(served))
    try:
        return await response_to(served, r, api, version, **values)
    finally:
        followers.cancel()


def ask_healthy(served: ServedCluster, r: int, api: ServedApi, **values: Any) -> Any:
    """Return the response of broker r to a request, while followers replicate."""
    return asyncio.run(_response_while_replicating(served, r, api, api.last, **values))


def ask(served: ServedCluster, r: int, api: ServedApi, version: int | None = None, **values: Any) -> Any:
    """Return the response of broker r to a request, of the latest version if none is given."""
    return asyncio.run(response_to(served, r, api, api.last if version is None else version, **values))


def batch(value: str, sequence: int | None = None, attributes: int = 0, producer: int = 1) -> bytes:
    """Return a batch with one record, of an idempotent producer if it has a sequence number."""
    fields: Any = {"attributes": 0, "timestamp": datetime.fromtimestamp(0, UTC), "offset": 0}
    record = Record(**fields, key=None, value=value.encode(), headers=())
    fields = {"producer_id": -1, "producer_epoch": -1, "base_sequence": -1, "attributes": attributes}
    if sequence is not None:
        fields |= {"producer_id": producer, "producer_epoch": 0, "base_sequence": sequence}
    buffer = BytesIO()
    write_new_batch(buffer, NewRecordBatch(**fields, records=(record,)))
    return buffer.getvalue()


def produced(data: bytes, acks: int = -1, topic: str = TOPIC) -> dict[str, Any]:
    """Return the fields of a Produce request."""
    part = {"index": 0, "records": data}
    data_of_topic = {"name": topic, "partition_data": [part]}
    return {"transactional_id": None, "acks": acks, "timeout": timedelta(seconds=30), "topic_data": [data_of_topic]}


def fetched(offset: int, epoch: int = -1, last_epoch: int = -1, wait: float = 0.0) -> dict[str, Any]:
    """Return the fields of a Fetch request."""
    part = {"partition": 0, "current_leader_epoch": epoch, "fetch_offset": offset, "last_fetched_epoch": last_epoch}
    topic = {"topic": TOPIC, "partitions": [{**part, "log_start_offset": -1, "partition_max_bytes": 1 << 20}]}
    fields = {"max_wait": timedelta(seconds=wait), "min_bytes": 1, "max_bytes": 1 << 20, "isolation_level": 0}
    rest = {"session_id": 0, "session_epoch": -1, "forgotten_topics_data": [], "rack_id": "", "replica_id": -1}
    return {**fields, **rest, "topics": [topic]}


def epoch_end_asked(epoch: int, current: int) -> dict[str, Any]:
    """Return the fields of an OffsetForLeaderEpoch request."""
    part = {"partition": 0, "current_leader_epoch": current, "leader_epoch": epoch}
    return {"replica_id": -1, "topics": [{"topic": TOPIC, "partitions": [part]}]}


def only(response: Any) -> Any:
    """Return the only partition in a response."""
    (topic,) = response.topics if hasattr(response, "topics") else response.responses
    (part,) = topic.partition_responses if hasattr(topic, "partition_responses") else topic.partitions
    return part


def values_in(data: bytes) -> list[tuple[int, int, str]]:
    """Return the offset, the leader epoch and the value of each record in fetched batches."""
    found: list[tuple[int, int, str]] = []
    at = 0
    while at < len(data):
        read, size = read_batch(data, at)
        at += size
        found += [(r.offset, read.partition_leader_epoch, (r.value or b"").decode()) for r in read.records]
    return found
