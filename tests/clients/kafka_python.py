"""kafka-python under test: `python -m tests.clients.kafka_python [--restart]`."""

from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from tests.clients.following import News, follow

_FAST = {"metadata_max_age_ms": 50, "reconnect_backoff_ms": 10, "reconnect_backoff_max_ms": 50, "retry_backoff_ms": 10}


class KafkaPython:
    """A producer and a consumer of kafka-python."""

    def __init__(self) -> None:
        self.news = News()
        self.producer: Any = None
        self.consumer: Any = None

    def reset(self, order: dict[str, Any]) -> None:
        if self.producer is not None:
            self.consumer.close()
            self.producer.close(timeout=0)
        self.tp = TopicPartition(order["topic"], 0)
        shared: dict[str, Any] = {"bootstrap_servers": order["bootstrap"].split(","), **_FAST}
        acks = order["acks"] if order["acks"] == "all" else int(order["acks"])
        self.producer = KafkaProducer(
            **shared, client_id="producer", acks=acks, enable_idempotence=order["idempotent"], batch_size=1
        )
        self.settings = {**shared, "client_id": "consumer", "group_id": "group", "auto_offset_reset": "earliest"}
        self.settings |= {"enable_auto_commit": False, "fetch_max_wait_ms": 50}
        self.start(0)

    def start(self, position: int) -> None:
        """Start the consumer at a position. `seek` takes no leader epoch."""
        self.position = position
        self.consumer = KafkaConsumer(**self.settings)
        self.consumer.assign([self.tp])
        self.consumer.seek(self.tp, position)

    def send(self, value: str) -> None:
        sending = self.producer.send(self.tp.topic, value.encode(), partition=0)
        sending.add_callback(lambda _: self.news.acked.append(value))
        sending.add_errback(lambda _: self.news.failed.append(value))

    def poll(self, seconds: float) -> None:
        for message in self.consumer.poll(int(seconds * 1000), max_records=1).get(self.tp, ()):
            self.news.read.append(message.value.decode())
            self.position = message.offset + 1

    def restart(self) -> None:
        self.consumer.close()
        self.start(self.position)

    def commit(self) -> None:
        self.consumer.commit()

    def resume(self) -> None:
        """Start the consumer without `seek`, so that it takes the committed position and its leader epoch."""
        self.consumer.close()
        self.consumer = KafkaConsumer(**self.settings)
        self.consumer.assign([self.tp])


if __name__ == "__main__":
    follow(KafkaPython())
