"""Record data directories of real clusters: `python -m tests.audit.disks.record DIRECTORY [RUN...]`.

Every run has a cluster of its own. DIRECTORY/RUN/data gets the copies of the brokers' data directories, and
DIRECTORY/RUN/truth.json the acknowledged records that a consumer cannot read any more, by offset. DIRECTORY/RUN.tar.xz
has both, as in tests/audit/disks/recorded. A run is named KIND-RELEASE, such as unclean-3.9.2. Without names, the
command records all of RUNS that are not there yet.
"""

import contextlib
import json
import shutil
import sys
import tarfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from confluent_kafka import Consumer, ElectionType, KafkaException, TopicPartition

from epochfuzz.harness.cluster.broker import installation
from epochfuzz.harness.cluster.broker.clients import Admin, Writer
from epochfuzz.harness.cluster.broker.cluster import Cluster
from epochfuzz.harness.cluster.broker.node import Node
from epochfuzz.harness.cluster.broker.segments import records
from epochfuzz.harness.cluster.errors import ClusterError, NotReached
from epochfuzz.harness.cluster.gates.requests import Caller
from epochfuzz.harness.cluster.gates.schema import Messages
from epochfuzz.harness.cluster.room import room
from epochfuzz.harness.cluster.waiting import until
from tests.audit.disks.zookeeper import ZooKeeperCluster

TOPIC = "t"
_FIRST_WITHOUT_ZOOKEEPER = (3, 3)
_SOON = 60.0  # seconds
_CHECKPOINT = 1.5  # seconds: longer than replica.high.watermark.checkpoint.interval.ms below
_SETTINGS = {
    "replica.high.watermark.checkpoint.interval.ms": 1000,
    "replica.lag.time.max.ms": 3000,
    "broker.session.timeout.ms": 6000,
    "broker.heartbeat.interval.ms": 500,
    "offsets.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    "log.retention.check.interval.ms": 1000,
    "log.initial.task.delay.ms": 500,
    "file.delete.delay.ms": 500,
    "auto.leader.rebalance.enable": "false",
    "auto.create.topics.enable": "false",
}


class Recording:
    """One cluster that is recorded. A, B and C are its brokers."""

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
        until("topic is created", lambda: self._created(numbers, settings), _SOON)
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
            _SOON,
        )
        self.say(f"{leader.name} leads with {','.join(node.name for node in isr)}")

    def write(self, count: int, size: int = 0, acks: str = "all") -> None:
        """Write records, some to a batch, and wait until each is acknowledged."""
        first = self._sent
        with Writer("w", self.bootstrap, TOPIC, acks=acks) as writer:
            for _ in range(count):
                writer.send(f"r{self._sent}".ljust(size, "."))
                self._sent += 1
                if self._sent % 3 == 0:
                    self.cluster.until("all are acknowledged", lambda: self._all(writer, first), _SOON)
            self.cluster.until("all are acknowledged", lambda: self._all(writer, first), _SOON)
            self.acknowledged |= {(each.offset, each.value) for each in writer.acknowledged}
        self.say(f"{count} records are acknowledged, up to offset {max(each.offset for each in writer.acknowledged)}")

    def _all(self, writer: Writer, first: int) -> bool:
        return len(writer.acknowledged) == self._sent - first

    def consume(self, position: int) -> None:
        """Read up to a position, and commit it."""
        settings = {"bootstrap.servers": self.bootstrap, "group.id": "readers", "enable.auto.commit": False}
        consumer = Consumer(settings | {"auto.offset.reset": "earliest", "session.timeout.ms": 6000})
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        try:
            at = 0
            ends = time.monotonic() + _SOON
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
        self.cluster.until(f"{dead.name} leads no more", lambda: admin.leader_and_isr(TOPIC)[0] == -1, _SOON)
        self.start(node)
        self.cluster.until("somebody is elected", self._elect, _SOON)

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
        """Empty the disk of a broker that is down, and give it the identity that it had."""
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
        self.cluster.until("topic is gone", lambda: Admin(self.bootstrap).leader_and_isr(TOPIC)[0] == -1, _SOON)
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
        """Return which acknowledged records a consumer does not find any more."""
        left = self._left()
        lost = sorted(offset for offset, value in self.acknowledged if left.get(offset) != value)
        return {
            "acknowledged": len(self.acknowledged),
            "lost": [lost[0], lost[-1]] if lost else None,
            "count": len(lost),
        }

    def _left(self) -> dict[int, str]:
        """Return what a consumer reads that comes now, from the start of the log to the high watermark."""
        settings = {"bootstrap.servers": self.bootstrap, "group.id": "fresh", "enable.auto.commit": False}
        consumer = Consumer(settings)
        whole, left = TopicPartition(TOPIC, 0), dict[int, str]()
        try:
            begin, end = consumer.get_watermark_offsets(whole, timeout=30)
            consumer.assign([TopicPartition(TOPIC, 0, begin)])
            ends = time.monotonic() + _SOON
            while begin < end and (not left or max(left) < end - 1) and time.monotonic() < ends:
                message = consumer.poll(0.2)
                if message is not None and message.error() is None:
                    left[message.offset() or 0] = (message.value() or b"").decode()
        finally:
            consumer.close()
        return left


# The kinds of runs. A leads first, with B, or with B and C.


def unclean(run: Recording) -> None:
    """B is dead while A writes; A is killed for good, and B is elected."""
    run.create([run.a, run.b], unclean_leader_election_enable="true")
    run.write(20)
    run.checkpointed()
    run.kill(run.b)
    run.wait_for(run.a, [run.a])
    run.write(30)
    run.checkpointed()
    run.kill(run.a)
    run.start_after(run.b, run.a)
    run.wait_for(run.b, [run.b])
    run.write(7)
    run.checkpointed()


def unclean_returned(run: Recording) -> None:
    """As `unclean`, and A comes back and truncates; its disk was copied before."""
    unclean(run)
    run.start(run.a)
    run.wait_for(run.b, [run.a, run.b])
    run.write(5)
    run.checkpointed()


def unclean_sudden(run: Recording) -> None:
    """As `unclean`, but A is killed before its high watermark is in the checkpoint."""
    run.create([run.a, run.b], unclean_leader_election_enable="true")
    run.write(20)
    run.checkpointed()
    run.kill(run.b)
    run.wait_for(run.a, [run.a])
    run.write(30)
    run.kill(run.a)
    run.start_after(run.b, run.a)
    run.wait_for(run.b, [run.b])
    run.write(7)
    run.checkpointed()


def consumed(run: Recording) -> None:
    """As `unclean`, and a consumer has committed what it read; A's disk is gone, C has the commit."""
    run.create([run.a, run.b], unclean_leader_election_enable="true")
    run.write(20)
    run.consume(20)
    run.checkpointed()
    run.kill(run.b)
    run.wait_for(run.a, [run.a])
    run.write(30)
    run.consume(50)
    run.checkpointed()
    run.kill(run.a)
    run.start_after(run.b, run.a)
    run.wait_for(run.b, [run.b])
    run.write(7)
    run.checkpointed()


def kept(run: Recording) -> None:
    """Leaders are killed and restarted, and nothing is lost."""
    run.create([run.a, run.b, run.c], min_insync_replicas="2")
    run.write(12)
    run.checkpointed()
    run.kill(run.a)
    run.wait_for(run.b, [run.b, run.c])
    run.write(11)
    run.consume(23)
    run.start(run.a)
    run.wait_for(run.b, [run.a, run.b, run.c])
    run.write(6)
    run.end(run.b)
    run.wait_for(run.a, [run.a, run.c])
    run.write(5)
    run.start(run.b)
    run.wait_for(run.a, [run.a, run.b, run.c])
    run.checkpointed()


def uncommitted(run: Recording) -> None:
    """The leader dies with records that were never acknowledged."""
    run.create([run.a, run.b, run.c], min_insync_replicas="2")
    run.write(12)
    run.checkpointed()
    run.b.pause()
    run.c.pause()
    with Writer("unanswered", run.a.address, TOPIC) as writer:
        for number in range(4):
            writer.send(f"u{number}")
        log = run.a.data / f"{TOPIC}-0"
        run.cluster.until("the leader has records that no follower has", lambda: len(records(log)) > 12, _SOON)
        run.kill(run.a)
    run.b.resume()
    run.c.resume()
    run.wait_for(run.b, [run.b, run.c])
    run.write(9)
    run.checkpointed()


def retained(run: Recording) -> None:
    """Old segments are deleted by their size while brokers restart."""
    run.create([run.a, run.b, run.c], segment_bytes="1048576", retention_bytes="1048576", min_insync_replicas="2")
    run.write(40, size=120_000)
    run.kill(run.a)
    run.wait_for(run.b, [run.b, run.c])
    run.write(12, size=120_000)
    time.sleep(4)
    run.start(run.a)
    run.wait_for(run.b, [run.a, run.b, run.c])
    run.trim(max(offset for offset, _ in run.acknowledged) - 5)
    run.checkpointed()


def unclean_retained(run: Recording) -> None:
    """As `unclean`, of a log whose start was deleted before."""
    run.create([run.a, run.b], unclean_leader_election_enable="true")
    run.write(20)
    run.trim(9)
    run.checkpointed()
    run.kill(run.b)
    run.wait_for(run.a, [run.a])
    run.write(30)
    run.checkpointed()
    run.kill(run.a)
    run.start_after(run.b, run.a)
    run.wait_for(run.b, [run.b])
    run.write(7)
    run.checkpointed()


def disk_replaced(run: Recording) -> None:
    """A is the only member of the ISR when its disk is replaced: it leads from offset 0."""
    run.create([run.a, run.b], unclean_leader_election_enable="true")
    run.write(20)
    run.checkpointed()
    run.kill(run.b)
    run.wait_for(run.a, [run.a])
    run.write(30)
    run.checkpointed()
    run.end(run.a)
    run.replace_disk(run.a)
    run.start(run.a)
    run.wait_for(run.a, [run.a])
    run.write(7)
    run.checkpointed()


def disk_replaced_kept(run: Recording) -> None:
    """B's disk is replaced, and B copies the log again."""
    run.create([run.a, run.b], min_insync_replicas="1")
    run.write(20)
    run.checkpointed()
    run.end(run.b)
    run.wait_for(run.a, [run.a])
    run.write(6)
    run.replace_disk(run.b)
    run.start(run.b)
    run.wait_for(run.a, [run.a, run.b])
    run.write(5)
    run.checkpointed()


def recreated(run: Recording) -> None:
    """The topic is deleted and created again while B is down with its older life."""
    run.create([run.a, run.b], min_insync_replicas="1")
    run.write(40)
    run.consume(40)
    run.checkpointed()
    run.kill(run.b)
    run.wait_for(run.a, [run.a])
    run.delete()
    run.create([run.a, run.c], min_insync_replicas="1")
    run.write(9)
    run.end(run.a)
    run.wait_for(run.c, [run.c])
    run.write(4)
    run.checkpointed()


def reassigned(run: Recording) -> None:
    """The partition moves from A and B to C and B while it is written."""
    run.create([run.a, run.b], min_insync_replicas="1")
    run.write(21)
    run.checkpointed()
    run.reassign([run.c, run.b])
    run.cluster.until(
        "the replicas are B and C", lambda: Admin(run.bootstrap).leader_and_isr(TOPIC)[1] == [2, 3], _SOON
    )
    run.write(11)
    run.kill(run.b)
    run.wait_for(run.c, [run.c])
    run.write(5)
    run.checkpointed()


KINDS: dict[str, Callable[[Recording], None]] = {
    play.__name__.replace("_", "-"): play
    for play in (
        unclean,
        unclean_returned,
        unclean_sudden,
        unclean_retained,
        consumed,
        kept,
        uncommitted,
        retained,
        disk_replaced,
        disk_replaced_kept,
        recreated,
        reassigned,
    )
}
RELEASES = ("2.6.3", "2.7.2", "2.8.2", "3.3.2", "3.5.1", "3.6.2", "3.9.2", "4.1.1", "4.3.1", "4.4.0")
# At least one of each kind on each side of ZooKeeper, and the losing ones on every release.
RUNS = (
    *(f"unclean-{release}" for release in RELEASES),
    *(f"unclean-returned-{release}" for release in ("2.6.3", "3.6.2", "4.3.1")),
    *(f"unclean-sudden-{release}" for release in ("3.3.2", "3.9.2", "4.4.0")),
    *(f"unclean-retained-{release}" for release in ("2.7.2", "3.5.1", "4.1.1")),
    *(f"consumed-{release}" for release in ("3.9.2", "4.1.1", "4.4.0")),
    *(f"disk-replaced-{release}" for release in ("2.8.2", "3.6.2", "4.3.1")),
    *(f"kept-{release}" for release in ("2.6.3", "3.3.2", "4.3.1")),
    *(f"uncommitted-{release}" for release in ("2.8.2", "3.9.2", "4.4.0")),
    *(f"retained-{release}" for release in ("2.7.2", "3.5.1", "4.3.1")),
    *(f"disk-replaced-kept-{release}" for release in ("2.6.3", "3.9.2", "4.1.1")),
    *(f"recreated-{release}" for release in ("2.7.2", "2.8.2", "3.6.2", "4.4.0")),
    *(f"reassigned-{release}" for release in ("2.6.3", "3.9.2", "4.3.1")),
)


def record(name: str, directory: Path) -> None:
    """Record one run. Raises ClusterError and NotReached."""
    kind, _, release = name.rpartition("-")
    kafka = installation.from_maven(release)
    by_zookeeper = tuple(int(number) for number in release.split(".")[:2]) < _FIRST_WITHOUT_ZOOKEEPER
    target = directory / name
    with room() as here, ExitStack() as ending:
        began = time.monotonic()
        cluster = (ZooKeeperCluster if by_zookeeper else Cluster)(
            kafka, here, here / "logs", _settings(kind, by_zookeeper)
        )
        ending.callback(cluster.stop)
        cluster.keep_data(here / "kept")
        cluster.start()
        run = Recording(cluster, kafka.class_path, lambda line: print(f"{name}  {line}", flush=True))
        KINDS[kind](run)
        truth = run.truth()
        cluster.stop()
        target.mkdir(parents=True)
        shutil.copytree(here / "kept", target / "data")
        shutil.copytree(here / "logs", target / "logs")
        (target / "truth.json").write_text(json.dumps(truth) + "\n")
        with tarfile.open(directory / f"{name}.tar.xz", "w:xz") as packed:
            for part in ("data", "truth.json"):
                packed.add(target / part, part)
    print(f"{name}: {truth}, {time.monotonic() - began:.0f} s", flush=True)


def _settings(kind: str, by_zookeeper: bool) -> dict[str, object]:
    only_without = {"broker.session.timeout.ms", "broker.heartbeat.interval.ms", "log.initial.task.delay.ms"}
    settings = {key: value for key, value in _SETTINGS.items() if not (by_zookeeper and key in only_without)}
    return settings | {"offsets.topic.replication.factor": 3} if kind == "consumed" else settings


def main(directory: Path, names: list[str]) -> int:
    """Record what is not there yet; the exit code says whether all could be."""
    failed = 0
    for name in names or RUNS:
        if (directory / name).exists():
            continue
        try:
            record(name, directory)
        except (ClusterError, NotReached, KafkaException) as error:
            failed += 1
            print(f"{name}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
