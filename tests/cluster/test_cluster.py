"""Nodes start, pause, resume and end; errors name a failed node and an unreached condition."""

import base64
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from epochfuzz.harness.cluster.broker import cluster as clusters
from epochfuzz.harness.cluster.broker.cluster import Cluster, accepts, free_ports, new_id, running
from epochfuzz.harness.cluster.broker.installation import Installation
from epochfuzz.harness.cluster.broker.node import Node
from epochfuzz.harness.cluster.errors import ClusterError, NotReached
from epochfuzz.harness.cluster.waiting import until

KILLED = """
import os, signal, sys
from pathlib import Path
from epochfuzz.harness.cluster.broker.installation import Installation
from epochfuzz.harness.cluster.broker.node import Node
room = Path(sys.argv[1])
node = Node("A", 1, 9092, Installation("4.3.1", ("kafka.jar",)), room, room / "logs")
node.start()
words = b""
while not words or b"setpriv" in words:  # setpriv has not started Java yet; during exec, the command line is empty
    words = Path(f"/proc/{node._process.pid}/cmdline").read_bytes()
print(node._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def node(tmp_path: Path, no_kafka: Installation) -> Node:
    (tmp_path / "logs").mkdir()
    return Node("A", 1, 9092, no_kafka, tmp_path, tmp_path / "logs")


def wait(condition: Callable[[], object]) -> None:
    until("what the test waits for", condition, 10)


def test_a_node_pauses_resumes_and_terminates(node: Node, fake_java: Callable[..., Path]) -> None:
    fake_java()
    assert node.state == "down"
    node.start()
    wait(lambda: node.state == "running")
    node.pause()
    wait(lambda: node.state == "paused")
    node.resume()
    wait(lambda: node.state == "running")
    node.terminate()
    wait(lambda: node.state == "down")
    node.check()  # an end on request is no error


def test_a_terminated_node_has_the_state_ending_until_its_process_exits(
    node: Node, fake_java: Callable[..., Path]
) -> None:
    fake_java(runs="trap '' TERM; echo ready; while :; do sleep 0.1; done")
    node.start()
    wait(lambda: "ready" in node.log.path.read_text())  # before that, SIGTERM ends the shell
    node.terminate()
    assert node.state == "ending"
    node.kill()
    assert node.state == "down"


def test_a_node_ends_with_the_process_that_started_the_node_even_after_sigkill(
    node: Node, fake_java: Callable[..., Path], tmp_path: Path
) -> None:
    fake_java()
    words = [sys.executable, "-c", KILLED, str(tmp_path)]
    ended = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL
    process = ended.stdout.strip()
    try:
        wait(lambda: not _runs(process))
    finally:
        if _runs(process):
            os.kill(int(process), signal.SIGKILL)


def _runs(process: str) -> bool:
    """Return whether the process exists and has not ended, which state Z means."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_the_error_for_a_failed_node_has_the_last_log_line(node: Node, fake_java: Callable[..., Path]) -> None:
    fake_java(runs="echo 'ERROR Socket server failed to bind to 127.0.0.1:9092: Address already in use.'; exit 1")
    node.start()
    wait(lambda: node.state == "down")
    with pytest.raises(ClusterError, match=r"A exited with status 1: .*127\.0\.0\.1:9092: Address already in use"):
        node.check()


def test_nodes_listen_only_on_localhost_and_have_only_the_necessary_settings(
    tmp_path: Path, no_kafka: Installation
) -> None:
    cluster = Cluster(no_kafka, tmp_path, tmp_path / "logs")
    texts = {node.name: (tmp_path / f"{node.name}.properties").read_text() for node in cluster.nodes}
    keys = {line.partition("=")[0] for text in texts.values() for line in text.splitlines()}
    assert keys == {
        "process.roles",
        "node.id",
        "controller.quorum.voters",
        "controller.listener.names",
        "listener.security.protocol.map",
        "listeners",
        "log.dirs",
        "offsets.topic.replication.factor",
    }
    addresses = [line for text in texts.values() for line in text.splitlines() if "listeners=" in line]
    assert len(addresses) == 4
    assert all("://127.0.0.1:" in line for line in addresses)
    assert "process.roles=controller\n" in texts["controller"]
    assert "process.roles=broker\n" in texts["B"]


def test_a_cluster_raises_an_error_if_its_storage_cannot_be_formatted(
    tmp_path: Path, no_kafka: Installation, fake_java: Callable[..., Path]
) -> None:
    fake_java(formats=1)
    with (
        pytest.raises(ClusterError, match=r"StorageTool cannot format controller: it ended with 1"),
        running(Cluster(no_kafka, tmp_path, tmp_path / "logs")),
    ):
        pass


def test_a_cluster_stops_its_running_and_paused_nodes_at_the_end(
    tmp_path: Path, no_kafka: Installation, fake_java: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java()
    monkeypatch.setattr(clusters, "accepts", lambda port: True)
    with running(Cluster(no_kafka, tmp_path, tmp_path / "logs")) as cluster:
        wait(lambda: all(node.state == "running" for node in cluster.nodes))
        cluster.brokers["C"].pause()
    assert [node.state for node in cluster.nodes] == ["down"] * 4


def test_the_error_for_an_unreached_condition_names_the_condition(tmp_path: Path, no_kafka: Installation) -> None:
    cluster = Cluster(no_kafka, tmp_path, tmp_path / "logs")
    with pytest.raises(NotReached, match=r"not reached within 0\.01 s: B has m"):
        cluster.until("B has m", lambda: False, 0.01)


def test_a_cluster_id_never_starts_with_a_dash() -> None:
    ids = {new_id() for _ in range(500)}
    assert len(ids) == 500
    assert all(len(base64.urlsafe_b64decode(each + "==")) == 16 for each in ids)
    assert not any(each.startswith("-") for each in ids)


def test_free_ports_differ_and_have_no_listener() -> None:
    ports = free_ports(4)
    assert len(set(ports)) == 4
    assert not any(accepts(port) for port in ports)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        assert accepts(listening.getsockname()[1])
