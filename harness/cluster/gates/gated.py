"""A cluster whose processes reach each other through gates, and clients reach as they always do."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from epochfuzz.harness.cluster.broker.cluster import CONTROLLER, HOST, NAMES, Cluster
from epochfuzz.harness.cluster.broker.installation import Installation
from epochfuzz.harness.cluster.broker.node import Node
from epochfuzz.harness.cluster.gates.frames import Kind
from epochfuzz.harness.cluster.gates.gates import Gates
from epochfuzz.harness.cluster.gates.metadata import MetadataLog
from epochfuzz.harness.cluster.gates.requests import Caller
from epochfuzz.harness.cluster.gates.schema import Messages

SESSION = 4.0  # seconds: that long a broker is alive for the controller which is not, or is not heard of
LAG = 3.0  # seconds: that long a follower may lag
_NEVER = 600_000  # ms: nobody loses patience because of a gate
REGISTERS_WITHIN = 60.0  # seconds


class GatedCluster(Cluster):
    """The nodes, with a proxy before each, and what is known of them.

    A broker's own address is for clients; to other brokers it advertises its proxy's.
    """

    spare_ports = len(NAMES)  # where brokers listen for brokers

    def __init__(self, kafka: Installation, room: Path, logs: Path) -> None:
        self.messages = Messages.of(kafka.class_path)
        self.gates = Gates(self.messages)
        for name in (CONTROLLER, *NAMES):
            self.gates.before(name)  # first of all: nobody is given a port that was looked for and is free
        super().__init__(kafka, room, logs)
        for broker in self.brokers.values():
            broker.logging = "-gates"
        self.metadata = MetadataLog(self.controller.data, self.messages.records)
        self.at_controller = Caller(self.messages, self.controller.port)

    def start(self) -> None:
        """Start all nodes, and wait until the controller hears from every broker. Raises ClusterError."""
        super().start()
        for broker in self.brokers.values():
            self.wait_for_unfenced(broker)

    def stop(self) -> None:
        """End every process and every proxy."""
        super().stop()
        self.gates.close()

    def is_unfenced(self, broker: Node) -> bool:
        """Whether the controller hears from a broker, as it has written."""
        return self.metadata.look().fenced.get(broker.number) is False

    def wait_for_unfenced(self, broker: Node) -> None:
        """Wait until the controller hears from a broker."""
        self.until(f"the controller hears from {broker.name}", lambda: self.is_unfenced(broker), REGISTERS_WITHIN)

    def start_again(self, broker: Node) -> Callable[[], bool]:
        """Start a broker that is down; returns what says whether the controller has taken it back."""
        before = self.metadata.look().registrations[broker.number]
        broker.start()
        return lambda: self.is_unfenced(broker) and self.metadata.registrations[broker.number] > before

    def shut(self, broker: Node) -> None:
        """Shut the gates of a broker, but for its heartbeats, and wait until it knows what there is and asks for more.

        A fetch of metadata that is under way is answered within half a second.
        """
        for kind in (Kind.FETCH, Kind.ALTER, Kind.METADATA):
            self.gates.shut(kind, broker.number)
        self.gates.limit(broker.number, self.metadata.look().end)
        self.until(f"{broker.name} asks for metadata", lambda: self.asks_beyond(broker) is not None, 20)

    def asks_beyond(self, broker: Node) -> int | None:
        """Return from which offset a broker's waiting fetch asks for metadata."""
        waiting = self.gates.held(Kind.METADATA, broker.number)
        return self.gates.fetch_offset(waiting[-1]) if waiting else None

    def open_all(self) -> None:
        """Open every gate."""
        for broker in self.brokers.values():
            for kind in Kind:
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
            "replica.fetch.max.bytes": 1,  # a batch in each answer
            "replica.socket.timeout.ms": _NEVER,
            "controller.socket.timeout.ms": _NEVER,
            "controller.quorum.request.timeout.ms": _NEVER,
            "controller.quorum.fetch.timeout.ms": _NEVER,
            "auto.create.topics.enable": "false",
            "offsets.topic.num.partitions": 1,
        }


@contextmanager
def running(kafka: Installation, room: Path, logs: Path, data: Path | None = None) -> Iterator[GatedCluster]:
    """Start a cluster with gates, and end it, however that ends. `data` gets copies of the nodes' data directories."""
    with ExitStack() as ending:
        cluster = GatedCluster(kafka, room, logs)
        if data is not None:
            cluster.keep_data(data)
        ending.callback(cluster.stop)
        cluster.start()
        yield cluster
