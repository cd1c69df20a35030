"""A proxy in front of a Kafka node. It holds some messages, and forwards the others.

While a message is held, all later messages of its connection and direction wait too, so that they stay in order.
"""

import contextlib
import socket
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from epochfuzz.harness.cluster.gates.frames import (
    FrameError,
    Frames,
    Header,
    RequestKind,
    correlation,
    framed,
    header,
    source,
)

_HOST = "127.0.0.1"
_PIECE = 1 << 16


@dataclass(eq=False, kw_only=True)
class ProxiedMessage:
    """A request or a response. `number` is the node id of the broker that sent the request (-1: unknown).

    `asked` is the header of the request. For a response, it is the header of the request that the response belongs to.
    """

    connection: "Connection"
    is_response: bool
    asked: Header
    kind: RequestKind
    number: int
    body: bytes
    request: bytes = field(default=b"", repr=False)  # for a response, the body of the request


# Returns whether to hold a message. The function may change the body of the message.
Decide = Callable[[ProxiedMessage], bool]


class Connection:
    """A client's connection through the proxy to the node, with the messages held in each direction.

    Callers of `pass_` and `close` must hold the proxy's lock.
    """

    def __init__(self, proxy: "Proxy", client: socket.socket, server: socket.socket) -> None:
        self.proxy = proxy
        self.held: dict[bool, deque[ProxiedMessage]] = {False: deque(), True: deque()}
        self.is_closed = False
        self._client, self._server = client, server
        self._server_ended = False
        self._asked: deque[ProxiedMessage] = deque()  # forwarded requests, in the order of their responses

    def start(self) -> None:
        """Start a thread for each direction, which reads and forwards messages."""
        for is_response, read in ((False, self._client), (True, self._server)):
            threading.Thread(target=self._read, args=(read, is_response), daemon=True).start()

    def pass_(self, message: ProxiedMessage) -> None:
        """Forward `message`, which must be the first held message of its direction.

        Also forwards the messages behind `message`, up to the next message that must be held.
        """
        waiting = self.held[message.is_response]
        assert next(iter(waiting), None) is message, "held messages are forwarded in order"
        self._send(waiting.popleft())
        while waiting and not self.proxy.decide(waiting[0]):
            self._send(waiting.popleft())
        if self._server_ended and not self.held[True]:
            self.close()

    def close(self) -> None:
        """Close the connection on both sides. Held messages are lost."""
        self.is_closed = True
        for waiting in self.held.values():
            waiting.clear()
        for each in (self._client, self._server):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self.proxy.connections.discard(self)

    def _read(self, read: socket.socket, is_response: bool) -> None:
        frames = Frames()
        while True:
            try:
                data = read.recv(_PIECE)
                whole = frames.feed(data)
            except (OSError, FrameError):
                data, whole = b"", []
            with self.proxy.lock:
                if self.is_closed:
                    return
                with contextlib.suppress(FrameError):
                    for body in whole:
                        self._arrived(body, is_response)
                    if data:
                        continue
                self._ended(is_response)
                return

    def _ended(self, is_response: bool) -> None:
        """Handle a connection that one side has closed, by closing the other side.

        If the node has closed the connection, the client's side stays open until all held responses are forwarded.
        """
        if is_response and self.held[True]:
            self._server_ended = True
        else:
            self.close()

    def _arrived(self, body: bytes, is_response: bool) -> None:
        message = self._answer(body) if is_response else self._request(body)
        if self.held[is_response] or self.proxy.decide(message):
            self.held[is_response].append(message)
        else:
            self._send(message)

    def _request(self, body: bytes) -> ProxiedMessage:
        asked = header(body)
        kind, number = source(asked)
        return ProxiedMessage(connection=self, is_response=False, asked=asked, kind=kind, number=number, body=body)

    def _answer(self, body: bytes) -> ProxiedMessage:
        while self._asked:
            asked = self._asked.popleft()
            if asked.asked.correlation == correlation(body):  # a request with acks=0 has no response
                return ProxiedMessage(
                    connection=self,
                    is_response=True,
                    asked=asked.asked,
                    kind=asked.kind,
                    number=asked.number,
                    body=body,
                    request=asked.body,
                )
        raise FrameError("the response belongs to no request")

    def _send(self, message: ProxiedMessage) -> None:
        if not message.is_response:
            self._asked.append(message)
        with contextlib.suppress(OSError):  # the reading thread detects a closed socket
            (self._client if message.is_response else self._server).sendall(framed(message.body))


class Proxy:
    """Accepts connections for the node `target`, and forwards their messages to the node's port `upstream`.

    `decide` returns whether to hold a message.
    """

    def __init__(self, target: str, lock: threading.RLock, decide: Decide) -> None:
        self.target = target
        self.upstream = 0
        self.lock, self.decide = lock, decide
        self.connections: set[Connection] = set()
        self._listening = socket.create_server((_HOST, 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop listening, and close all connections."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self.lock:
            for each in list(self.connections):
                each.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            try:
                server = socket.create_connection((_HOST, self.upstream), timeout=5)
            except OSError:  # no process listens, so the caller's connection fails too
                client.close()
                continue
            server.settimeout(None)
            for each in (client, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                connection = Connection(self, client, server)
                self.connections.add(connection)
            connection.start()
