"""Count the bytes that a process has received but not read, such as a request to a paused broker.

/proc/net/tcp has a row for each end of a connection on this machine. See proc_net_tcp.rst in Linux's documentation.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_ESTABLISHED = "01"
# Java opens dual-stack sockets, whose IPv4 addresses are mapped into IPv6.
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


@dataclass(frozen=True)
class SocketEnd:
    """One end of a TCP connection on this machine."""

    port: int
    peer: int  # port of the other end
    unread: int  # bytes that the process has not read yet
    inode: str


def parse(table: str) -> Iterator[SocketEnd]:
    """Yield the ends of established connections in the text of /proc/net/tcp."""
    for row in table.splitlines()[1:]:
        _, local, remote, state, queues, _, _, _, _, inode, *_ = row.split()
        if state == _ESTABLISHED:
            yield SocketEnd(_port(local), _port(remote), int(queues.partition(":")[2], 16), inode)


def unread(client: int, port: int) -> int:
    """Return the number of bytes that a process has sent to a port, and that the receiver has not read.

    `client` is the id of the process that sent the bytes.
    """
    ends = [end for table in _TABLES if table.exists() for end in parse(table.read_text())]
    own = _sockets(client)
    sent_from = {end.port for end in ends if end.peer == port and end.inode in own}
    return sum(end.unread for end in ends if end.port == port and end.peer in sent_from)


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


def _sockets(process: int) -> set[str]:
    """Return the inodes of the sockets that a process has open."""
    found = set()
    for descriptor in Path(f"/proc/{process}/fd").glob("*"):
        try:
            target = os.readlink(descriptor)
        except OSError:
            continue  # closed meanwhile
        if target.startswith("socket:["):
            found.add(target[len("socket:[") : -1])
    return found
