"""A proxy passes or holds frames, keeps their order, and is reachable only from this machine."""

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from epochfuzz.harness.cluster.gates.frames import Frames, framed
from epochfuzz.harness.cluster.gates.proxy import ProxiedMessage, Proxy
from epochfuzz.harness.cluster.waiting import until


def asks(number: int) -> bytes:
    """Return a heartbeat of broker 2."""
    return bytes.fromhex("003f0001") + number.to_bytes(4, "big") + bytes.fromhex("00013200")


class Server:
    """Answers every request with its number and `!`."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listening.getsockname()[1]
        self.connections: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        frames = Frames()
        while data := connection.recv(1 << 16):
            for body in frames.feed(data):
                self.heard.append(body)
                connection.sendall(framed(body[4:8] + b"!"))

    def end(self) -> None:
        for each in (self.listening, *self.connections):
            each.shutdown(socket.SHUT_RDWR)
            each.close()


class Client:
    def __init__(self, port: int) -> None:
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=10)
        self._frames = Frames()
        self._whole: list[bytes] = []

    def send(self, *numbers: int) -> None:
        for number in numbers:
            self.connection.sendall(framed(asks(number)))

    def answer(self) -> int | None:
        """Return the number that is answered next; None at the end."""
        while not self._whole:
            data = self.connection.recv(1 << 16)
            if not data:
                return None
            self._whole += self._frames.feed(data)
        return int.from_bytes(self._whole.pop(0)[:4], "big")


class Gate:
    """Hold the messages for which `holds` is true."""

    def __init__(self) -> None:
        self.holds: Callable[[ProxiedMessage], bool] = lambda message: False
        self.lock = threading.RLock()

    def decide(self, message: ProxiedMessage) -> bool:
        return self.holds(message)


def held(proxy: Proxy, is_response: bool) -> list[ProxiedMessage]:
    with proxy.lock:
        return [message for each in proxy.connections for message in each.held[is_response]]


def wait(condition: Callable[[], object]) -> None:
    until("what the test waits for", condition, 10)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def proxy(server: Server, gate: Gate) -> Iterator[Proxy]:
    made = Proxy("A", gate.lock, gate.decide)
    made.upstream = server.port
    yield made
    made.close()


def pass_first(proxy: Proxy, is_response: bool) -> None:
    message = held(proxy, is_response)[0]
    with proxy.lock:
        message.connection.pass_(message)


def test_the_proxy_passes_messages_that_the_gate_does_not_hold(proxy: Proxy) -> None:
    client = Client(proxy.port)
    client.send(1, 2, 3)
    assert [client.answer() for _ in range(3)] == [1, 2, 3]


def test_the_proxy_listens_only_on_localhost(proxy: Proxy) -> None:
    assert proxy._listening.getsockname()[0] == "127.0.0.1"


def test_the_server_receives_a_held_request_only_when_the_proxy_passes_the_request(
    proxy: Proxy, gate: Gate, server: Server
) -> None:
    gate.holds = lambda message: not message.is_response
    client = Client(proxy.port)
    client.send(1, 2)
    wait(lambda: len(held(proxy, False)) == 2)
    assert server.heard == []
    pass_first(proxy, False)
    assert client.answer() == 1
    assert server.heard == [asks(1)]


def test_a_held_response_has_its_request(proxy: Proxy, gate: Gate, server: Server) -> None:
    gate.holds = lambda message: message.is_response
    client = Client(proxy.port)
    client.send(5)
    wait(lambda: held(proxy, True))
    (message,) = held(proxy, True)
    assert (message.asked.correlation, message.number, message.request) == (5, 2, asks(5))
    assert server.heard == [asks(5)]
    pass_first(proxy, True)
    assert client.answer() == 5


def test_messages_after_a_held_message_wait_and_keep_their_order(proxy: Proxy, gate: Gate) -> None:
    gate.holds = lambda message: message.is_response and message.asked.correlation == 1
    client = Client(proxy.port)
    client.send(1, 2, 3)
    wait(lambda: len(held(proxy, True)) == 3)
    pass_first(proxy, True)
    assert [client.answer() for _ in range(3)] == [1, 2, 3]


def test_a_closed_connection_drops_its_held_messages(proxy: Proxy, gate: Gate) -> None:
    gate.holds = lambda message: True
    client = Client(proxy.port)
    client.send(1)
    wait(lambda: held(proxy, False))
    with proxy.lock:
        held(proxy, False)[0].connection.close()
    assert client.answer() is None
    assert held(proxy, False) == []


def test_the_proxy_drops_the_held_request_of_a_disconnected_client(proxy: Proxy, gate: Gate, server: Server) -> None:
    gate.holds = lambda message: True
    client = Client(proxy.port)
    client.send(1)
    wait(lambda: held(proxy, False))
    client.connection.close()
    wait(lambda: not held(proxy, False))
    assert server.heard == []


def test_a_held_response_reaches_the_client_even_if_the_server_is_gone(
    proxy: Proxy, gate: Gate, server: Server
) -> None:
    gate.holds = lambda message: message.is_response
    client = Client(proxy.port)
    client.send(1)
    wait(lambda: held(proxy, True))
    server.end()
    pass_first(proxy, True)
    assert client.answer() == 1
    assert client.answer() is None


def test_the_proxy_closes_a_connection_if_no_server_listens(proxy: Proxy, server: Server) -> None:
    server.end()
    assert Client(proxy.port).answer() is None


def test_the_proxy_closes_a_connection_with_invalid_frames(proxy: Proxy) -> None:
    client = Client(proxy.port)
    client.connection.sendall(b"\xff\xff\xff\xffGET / HTTP/1.1")
    assert client.answer() is None
