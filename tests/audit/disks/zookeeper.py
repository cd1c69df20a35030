"""A cluster of the time of ZooKeeper, which releases before 3.3 need: ZooKeeper and three brokers on this machine."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from epochfuzz.harness.cluster.broker.cluster import HOST, Cluster, accepts, free_ports
from epochfuzz.harness.cluster.broker.installation import Installation
from epochfuzz.harness.cluster.broker.node import Node

_STARTS_WITHIN = 60.0  # seconds
_SESSION = 6000  # ms


class ZooKeeperCluster(Cluster):
    """The brokers by their names; the node that is called controller elsewhere is ZooKeeper here."""

    def __init__(
        self, kafka: Installation, room: Path, logs: Path, settings: Mapping[str, object] | None = None
    ) -> None:
        self._zookeeper_port = free_ports(1)[0]
        self._room = room
        super().__init__(kafka, room, logs, settings)
        self._brokers_alone = list(self.brokers.values())
        (room / "zookeeper").mkdir()
        (room / "zookeeper.properties").write_text(
            f"dataDir={room / 'zookeeper'}\nclientPort={self._zookeeper_port}\nclientPortAddress={HOST}\n"
            "maxClientCnxns=0\nadmin.enableServer=false\ntickTime=500\n"
        )
        self._zookeeper: subprocess.Popen[bytes] | None = None
        self.nodes = self._brokers_alone

    def start(self) -> None:
        """Start ZooKeeper, then the brokers, and wait until each takes requests."""
        command = self.controller.command(
            "org.apache.zookeeper.server.quorum.QuorumPeerMain", str(self._room / "zookeeper.properties")
        )
        with (self._room / "zookeeper.log").open("wb") as log:
            self._zookeeper = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        self.until("ZooKeeper takes requests", lambda: accepts(self._zookeeper_port), _STARTS_WITHIN)
        for node in self._brokers_alone:
            node.start()
        for node in self._brokers_alone:
            self.wait_for_start(node)

    def stop(self) -> None:
        """End every process."""
        super().stop()
        if self._zookeeper is not None:
            self._zookeeper.kill()
            self._zookeeper.wait()

    def _settings(self, node: Node) -> dict[str, object]:
        return {
            "broker.id": node.number,
            "zookeeper.connect": f"{HOST}:{self._zookeeper_port}",
            "zookeeper.session.timeout.ms": _SESSION,
            "listeners": f"PLAINTEXT://{node.address}",
            "log.dirs": node.data,
            "offsets.topic.replication.factor": 1,
        }
