"""Requests that a paused process has not read, from the socket tables of the system."""

import os
import socket
from collections.abc import Iterator

import pytest

from epochfuzz.harness.cluster.broker.sockets import SocketEnd, parse, unread
from epochfuzz.harness.cluster.waiting import until

TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2384 00000000:0000 0A 00000000:00000001 00:00000000 00000000     0        0 647 1 0 100 0 0 10 0
   1: 0100007F:2384 0100007F:EABD 01 00000000:000000A6 00:00000000 00000000     0        0 0 3 0
   2: 0000000000000000FFFF00000100007F:EABD 0000000000000000FFFF00000100007F:2384 01 00000000:00000000 00:0 0 0 0 99 1 0
   3: 0100007F:AE36 0100007F:2384 06 00000000:00000000 03:00000B03 00000000     0        0 0 3 0
"""


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """Listen and accept no connection, as a paused process does."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening


def test_only_connections_are_read_from_ipv4_and_ipv6_tables() -> None:
    assert list(parse(TABLE)) == [SocketEnd(0x2384, 0xEABD, 0xA6, "0"), SocketEnd(0xEABD, 0x2384, 0, "99")]


def test_bytes_that_a_process_has_not_read_from_a_port_are_counted(server: socket.socket) -> None:
    port = server.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port)) as client:
        assert unread(os.getpid(), port) == 0
        client.sendall(b"fetch")
        assert until("the request waits", lambda: unread(os.getpid(), port), 10) == 5
        assert unread(os.getppid(), port) == 0  # the parent process has no such socket
        accepted, _ = server.accept()
        with accepted:
            accepted.recv(5)
            assert unread(os.getpid(), port) == 0
