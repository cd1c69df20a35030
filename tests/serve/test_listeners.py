"""Clients connect to brokers: librdkafka produces and consumes, and a crash or a bad request ends a connection."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from epochfuzz.harness.serve.listeners import Listeners
from epochfuzz.harness.serve.messages import ServedApi
from epochfuzz.harness.serve.schedule import apply, keep_healthy, play
from epochfuzz.harness.serve.served_cluster import HOST, ServedCluster
from epochfuzz.model.kafka.vocabulary.events import parse_event, parse_schedule
from tests.serve.asking import PATIENCE, TOPIC, batch, cluster, decoded, fetched, frame, only, produced

LIMIT = 30.0


def serving(served: ServedCluster, work: Callable[[Listeners], Awaitable[Any]]) -> tuple[Any, list[str]]:
    """Run some work while the cluster is served. Returns its result, and the complaints about requests."""
    complaints: list[str] = []

    async def serve() -> Any:
        served.ports.clear()
        listeners = Listeners(served, complaints.append)
        await listeners.start()
        followers = asyncio.create_task(keep_healthy(listeners))
        try:
            return await asyncio.wait_for(work(listeners), LIMIT)
        finally:
            followers.cancel()
            await listeners.close()

    return asyncio.run(serve()), complaints


def librdkafka(bootstrap: str) -> tuple[list[tuple[int, str]], list[tuple[int, int, str]]]:
    """Produce three records, and consume them in a group. Returns the acknowledged and the read records."""
    clients = pytest.importorskip("confluent_kafka")
    acked = []
    producer = clients.Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    for number in range(3):
        value = f"m{number}"
        producer.produce(
            TOPIC, value, on_delivery=lambda error, each: acked.append((each.offset(), each.value().decode()))
        )
    assert producer.flush(10) == 0
    consumer = clients.Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "g", "client.id": "reader", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([TOPIC])
    messages = [consumer.poll(10) for _ in range(3)]
    consumer.close()
    return acked, [(each.offset(), each.leader_epoch(), each.value().decode()) for each in messages]


def test_librdkafka_produces_to_the_model_and_consumes_from_it() -> None:
    async def work(listeners: Listeners) -> Any:
        return await asyncio.to_thread(librdkafka, listeners.cluster.bootstrap)

    (acked, read), complaints = serving(cluster(replicas=3), work)
    assert acked == [(0, "m0"), (1, "m1"), (2, "m2")]
    assert read == [(0, 0, "m0"), (1, 0, "m1"), (2, 0, "m2")]
    assert complaints == []


class Connection:
    """A client that sends frames, and reads the responses."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @staticmethod
    async def to(listeners: Listeners, r: int) -> "Connection":
        return Connection(*await asyncio.open_connection(HOST, listeners.cluster.ports[r]))

    def send(self, sent: bytes) -> None:
        self._writer.write(len(sent).to_bytes(4) + sent)

    async def receive(self) -> bytes:
        """Return the next response, empty at the end of the connection."""
        try:
            size = int.from_bytes(await asyncio.wait_for(self._reader.readexactly(4), PATIENCE))
            return await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""


METADATA = frame(ServedApi.METADATA, 1, topics=[{"name": TOPIC}])


def test_responses_have_the_order_of_the_requests() -> None:
    async def work(listeners: Listeners) -> Any:
        connection = await Connection.to(listeners, 0)
        connection.send(frame(ServedApi.FETCH, 12, **fetched(0, wait=0.2)))
        connection.send(METADATA)
        first = decoded(ServedApi.FETCH, 12, await connection.receive())
        second = decoded(ServedApi.METADATA, 1, await connection.receive())
        return only(first).partition_index, second.topics[0].name

    assert serving(cluster(), work)[0] == (0, TOPIC)


def test_a_crash_ends_the_connections_of_a_broker_and_lets_no_client_connect() -> None:
    async def work(listeners: Listeners) -> Any:
        connection = await Connection.to(listeners, 0)
        connection.send(frame(ServedApi.FETCH, 12, **fetched(0, wait=5.0)))
        await asyncio.sleep(0.05)
        await apply(listeners, parse_event("crash A"))
        refused = await Connection.to(listeners, 0)
        other = await Connection.to(listeners, 1)
        other.send(METADATA)
        return await connection.receive(), await refused.receive(), len(await other.receive()) > 0

    assert serving(cluster(), work)[0] == (b"", b"", True)


@pytest.mark.parametrize(
    ("sent", "complaint"),
    [
        (b"\0\x01\0\x63", "a client sent FETCH of version 99; this endpoint offers 4 to 12"),
        (bytes(2 << 20), "a client sent a request of 2,097,152 bytes; the largest is 1,048,576"),
    ],
    ids=["unknown version", "too large"],
)
def test_an_unsupported_request_ends_the_connection_with_a_complaint(sent: bytes, complaint: str) -> None:
    async def work(listeners: Listeners) -> Any:
        connection = await Connection.to(listeners, 0)
        connection.send(sent)
        return await connection.receive()

    received, complaints = serving(cluster(), work)
    assert received == b""
    assert complaints[0].startswith(complaint) or "bytes that are no" in complaints[0]


def test_a_schedule_waits_for_the_requests_of_clients_and_then_lets_followers_replicate() -> None:
    served = cluster(is_free=False)
    report: list[str] = []

    async def work(listeners: Listeners) -> Any:
        playing = asyncio.create_task(
            play(listeners, parse_schedule(["receive B", "produce A", "fetch B"]), report.append)
        )
        connection = await Connection.to(listeners, 0)
        connection.send(METADATA)
        await connection.receive()
        await asyncio.sleep(0.05)
        before = [*report]
        connection.send(frame(ServedApi.PRODUCE, 9, **produced(batch("m0"))))
        told = only(decoded(ServedApi.PRODUCE, 9, await connection.receive()))
        await playing
        return before, int(told.error_code)

    assert serving(served, work)[0] == (
        ["receive B: not enabled, because nothing is in flight to B", "produce A: waiting for the client"],
        0,
    )
    assert report[2:] == ["produce A", "fetch B"]


def test_a_producer_without_a_response_sends_its_record_again_to_the_new_leader() -> None:
    served = cluster(is_free=False)

    async def work(listeners: Listeners) -> Any:
        schedule = ["produce A", "elect B", "notify B", "retry B"]
        playing = asyncio.create_task(play(listeners, parse_schedule(schedule), lambda line: None))
        acked, read = await asyncio.to_thread(librdkafka_sends_a_record, listeners.cluster.bootstrap)
        await playing
        return acked, read

    assert serving(served, work)[0] == ([(None, 0)], 0)
    assert [(epoch, payload.text) for epoch, payload in served.partition.entries(1)] == [(1, "m0")]


def librdkafka_sends_a_record(bootstrap: str) -> tuple[list[tuple[Any, int]], int]:
    clients = pytest.importorskip("confluent_kafka")
    acked: list[tuple[Any, int]] = []
    producer = clients.Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "topic.metadata.refresh.interval.ms": 100}
    )
    producer.produce(TOPIC, "m0", on_delivery=lambda error, each: acked.append((error, each.offset())))
    return acked, producer.flush(15)
