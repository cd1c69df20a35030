"""A Kafka cluster whose nodes reach each other only through gates. Clients connect directly."""

from collections.abc import Callable
from pathlib import Path

from epochfuzz.harness.cluster.broker.cluster import CONTROLLER, HOST, NAMES, Cluster
from epochfuzz.harness.cluster.broker.installation import Installation
from epochfuzz.harness.cluster.broker.node import Node
from epochfuzz.harness.cluster.gates.frames import RequestKind
from epochfuzz.harness.cluster.gates.gates import Gates
from epochfuzz.harness.cluster.gates.metadata import ControllerLog
from epochfuzz.harness.cluster.gates.requests import Caller
from epochfuzz.harness.cluster.gates.schema import Messages

SESSION = 4.0  # seconds: how long the controller keeps a silent broker unfenced
LAG = 3.0  # seconds: how long a follower may lag
_NEVER = 600_000  # ms: so long that no request times out while a gate holds it
REGISTERS_WITHIN = 60.0  # seconds


class GatedCluster(Cluster):
    """A cluster with a proxy in front of each node. `metadata` is the controller's metadata log.

    Clients use a broker's own address. The broker advertises its proxy's address to other brokers.
    """

    spare_ports = len(NAMES)  # the ports of the listeners between brokers

    def __init__(self, kafka: Installation, room: Path, logs: Path) -> None:
        self.messages = Messages.of(kafka.class_path)
        self.gates = Gates(self.messages)
        for name in (CONTROLLER, *NAMES):
            self.gates.before(name)  # before the nodes get their ports, so that no proxy takes one of these ports
        super().__init__(kafka, room, logs)
        for broker in self.brokers.values():
            broker.logging = "-gates"
        self.metadata = ControllerLog(directory=self.controller.data, definitions=self.messages.records)
        self.at_controller = Caller(self.messages, self.controller.port)

    def start(self) -> None:
        """Start all nodes, and wait until the controller has unfenced every broker.

        Raises ClusterError and NotReached.
        """
        super().start()
        for broker in self.brokers.values():
            self.wait_for_unfenced(broker)

    def stop(self) -> None:
        """Stop all processes and all proxies."""
        super().stop()
        self.gates.close()

    def is_unfenced(self, broker: Node) -> bool:
        """Return whether the metadata log says that a broker is unfenced."""
        return self.metadata.look().fenced.get(broker.number) is False

    def wait_for_unfenced(self, broker: Node) -> None:
        """Wait until the controller has unfenced a broker. Raises NotReached."""
        self.until(f"the controller has unfenced {broker.name}", lambda: self.is_unfenced(broker), REGISTERS_WITHIN)

    def start_again(self, broker: Node) -> Callable[[], bool]:
        """Start a broker that is down. Returns a function that tells whether the broker is back.

        The broker is back if the controller has registered and unfenced its new process.
        """
        before = self.metadata.look().registrations[broker.number]
        broker.start()
        return lambda: self.is_unfenced(broker) and self.metadata.registrations[broker.number] > before

    def shut(self, broker: Node) -> None:
        """Shut all gates of a broker except the heartbeat gate. Shut gates hold the broker's messages.

        Waits until the broker has fetched all metadata and asks for more. A fetch that passed before
        the gate was shut may stay pending at the controller for half a second.
        """
        for kind in (RequestKind.FETCH, RequestKind.ALTER, RequestKind.METADATA):
            self.gates.shut(kind, broker.number)
        self.gates.limit(broker.number, self.metadata.look().end)
        self.until(f"{broker.name} asks for metadata", lambda: self.asks_beyond(broker) is not None, 20)

    def asks_beyond(self, broker: Node) -> int | None:
        """Return the offset of the metadata fetch that waits at a broker's gate, or None if no fetch waits."""
        waiting = self.gates.held(RequestKind.METADATA, broker.number)
        return self.gates.fetch_offset(waiting[-1]) if waiting else None

    def open_all(self) -> None:
        """Open the gates of all brokers."""
        for broker in self.brokers.values():
            for kind in RequestKind:
                self.gates.open(kind, broker.number)

    def _settings(self, node: Node) -> dict[str, object]:
        if node is self.controller:
            own = super()._settings(node) | {"broker.session.timeout.ms": int(SESSION * 1000)}
            return own | {"metadata.max.idle.interval.ms": 0, "auto.leader.rebalance.enable": "false"}
        to_controller, to_broker = self.gates.proxies[CONTROLLER], self.gates.proxies[node.name]
        to_controller.upstream = self.controller.port
        to_broker.upstream = self.spare[node.number - 1]
        return super()._settings(node) | {
            "controller.quorum.voters": f"{self.controller.number}@{HOST}:{to_controller.port}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,BETWEEN:PLAINTEXT",
            "listeners": f"PLAINTEXT://{node.address},BETWEEN://{HOST}:{to_broker.upstream}",
            "advertised.listeners": f"PLAINTEXT://{node.address},BETWEEN://{HOST}:{to_broker.port}",
            "inter.broker.listener.name": "BETWEEN",
            "broker.session.timeout.ms": int(SESSION * 1000),
            "broker.heartbeat.interval.ms": 100,
            "replica.lag.time.max.ms": int(LAG * 1000),
            "replica.fetch.wait.max.ms": 10,
            "replica.fetch.backoff.ms": 20,
            "replica.fetch.max.bytes": 1,  # one batch in each response
            "replica.socket.timeout.ms": _NEVER,
            "controller.socket.timeout.ms": _NEVER,
            "controller.quorum.request.timeout.ms": _NEVER,
            "controller.quorum.fetch.timeout.ms": _NEVER,
            "auto.create.topics.enable": "false",
            "offsets.topic.num.partitions": 1,
        }
