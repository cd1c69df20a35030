"""aiokafka under test: `python -m tests.clients.asyncio_kafka`. Its positions have no leader epoch."""

import asyncio
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from tests.clients.following import News, follow

_FAST = {"metadata_max_age_ms": 50, "retry_backoff_ms": 10}


class Aiokafka:
    """A producer and a consumer of aiokafka, whose loop runs while an order is followed."""

    def __init__(self) -> None:
        self.news = News()
        self.loop = asyncio.new_event_loop()
        self.producer: Any = None
        self.consumer: Any = None

    def run(self, coroutine: Any) -> Any:
        return self.loop.run_until_complete(coroutine)

    def reset(self, order: dict[str, Any]) -> None:
        self.run(self.start_both(order))

    async def start_both(self, order: dict[str, Any]) -> None:
        if self.producer is not None:
            for client in (self.consumer, self.producer):
                with suppress(Exception, asyncio.CancelledError):  # `stop` fails after the end of a connection
                    await asyncio.wait_for(client.stop(), 0.5)
        self.tp = TopicPartition(order["topic"], 0)
        shared: dict[str, Any] = {"bootstrap_servers": order["bootstrap"].split(","), **_FAST}
        acks = order["acks"] if order["acks"] == "all" else int(order["acks"])
        self.producer = AIOKafkaProducer(
            **shared, client_id="producer", acks=acks, enable_idempotence=order["idempotent"], max_batch_size=1
        )
        await self.producer.start()
        self.settings = {
            **shared,
            "client_id": "consumer",
            "group_id": "group",
            "auto_offset_reset": "earliest",
            "fetch_max_wait_ms": 50,
        }
        await self.start(0)

    async def start(self, position: int) -> None:
        self.position = position
        self.consumer = AIOKafkaConsumer(**self.settings, enable_auto_commit=False)
        self.consumer.assign([self.tp])
        await self.consumer.start()
        self.consumer.seek(self.tp, position)

    def send(self, value: str) -> None:
        self.run(self.start_sending(value))

    async def start_sending(self, value: str) -> None:
        sending = await self.producer.send(self.tp.topic, value.encode(), partition=0)
        sending.add_done_callback(
            lambda done: (self.news.failed if done.exception() else self.news.acked).append(value)
        )

    def poll(self, seconds: float) -> None:
        read = self.run(self.consumer.getmany(self.tp, timeout_ms=int(seconds * 1000), max_records=1))
        for message in read.get(self.tp, ()):
            self.news.read.append(message.value.decode())
            self.position = message.offset + 1

    def restart(self) -> None:
        self.run(self.consumer.stop())
        self.run(self.start(self.position))

    def commit(self) -> None:
        self.run(self.consumer.commit({self.tp: self.position}))

    def resume(self) -> None:
        committed = self.run(self.consumer.committed(self.tp))
        self.run(self.consumer.stop())
        self.run(self.start(committed or 0))


if __name__ == "__main__":
    follow(Aiokafka())
