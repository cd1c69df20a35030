"""librdkafka reports a rejected record as acknowledged if the leader accepts the next record: report.md."""

import asyncio
from typing import Literal

import pytest

pytest.importorskip("kio")
pytest.importorskip("confluent_kafka")

from confluent_kafka import Message, Producer

from epochfuzz.harness.serve import schedule
from epochfuzz.harness.serve.listeners import Listeners
from epochfuzz.harness.serve.served_cluster import ServedCluster
from epochfuzz.harness.serve.served_partition import ServedPartition
from epochfuzz.harness.serve.settings import settings_for_clients
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_event
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED

CLIENT = "producer"
TOPIC = "epochfuzz"
RECORDS = ("m0", "m1")
A_IS_DEPOSED = ("elect B", "notify B", "notify A")
A_RETURNS = ("elect A", "notify A")
SECONDS = 10.0


class Turn(asyncio.Lock):
    """The lock of A's Produce requests. After the first request, A leads again, and all faults have stopped."""

    def __init__(self, cluster: ServedCluster) -> None:
        super().__init__()
        self.requests = 0
        self._cluster = cluster

    async def acquire(self) -> Literal[True]:
        self.requests += 1
        self._cluster.partition.wake()
        return await super().acquire()

    def release(self) -> None:
        if not self._cluster.gate.is_free:
            for event in A_RETURNS:
                assert self._cluster.partition.apply(parse_event(event)) is APPLIED
            self._cluster.gate.is_free = True
        super().release()


async def _reject_the_first_request(protocol: str) -> tuple[list[str], list[str]]:
    """Let A reject the first of two requests. Returns the values that are reported as acknowledged, and A's log."""
    partition = ServedPartition(parse_protocol(protocol), settings_for_clients(Configuration()))
    cluster = ServedCluster.of_schedule(partition, TOPIC)
    turn = cluster.turns[(CLIENT, 0)] = Turn(cluster)
    listeners = Listeners(cluster, pytest.fail)
    await listeners.start()
    healthy = asyncio.create_task(schedule.keep_healthy(listeners))
    sending = asyncio.create_task(asyncio.to_thread(_acknowledged, cluster.bootstrap))
    try:
        async with asyncio.timeout(SECONDS):
            while turn.requests < len(RECORDS):
                await partition.change()
        for event in A_IS_DEPOSED:
            assert not await schedule.apply(listeners, parse_event(event))
        acknowledged = await sending
        return acknowledged, [payload.text for _, payload in partition.entries(0)]
    finally:
        healthy.cancel()
        await listeners.close()


def _acknowledged(bootstrap: str) -> list[str]:
    """Send the records at once, each in a request of its own. Returns the values that librdkafka acknowledges."""
    acknowledged: list[str] = []

    def report(error: object, message: Message) -> None:
        if not error:
            acknowledged.append((message.value() or b"").decode())

    settings = {"client.id": CLIENT, "linger.ms": 0, "batch.num.messages": 1, "log_level": 0}
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": True, **settings})
    for value in RECORDS:
        producer.produce(TOPIC, value, partition=0, on_delivery=report)
    assert producer.flush(SECONDS) == 0
    return sorted(acknowledged)


def test_librdkafka_acknowledges_a_rejected_record_if_the_leader_accepts_any_sequence_number() -> None:
    assert asyncio.run(_reject_the_first_request("kafka-2.6.1")) == (["m0", "m1"], ["m1"])


def test_librdkafka_sends_a_rejected_record_again_if_the_leader_rejects_the_next_record() -> None:
    assert asyncio.run(_reject_the_first_request("kafka-2.4")) == (["m0", "m1"], ["m0", "m1"])
