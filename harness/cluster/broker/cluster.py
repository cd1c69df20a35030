"""A Kafka cluster on this machine: a controller and three brokers, with Kafka's default settings."""

import base64
import socket
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from epochfuzz.harness.cluster.broker.data import Copies
from epochfuzz.harness.cluster.broker.installation import Installation
from epochfuzz.harness.cluster.broker.node import Node
from epochfuzz.harness.cluster.errors import ClusterError
from epochfuzz.harness.cluster.waiting import T, until

HOST = "127.0.0.1"
NAMES = ("A", "B", "C")
CONTROLLER = "controller"

_CONTROLLER_ID = 100
_STARTS_WITHIN = 90.0  # seconds
_ENDS_WITHIN = 30.0


class Cluster:
    """A controller and the brokers A, B and C. All data is below `room`, and the log files are in `logs`."""

    spare_ports = 0  # additional ports that a subclass needs

    def __init__(
        self, kafka: Installation, room: Path, logs: Path, settings: Mapping[str, object] | None = None
    ) -> None:
        logs.mkdir(parents=True, exist_ok=True)
        ports = free_ports(len(NAMES) + 1 + self.spare_ports)
        self.spare = ports[len(NAMES) + 1 :]
        self.controller = Node(CONTROLLER, _CONTROLLER_ID, ports[0], kafka, room, logs)
        self.brokers = {
            name: Node(name, number, port, kafka, room, logs)
            for number, (name, port) in enumerate(zip(NAMES, ports[1:], strict=False), start=1)
        }
        self.nodes = [self.controller, *self.brokers.values()]
        self.copies: Copies | None = None
        for node in self.nodes:
            node.configure(self._settings(node) | dict(settings or {}))

    def keep_data(self, directory: Path) -> None:
        """Make the cluster copy its nodes' data into a directory later.

        The cluster copies the data before each restart of a node, and when the cluster stops.
        """
        self.copies = Copies(directory)
        for node in self.nodes:
            node.copies = self.copies

    def start(self) -> None:
        """Format and start all nodes, and wait until every broker accepts connections.

        Raises ClusterError and NotReached.
        """
        cluster = new_id()
        formatting = [(node, node.format(cluster)) for node in self.nodes]
        for node, process in formatting:
            said, _ = process.communicate()
            if process.returncode != 0:
                ended = f"ended with {process.returncode}: {said.strip()[-1000:]}"
                raise ClusterError(f"kafka.tools.StorageTool cannot format {node.name}: it {ended}")
        for node in self.nodes:
            node.start()
        for broker in self.brokers.values():
            self.wait_for_start(broker)

    def wait_for_start(self, broker: Node) -> None:
        """Wait until a started broker accepts connections. Raises NotReached."""
        self.until(f"{broker.name} takes requests", lambda: accepts(broker.port), _STARTS_WITHIN)

    def until(self, what: str, condition: Callable[[], T], seconds: float) -> T:
        """Wait until a condition is true, and return its value. Raises NotReached after `seconds`.

        Raises ClusterError if a node breaks down.
        """
        return until(what, condition, seconds, self._check)

    def wait_for_end(self, broker: Node) -> None:
        """Wait until the process of a terminated broker has exited. Raises NotReached."""
        self.until(f"{broker.name} has ended", lambda: broker.state == "down", _ENDS_WITHIN)

    def named(self, number: int) -> str:
        """Return the name of the broker with a node id. If no broker has the id, return the id as text."""
        return next((name for name, node in self.brokers.items() if node.number == number), str(number))

    def stop(self) -> None:
        """Kill all processes, also paused ones, and copy their data if `keep_data` was called."""
        for node in self.nodes:
            node.kill()
        copies, self.copies = self.copies, None
        if copies is not None:
            copies.at_the_end([(node.name, node.data) for node in self.nodes])

    def _check(self) -> None:
        for node in self.nodes:
            node.check()

    def _settings(self, node: Node) -> dict[str, object]:
        """Return a node's server.properties: the settings that it needs, and one replica for __consumer_offsets.

        All other settings keep Kafka's defaults. The first consumer creates __consumer_offsets. If that topic had
        followers, one of their fetches could be pending at a paused leader. The pending fetch would block the
        follower's other requests to that leader.
        """
        is_controller = node is self.controller
        listener = CONTROLLER.upper() if is_controller else "PLAINTEXT"
        return {
            "process.roles": "controller" if is_controller else "broker",
            "node.id": node.number,
            "controller.quorum.voters": f"{_CONTROLLER_ID}@{self.controller.address}",
            "controller.listener.names": CONTROLLER.upper(),
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "listeners": f"{listener}://{node.address}",
            "log.dirs": node.data,
            "offsets.topic.replication.factor": 1,
        }


_AnyCluster = TypeVar("_AnyCluster", bound=Cluster)


@contextmanager
def running(cluster: _AnyCluster, data: Path | None = None) -> Iterator[_AnyCluster]:
    """Start a cluster, yield it, and stop it at the end of this block, also after an error.

    `data` is a directory for copies of the nodes' data, or None.
    """
    if data is not None:
        cluster.keep_data(data)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def new_id() -> str:
    """Return a random cluster id in Kafka's format.

    The id never begins with `-`, because Kafka's storage tool would take such an id for an option.
    """
    while (drawn := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return drawn


def free_ports(count: int) -> list[int]:
    """Return `count` free ports of the loopback interface."""
    with ExitStack() as closing:
        sockets = [closing.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((HOST, 0))
        return [each.getsockname()[1] for each in sockets]


def accepts(port: int) -> bool:
    """Return whether a process listens on a port of this machine."""
    with socket.socket() as tried:
        tried.settimeout(1)
        return tried.connect_ex((HOST, port)) == 0
