"""Kafka clients that record every response: producers, a consumer and an admin client.

Each client serves its callbacks on its own thread, so every response is recorded at the time of its arrival.
"""

import logging
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Self

from confluent_kafka import Consumer, ElectionType, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from epochfuzz.harness.cluster.errors import NotReached
from epochfuzz.harness.cluster.waiting import T, until
from epochfuzz.harness.documents.cluster_records import Acknowledged, ConsumedRecord

_ANSWERS_WITHIN = 30.0  # seconds
_POLL = 0.02
UNKNOWN_OFFSET = -1  # for a record sent twice, if the leader only knows that it is a duplicate
_UNANSWERED = 1000  # records of a continuous producer that are in flight
# librdkafka would print each connection that a scenario closes on purpose.
_LOGGER = logging.getLogger(__name__)
_LOGGER.addHandler(logging.NullHandler())
_LOGGER.propagate = False
_QUIET = {"logger": _LOGGER, "error_cb": lambda error: None}


@dataclass(frozen=True)
class NotAcknowledged:
    """A record whose produce request ended with an error. `at` is a Unix time in seconds.

    The leader may still have appended the record.
    """

    value: str
    error: str
    at: float


class _Client:
    """A client with a thread that calls `serve` until the client is closed."""

    def __init__(self) -> None:
        self.fatal: str | None = None  # the error after which the client cannot continue
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._ends.is_set():
            try:
                self.serve()
            except KafkaException as error:
                self.fatal = error.args[0].str()
                return

    def serve(self) -> None:
        """Run the callbacks that are due. Raises KafkaException if the client cannot continue."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self._ends.set()
        self._thread.join()


class IdempotentProducer(_Client):
    """An idempotent producer with acks=all, as Kafka's own producer has been by default since 3.0 (KIP-679)."""

    def __init__(self, name: str, bootstrap: str, topic: str, **settings: object) -> None:
        super().__init__()
        self.name, self.topic = name, topic
        self.acknowledged: list[Acknowledged] = []
        self.refused: list[NotAcknowledged] = []
        ours = {"bootstrap.servers": bootstrap, "client.id": name, "enable.idempotence": True, "linger.ms": 0}
        self._producer = Producer(_QUIET | ours | settings)

    def send(self, value: str, partition: int = 0) -> None:
        """Send a record. Its acknowledgement or error is recorded later, when it arrives."""
        self._producer.produce(self.topic, value.encode(), partition=partition, on_delivery=self._noted)

    def serve(self) -> None:
        """Run the callbacks that are due."""
        self._producer.poll(_POLL)

    def _noted(self, error: KafkaError | None, message: Message) -> None:
        value = (message.value() or b"").decode()
        if error is not None:
            self.refused.append(NotAcknowledged(value, error.str(), time.time()))
        else:
            partition, offset = message.partition(), message.offset()
            assert partition is not None
            known = UNKNOWN_OFFSET if offset is None or offset < 0 else offset
            self.acknowledged.append(Acknowledged(value, partition, known, time.time()))


class PartitionConsumer(_Client):
    """A consumer of a topic's partition 0, from its start. `read` has all records that the consumer has read so far."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        super().__init__()
        self.read: list[ConsumedRecord] = []
        self.errors: list[str] = []
        self._consumer = Consumer(
            _QUIET | {"bootstrap.servers": bootstrap, "group.id": "reader", "enable.auto.commit": False}
        )
        self._consumer.assign([TopicPartition(topic, 0, 0)])

    def serve(self) -> None:
        """Wait briefly for a record, and add the record to `read` or its error to `errors`."""
        message = self._consumer.poll(_POLL)
        if message is None:
            return
        error, offset = message.error(), message.offset()
        if error is not None:
            self.errors.append(error.str())
        elif offset is not None:
            self.read.append(ConsumedRecord((message.value() or b"").decode(), offset, time.time()))

    def __exit__(self, *ended: object) -> None:
        super().__exit__(*ended)
        self._consumer.close()


class Load(IdempotentProducer):
    """A producer that sends to all partitions until the caller stops it, with 1,000 records in flight."""

    def __init__(self, name: str, bootstrap: str, topic: str, partitions: int) -> None:
        super().__init__(name, bootstrap, topic)
        self.is_going_on = True
        self._partitions, self._sent = partitions, 0

    def serve(self) -> None:
        """Send records until 1,000 are in flight, and run the callbacks that are due."""
        while self.is_going_on and self._sent - len(self.acknowledged) - len(self.refused) < _UNANSWERED:
            self.send(f"{self.name}-{self._sent}", self._sent % self._partitions)
            self._sent += 1
        super().serve()


def read_all(bootstrap: str, topic: str, partitions: int = 1) -> list[ConsumedRecord]:
    """Return the records that a new consumer reads, from the start of each partition to its high watermark."""
    consumer = Consumer(_QUIET | {"bootstrap.servers": bootstrap, "group.id": "fresh", "enable.auto.commit": False})
    try:
        whole = [TopicPartition(topic, partition, 0) for partition in range(partitions)]
        ends = [consumer.get_watermark_offsets(each, timeout=_ANSWERS_WITHIN)[1] for each in whole]
        consumer.assign(whole)
        found: list[ConsumedRecord] = []
        while any(at.offset < end for at, end in zip(consumer.position(whole), ends, strict=True) if end > 0):
            for message in consumer.consume(1000, timeout=1):
                offset, partition = message.offset(), message.partition()
                if message.error() is None and offset is not None and partition is not None:
                    found.append(ConsumedRecord((message.value() or b"").decode(), offset, time.time(), partition))
        return found
    finally:
        consumer.close()


class Admin:
    """An admin client, which at first knows only the brokers in `bootstrap`."""

    def __init__(self, bootstrap: str) -> None:
        settings: Any = _QUIET | {"bootstrap.servers": bootstrap}  # the type stub has no logger
        self._client = AdminClient(settings)

    def create_topic(self, name: str, replicas: list[list[int]], **settings: str) -> None:
        """Create a topic.

        Each list in `replicas` has the node ids of a partition's replicas, the preferred leader first. Raises
        NotReached.
        """
        config = {key.replace("_", "."): value for key, value in settings.items()}
        wanted = NewTopic(name, num_partitions=len(replicas), replica_assignment=replicas, config=config)
        _result(f"topic {name} is created", self._client.create_topics([wanted])[name])

    def leader_and_isr(self, topic: str) -> tuple[int, list[int]]:
        """Return the leader and the ISR of a topic's partition 0, in the view of the broker that responds.

        Leader -1 means that there is no leader, or that no broker responds.
        """
        try:
            known = self._client.list_topics(topic, timeout=1).topics[topic].partitions.get(0)
        except KafkaException:
            return -1, []
        return (known.leader, sorted(known.isrs)) if known else (-1, [])

    def are_in_sync(self, topic: str, partitions: int, leader: int | None = None) -> bool:
        """Return whether all replicas of a topic are in sync.

        If `leader` is given, this broker must also lead all partitions.
        """
        try:
            known = self._client.list_topics(topic, timeout=1).topics[topic].partitions
        except KafkaException:
            return False
        return len(known) == partitions and all(
            len(each.isrs) == len(each.replicas) and leader in (None, each.leader) for each in known.values()
        )

    def elect_preferred(self, topic: str, partitions: list[int], avoid: int | None = None) -> None:
        """Elect the preferred leaders of partitions.

        The request does not go through the broker `avoid`. Raises NotReached.

        Each metadata response of a KRaft cluster names a random live broker as the controller. That broker forwards
        requests to the controller (KIP-590). A paused broker cannot forward them, so this method asks for metadata
        until the response names another broker than `avoid`.
        """
        until(
            f"a metadata response names a controller other than {avoid}",
            lambda: self._client.list_topics(timeout=5).controller_id != avoid,
            _ANSWERS_WITHIN,
        )
        wanted = [TopicPartition(topic, partition) for partition in partitions]
        elected = _result("the preferred leader is elected", self._client.elect_leaders(ElectionType.PREFERRED, wanted))
        for failed in elected.values():
            if failed is not None and failed.code() != KafkaError.ELECTION_NOT_NEEDED:
                raise NotReached(f"the controller did not elect the preferred leader: {failed.str()}")


def _result(what: str, asked: "Future[T]") -> T:
    """Wait for the cluster's response, and return the response. Raises NotReached for an error or a time-out."""
    try:
        return asked.result(_ANSWERS_WITHIN)
    except (KafkaException, TimeoutError) as error:
        raise NotReached(f"not reached: {what}: {error or 'no response'}") from None
