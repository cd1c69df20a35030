"""librdkafka under test, by confluent-kafka: `python -m tests.clients.librdkafka [--restart]`."""

from typing import Any

from confluent_kafka import Consumer, Message, Producer, TopicPartition

from tests.clients.following import News, follow

_FAST = {
    "topic.metadata.refresh.interval.ms": 50,
    "reconnect.backoff.ms": 10,
    "reconnect.backoff.max.ms": 50,
    "retry.backoff.ms": 10,
    "log_level": 0,
}


class Librdkafka:
    """A producer and a consumer of librdkafka."""

    def __init__(self) -> None:
        self.news = News()
        self.producer: Producer | None = None
        self.consumer: Consumer | None = None

    def reset(self, order: dict[str, Any]) -> None:
        if self.producer is not None and self.consumer is not None:
            self.producer.purge()
            self.consumer.close()
        self.topic = order["topic"]
        shared: dict[str, Any] = {"bootstrap.servers": order["bootstrap"], **_FAST}
        of_producer = {"client.id": "producer", "acks": order["acks"], "linger.ms": 0, "batch.num.messages": 1}
        self.producer = Producer({**shared, **of_producer, "enable.idempotence": order["idempotent"]})
        self.settings: dict[str, Any] = {**shared, "client.id": "consumer", "group.id": "group"}
        self.settings |= {"auto.offset.reset": "earliest", "enable.auto.commit": False, "fetch.wait.max.ms": 50}
        self.start(TopicPartition(self.topic, 0, 0))

    def start(self, position: TopicPartition) -> None:
        """Start the consumer at a position. It knows the leader by then, as a member of a group does."""
        self.position = position
        self.consumer = Consumer(self.settings)
        self.consumer.list_topics(self.topic, timeout=5)
        self.consumer.assign([position])

    def send(self, value: str) -> None:
        assert self.producer is not None
        self.producer.produce(self.topic, value, partition=0, on_delivery=self.delivered)
        self.producer.poll(0)

    def delivered(self, error: Any, message: Message) -> None:
        (self.news.failed if error else self.news.acked).append((message.value() or b"").decode())

    def poll(self, seconds: float) -> None:
        assert self.producer is not None
        assert self.consumer is not None
        self.producer.poll(0)
        message = self.consumer.poll(seconds)
        if message is not None and not message.error():
            self.news.read.append((message.value() or b"").decode())
            self.position = TopicPartition(self.topic, 0, message.offset() + 1, leader_epoch=message.leader_epoch())
        self.producer.poll(0)

    def restart(self) -> None:
        assert self.consumer is not None
        self.consumer.close()
        self.start(self.position)

    def commit(self) -> None:
        assert self.consumer is not None
        self.consumer.commit(offsets=[self.position], asynchronous=False)

    def resume(self) -> None:
        assert self.consumer is not None
        [committed] = self.consumer.committed([TopicPartition(self.topic, 0)], timeout=5)
        self.consumer.close()
        self.start(committed if committed.offset >= 0 else TopicPartition(self.topic, 0, 0))


if __name__ == "__main__":
    follow(Librdkafka())
