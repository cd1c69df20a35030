"""`python -m tests.findings.kafka.restarted_leader`: a broker restarts, and a producer sends its batches again.

This runs one unpatched broker and Kafka's own producer. A proxy between the two drops the responses to the producer's
first two batches, and the broker then restarts. The program prints the log. The exit code is 0 if the log has each
record twice, 1 if the log has each record once, and 2 if the program fails.
"""

import argparse
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from epochfuzz.harness.cluster.broker.cluster import HOST, accepts, free_ports, new_id
from epochfuzz.harness.cluster.broker.installation import DEFAULT_RELEASE, RESOURCES, Installation, from_maven
from epochfuzz.harness.cluster.broker.node import Node
from epochfuzz.harness.cluster.broker.tools import java
from epochfuzz.harness.cluster.errors import ClusterError
from epochfuzz.harness.cluster.room import room
from epochfuzz.harness.cluster.waiting import until
from tests.findings.kafka.__main__ import repaired
from tests.findings.proxy import Proxy, frame_from

PROGRAM = Path(__file__).parent / "RestartedLeader.java"
REPAIR = "restarted-leader"
PRODUCE = 0  # the API key of a produce request
BATCHES = 2
PATIENCE = 90.0  # seconds
TWICE, ONCE, UNUSABLE = range(3)


class DroppingProxy(Proxy):
    """Forwards connections to a broker. While `drops` is true, the proxy drops responses to produce requests."""

    def __init__(self, port: int, broker: int) -> None:
        self.drops = True
        self.dropped = 0
        super().__init__(port, broker)

    def serve(self, client: socket.socket) -> None:
        """Forward one connection until the client or the broker closes it."""
        with client, suppress(OSError), socket.create_connection((HOST, self.broker)) as broker:
            produced: set[bytes] = set()  # the correlation ids of produce requests
            threading.Thread(target=self._send, args=[client, broker, produced], daemon=True).start()
            while response := frame_from(broker):
                if self.drops and response[4:8] in produced:
                    self.dropped += 1
                else:
                    client.sendall(response)
            broker.shutdown(socket.SHUT_RDWR)
            client.shutdown(socket.SHUT_RDWR)

    def _send(self, client: socket.socket, broker: socket.socket, produced: set[bytes]) -> None:
        with suppress(OSError):
            while request := frame_from(client):
                if int.from_bytes(request[4:6], "big") == PRODUCE:
                    produced.add(request[8:12])
                broker.sendall(request)
            broker.shutdown(socket.SHUT_RDWR)


def main() -> int:
    """Run the broker and the producer, and print the log. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.findings.kafka.restarted_leader", description=__doc__)
    parser.add_argument("--release", default=DEFAULT_RELEASE, help=f"{DEFAULT_RELEASE} if left out")
    parser.add_argument("--kill", action="store_true", help="kill the broker instead of shutting it down")
    parser.add_argument("--repair", action="store_true", help="add the repair to the broker's bytecode")
    given = parser.parse_args()
    try:
        text = run(given.release, kill=given.kill, repair=given.repair)
    except ClusterError as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    print(text, end="")
    return TWICE if text.count("offset 2: ") else ONCE


def run(release: str, *, kill: bool, repair: bool) -> str:
    """Restart a broker after it has appended two batches. Returns the producer's output. Raises ClusterError."""
    kafka = from_maven(release)
    broker_kafka = kafka.preceded_by(repaired(release, REPAIR)) if repair else kafka
    with room() as directory:
        port, advertised, controller = free_ports(3)
        with only_broker(broker_kafka, directory, port, advertised, controller) as node:
            return _restart(node, DroppingProxy(advertised, port), kafka, f"{HOST}:{advertised}", kill=kill)


@contextmanager
def only_broker(kafka: Installation, directory: Path, port: int, advertised: int, controller: int) -> Iterator[Node]:
    """Run a broker that is its own controller, and takes requests. Clients connect to the port `advertised`.

    Raises ClusterError.
    """
    node = Node("broker", 1, port, kafka, directory, directory)
    node.configure(settings(node, advertised, controller))
    formatted = node.format(new_id())
    said, _ = formatted.communicate()
    if formatted.returncode != 0:
        raise ClusterError(f"kafka.tools.StorageTool cannot format the broker: {said.strip()[-1000:]}")
    node.start()
    try:
        until("the broker takes requests", lambda: accepts(port), PATIENCE, node.check)
        yield node
    finally:
        node.kill()


def settings(node: Node, advertised: int, controller: int) -> dict[str, object]:
    """Return the server.properties of a broker that is its own controller. Clients connect to the port `advertised`."""
    return {
        "process.roles": "broker,controller",
        "node.id": node.number,
        "controller.quorum.voters": f"{node.number}@{HOST}:{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://{node.address},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{advertised}",
        "log.dirs": node.data,
    }


def _restart(node: Node, proxy: DroppingProxy, kafka: Installation, address: str, *, kill: bool) -> str:
    logging = (
        f"-Dlog4j.configuration=file:{RESOURCES / 'log4j.properties'}",
        f"-Dlog4j2.configurationFile={RESOURCES / 'log4j2.properties'}",
    )
    command = [java(), *logging, "-cp", os.pathsep.join(kafka.class_path), str(PROGRAM), address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as producer:
        try:
            until("the broker has appended the batches", lambda: proxy.dropped == BATCHES, PATIENCE, node.check)
            if kill:
                node.kill()
            else:
                node.terminate()
                until("the broker has ended", lambda: node.state == "down", PATIENCE)
            proxy.drops = False
            node.start()
            said, _ = producer.communicate(timeout=2 * PATIENCE)
        except subprocess.TimeoutExpired:
            raise ClusterError(f"the producer has not ended within {2 * PATIENCE:g} s") from None
        finally:
            producer.kill()
    shown = ("m0 ", "m1 ", "m0:", "m1:", "offset ")
    return "".join(f"{line}\n" for line in said.splitlines() if line.startswith(shown) or "OUT_OF_ORDER" in line)


if __name__ == "__main__":
    sys.exit(main())
