"""A cluster whose disks are recorded: its clients, the faults of its brokers, and the records that clients read."""

import contextlib
import shutil
import time
from collections.abc import Callable

from confluent_kafka import Consumer, ElectionType, KafkaException, TopicPartition

from epochfuzz.harness.cluster.broker.clients import Admin, IdempotentProducer
from epochfuzz.harness.cluster.broker.cluster import Cluster
from epochfuzz.harness.cluster.broker.node import Node
from epochfuzz.harness.cluster.errors import NotReached
from epochfuzz.harness.cluster.gates.requests import Caller
from epochfuzz.harness.cluster.gates.schema import Messages
from epochfuzz.harness.cluster.waiting import until
from tests.audit.disks.zookeeper import ZooKeeperCluster

TOPIC = "t"
SOON = 60.0  # seconds
_CHECKPOINT = 1.5  # seconds: longer than replica.high.watermark.checkpoint.interval.ms of the recorded clusters


class Recording:
    """A cluster whose disks are recorded. A, B and C are its brokers."""

    def __init__(self, cluster: Cluster, class_path: tuple[str, ...], say: Callable[[str], None]) -> None:
        self.cluster, self.say = cluster, say
        self.a, self.b, self.c = cluster.brokers.values()
        self.acknowledged: set[tuple[int, str]] = set()
        self._class_path = class_path
        self._sent = 0

    @property
    def alive(self) -> list[Node]:
        return [node for node in self.cluster.brokers.values() if node.state == "running"]

    @property
    def bootstrap(self) -> str:
        return ",".join(node.address for node in self.alive)

    def create(self, replicas: list[Node], **settings: str) -> None:
        numbers = [node.number for node in replicas]
        until("topic is created", lambda: self._created(numbers, settings), SOON)
        self.wait_for(replicas[0], replicas)

    def _created(self, numbers: list[int], settings: dict[str, str]) -> bool:
        try:
            Admin(self.bootstrap).create_topic(TOPIC, [numbers], **settings)
        except NotReached as error:
            return "already exists" in str(error)
        return True

    def wait_for(self, leader: Node, isr: list[Node]) -> None:
        wanted = leader.number, sorted(node.number for node in isr)
        self.cluster.until(
            f"{leader.name} leads, and the ISR is {wanted[1]}",
            lambda: Admin(self.bootstrap).leader_and_isr(TOPIC) == wanted,
            SOON,
        )
        self.say(f"{leader.name} leads with {','.join(node.name for node in isr)}")

    def write(self, count: int, size: int = 0, acks: str = "all") -> None:
        """Write records with a new producer, some to a batch, and wait until each is acknowledged."""
        with self.producer(acks) as writer:
            self.write_with(writer, count, size)

    def producer(self, acks: str = "all") -> IdempotentProducer:
        return IdempotentProducer("w", self.bootstrap, TOPIC, acks=acks)

    def write_with(self, writer: IdempotentProducer, count: int, size: int = 0) -> None:
        """Write records as `write` does, with a producer that may have written others before."""
        before = len(writer.acknowledged)
        for number in range(1, count + 1):
            writer.send(f"r{self._sent}".ljust(size, "."))
            self._sent += 1
            if self._sent % 3 == 0:
                self._wait_for_answers(writer, before + number)
        self._wait_for_answers(writer, before + count)
        self.acknowledged |= {(each.offset, each.value) for each in writer.acknowledged}
        self.say(f"{count} records are acknowledged, up to offset {max(each.offset for each in writer.acknowledged)}")

    def _wait_for_answers(self, writer: IdempotentProducer, wanted: int) -> None:
        self.cluster.until("all are acknowledged", lambda: len(writer.acknowledged) == wanted, SOON)

    def consume(self, position: int) -> None:
        """Read up to a position, and commit it."""
        settings = {"bootstrap.servers": self.bootstrap, "group.id": "readers", "enable.auto.commit": False}
        consumer = Consumer(settings | {"auto.offset.reset": "earliest", "session.timeout.ms": 6000})
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        try:
            at = 0
            ends = time.monotonic() + SOON
            while at < position and time.monotonic() < ends:
                message = consumer.poll(0.2)
                if message is not None and message.error() is None:
                    at = (message.offset() or 0) + 1
            consumer.commit(asynchronous=False)
        finally:
            consumer.close()
        self.say(f"a consumer has committed {at}")

    def checkpointed(self) -> None:
        """Wait until every high watermark is in its checkpoint."""
        time.sleep(_CHECKPOINT)

    def kill(self, node: Node) -> None:
        node.kill()
        self.say(f"{node.name} is killed")

    def end(self, node: Node) -> None:
        node.terminate()
        self.cluster.wait_for_end(node)
        self.say(f"{node.name} is shut down")

    def start_after(self, node: Node, dead: Node) -> None:
        """Start a broker after the controller has noticed that the leader is dead."""
        admin = Admin(self.bootstrap)
        self.cluster.until(f"{dead.name} leads no more", lambda: admin.leader_and_isr(TOPIC)[0] == -1, SOON)
        self.start(node)
        self.cluster.until("somebody is elected", self._elect, SOON)

    def _elect(self) -> bool:
        """Ask for an unclean election, which KRaft before 3.9 does not always hold by itself."""
        admin = Admin(self.bootstrap)
        if admin.leader_and_isr(TOPIC)[0] >= 0:
            return True
        time.sleep(1)
        with contextlib.suppress(KafkaException):
            admin._client.elect_leaders(ElectionType.UNCLEAN, [TopicPartition(TOPIC, 0)]).result(10)
        return False

    def start(self, node: Node) -> None:
        node.start()
        self.cluster.wait_for_start(node)
        self.say(f"{node.name} has started")

    def replace_disk(self, node: Node) -> None:
        """Empty the disk of a broker that is down, and write its old identity to the disk."""
        self.cluster.copies.before_restart(node.name, node.data)
        keep = {name: (node.data / name).read_text() for name in ("meta.properties",) if (node.data / name).exists()}
        shutil.rmtree(node.data)
        node.data.mkdir()
        for name, text in keep.items():
            (node.data / name).write_text(text)
        self.say(f"{node.name} has a new disk")

    def delete(self) -> None:
        client = Admin(self.bootstrap)._client
        client.delete_topics([TOPIC])[TOPIC].result(30)
        self.acknowledged.clear()
        self.cluster.until("topic is gone", lambda: Admin(self.bootstrap).leader_and_isr(TOPIC)[0] == -1, SOON)
        self.say("the topic is deleted")

    def reassign(self, replicas: list[Node]) -> None:
        """Move the partition to other replicas. Only the controller takes the request."""
        messages = Messages.of(self._class_path)
        nodes = self.alive if isinstance(self.cluster, ZooKeeperCluster) else [self.cluster.controller]
        for node in nodes:
            try:
                Caller(messages, node.port).order(TOPIC, [each.number for each in replicas])
                break
            except NotReached:
                continue
        self.say(f"the replicas are to be {','.join(node.name for node in replicas)}")

    def trim(self, before: int) -> None:
        """Delete the records below an offset, as an operator does with kafka-delete-records.sh."""
        client = Admin(self.bootstrap)._client
        for future in client.delete_records([TopicPartition(TOPIC, 0, before)]).values():
            future.result(30)
        self.acknowledged = {(offset, value) for offset, value in self.acknowledged if offset >= before}
        self.say(f"records below {before} are deleted")

    def truth(self) -> dict[str, object]:
        """Return the acknowledged records that a consumer no longer finds."""
        left = self._left()
        lost = sorted(offset for offset, value in self.acknowledged if left.get(offset) != value)
        return {
            "acknowledged": len(self.acknowledged),
            "lost": [lost[0], lost[-1]] if lost else None,
            "count": len(lost),
        }

    def _left(self) -> dict[int, str]:
        """Return the records that a new consumer reads, from the start of the log to the high watermark."""
        settings = {"bootstrap.servers": self.bootstrap, "group.id": "fresh", "enable.auto.commit": False}
        consumer = Consumer(settings)
        whole, left = TopicPartition(TOPIC, 0), dict[int, str]()
        try:
            begin, end = consumer.get_watermark_offsets(whole, timeout=30)
            consumer.assign([TopicPartition(TOPIC, 0, begin)])
            ends = time.monotonic() + SOON
            while begin < end and (not left or max(left) < end - 1) and time.monotonic() < ends:
                message = consumer.poll(0.2)
                if message is not None and message.error() is None:
                    left[message.offset() or 0] = (message.value() or b"").decode()
        finally:
            consumer.close()
        return left
