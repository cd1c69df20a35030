"""Record data directories of real clusters: `python -m tests.audit.disks.record DIRECTORY [RUN...]`.

Every run has a cluster of its own. DIRECTORY/RUN/data gets the copies of the brokers' data directories, and
DIRECTORY/RUN/truth.json the acknowledged records that a consumer cannot read any more, by offset. DIRECTORY/RUN.tar.xz
has both, as in tests/audit/disks/recorded. A run is named KIND-RELEASE, such as unclean-3.9.2. Without names, the
command records all of RUNS that are not there yet.
"""

import json
import shutil
import sys
import tarfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from confluent_kafka import KafkaException

from epochfuzz.harness.cluster.broker import installation
from epochfuzz.harness.cluster.broker.clients import Admin, IdempotentProducer
from epochfuzz.harness.cluster.broker.cluster import Cluster
from epochfuzz.harness.cluster.broker.segments import records
from epochfuzz.harness.cluster.errors import ClusterError, NotReached
from epochfuzz.harness.cluster.room import room
from tests.audit.disks.recording import SOON, TOPIC, Recording
from tests.audit.disks.zookeeper import ZooKeeperCluster

_FIRST_WITHOUT_ZOOKEEPER = (3, 3)
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


def unclean_numbered(run: Recording) -> None:
    """As `unclean`, but the producer of the lost records is still there, and B does not know it."""
    run.create([run.a, run.b], unclean_leader_election_enable="true")
    run.write(20)
    run.checkpointed()
    run.kill(run.b)
    run.wait_for(run.a, [run.a])
    with run.producer() as writer:
        run.write_with(writer, 30)
        run.checkpointed()
        run.kill(run.a)
        run.start_after(run.b, run.a)
        run.wait_for(run.b, [run.b])
        run.write_with(writer, 7)
    run.checkpointed()


def consumed(run: Recording) -> None:
    """As `unclean`, and a consumer has committed its position. A's disk is gone, and C has the commit."""
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
    with IdempotentProducer("unanswered", run.a.address, TOPIC) as writer:
        for number in range(4):
            writer.send(f"u{number}")
        log = run.a.data / f"{TOPIC}-0"
        run.cluster.until("the leader has records that no follower has", lambda: len(records(log)) > 12, SOON)
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
    """The topic is deleted and created again while B is down with a replica of the deleted topic."""
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
    run.cluster.until("the replicas are B and C", lambda: Admin(run.bootstrap).leader_and_isr(TOPIC)[1] == [2, 3], SOON)
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
        unclean_numbered,
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
    *(f"unclean-numbered-{release}" for release in ("2.6.3", "4.3.1")),
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
    """Record the runs that are missing. Returns 0 if all could be recorded."""
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
