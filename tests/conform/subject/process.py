"""The process of a replica: it serves requests of its cluster and of other replicas, all on one loopback port.

A message is a line of JSON. The cluster forks the process from itself, which makes a restart a matter of milliseconds;
a crash is SIGKILL.
"""

import json
import os
import selectors
import signal
import socket
from collections.abc import Mapping
from pathlib import Path

from tests.conform.subject.disk import Disk
from tests.conform.subject.replica import Message, Replica

HOST = "127.0.0.1"


class Connection:
    """A socket that carries one message each way at a time."""

    def __init__(self, connected: socket.socket) -> None:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = connected
        self._stream = connected.makefile("rb")

    def send(self, message: Message) -> None:
        """Send a message."""
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self) -> Message | None:
        """Wait for a message; None when the other side is gone."""
        line = self._stream.readline()
        message: Message | None = json.loads(line) if line.endswith(b"\n") else None
        return message

    def ask(self, message: Message) -> Message | None:
        """Send a message and wait for the answer; None when the other side is gone."""
        try:
            self.send(message)
            return self.receive()
        except OSError:
            return None

    def close(self) -> None:
        """Close it."""
        self._stream.close()
        self.socket.close()


def bound(port: int = 0) -> socket.socket:
    """A socket on a loopback port. While one holds the port without listening, others may come and go on it."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind((HOST, port))
    return held


def start(name: str, directory: Path, ports: Mapping[str, int]) -> tuple[int, Connection]:
    """Fork a replica's process; its id, and the cluster's connection to it."""
    with bound(ports[name]) as listener:
        listener.listen()
        pid = os.fork()
        if pid == 0:
            try:
                _keep_only(listener)
                Server(name, directory, ports, listener).serve()
            finally:
                os._exit(1)
    return pid, Connection(socket.create_connection((HOST, ports[name])))


def kill(pid: int) -> None:
    """SIGKILL, and wait until it is gone."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _keep_only(listener: socket.socket) -> None:
    """Close what was inherited from the cluster; standard error stays, for tracebacks."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.closerange(3, listener.fileno())
    os.closerange(listener.fileno() + 1, 1024)


class Server:
    """Serves one replica."""

    def __init__(self, name: str, directory: Path, ports: Mapping[str, int], listener: socket.socket) -> None:
        self.name = name
        self.directory = directory
        self.ports = ports
        self.replica: Replica | None = None
        self._listener = listener
        self._leaders: dict[str, Connection] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)

    def serve(self) -> None:
        """Until the cluster, which was the first to connect, hangs up."""
        cluster = self._accept()
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    self._accept()
                elif not self._serve_one(key.data) and key.data is cluster:
                    return

    def _accept(self) -> Connection:
        connection = Connection(self._listener.accept()[0])
        self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        return connection

    def _serve_one(self, connection: Connection) -> bool:
        request = connection.receive()
        if request is None:
            self._selector.unregister(connection.socket)
            connection.close()
            return False
        connection.send(self.handle(request))
        return True

    def handle(self, request: Message) -> Message:
        """Answer a request, from the cluster (`do`) or from a follower (`ask`)."""
        if "ask" in request:
            assert self.replica is not None
            return self.replica.answer(request)
        verb, arguments = request["do"], request.get("with", {})
        if verb == "open":
            self._open(**arguments)
        assert self.replica is not None
        done = verb in ("open", "observe") or getattr(self.replica, verb)(**arguments)
        return {"done": done, "seen": self.replica.observe(), "reported": self.replica.report_to_controller()}

    def _open(self, config: Message, protocol: str, empty: bool) -> None:
        if empty:
            Disk(self.directory).format()
        if self.replica is not None:
            self.replica.log.close()
        self.replica = Replica(self.name, self.directory, config, protocol, self.ask)

    def ask(self, leader: str, request: Message) -> Message | None:
        """Ask another replica; None if it cannot be reached. A connection that broke is made anew once."""
        known = self._leaders.pop(leader, None)
        if known is not None:
            answer = known.ask(request)
            if answer is not None:
                self._leaders[leader] = known
                return answer
            known.close()
        try:
            fresh = Connection(socket.create_connection((HOST, self.ports[leader])))
        except OSError:
            return None
        self._leaders[leader] = fresh
        return fresh.ask(request)
