"""A proxy between a client and a broker. It forwards requests and responses, and a subclass changes some of them."""

import socket
import threading
from abc import ABC, abstractmethod

from epochfuzz.harness.cluster.broker.cluster import HOST


class Proxy(ABC):
    """Accepts connections at `port`, and serves each in a thread of its own. `broker` is the port of the broker."""

    def __init__(self, port: int, broker: int) -> None:
        self.broker = broker
        self._listener = socket.create_server((HOST, port))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            threading.Thread(target=self.serve, args=[client], daemon=True).start()

    @abstractmethod
    def serve(self, client: socket.socket) -> None:
        """Forward one connection until the client or the broker closes it."""


def frame_from(connection: socket.socket) -> bytes:
    """Return the next request or response with its size. Returns b"" at the end of the connection."""
    size = _exactly(connection, 4)
    return size and size + _exactly(connection, int.from_bytes(size, "big"))


def _exactly(connection: socket.socket, size: int) -> bytes:
    read = b""
    while len(read) < size:
        more = connection.recv(size - len(read))
        if not more:
            return b""
        read += more
    return read
