"""The listeners of the endpoint: one for each broker, on 127.0.0.1."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from epochfuzz.harness.serve.endpoint import respond
from epochfuzz.harness.serve.messages import BadRequest, client_of
from epochfuzz.harness.serve.served_cluster import HOST, ClientRole, ServedCluster

_SIZE = 4  # bytes in front of each frame
_MOST = 1 << 20  # bytes of a request; a partition of a few records needs no larger request
_AHEAD = 64  # requests of a connection that the listener reads before the first of them has its response


@dataclass
class ClientConnection:
    """A connection to broker `replica`, and the id of the client that has sent a request on it."""

    replica: int
    client: str = ""


class Listeners:
    """The servers of the brokers. `complaints` receives a sentence about each request that the endpoint cannot handle.

    `replace` changes the cluster: a new schedule starts with an empty partition on the same ports.
    """

    def __init__(self, cluster: ServedCluster, complaints: Callable[[str], None]) -> None:
        self._cluster = cluster
        self._complaints = complaints
        self._servers: list[asyncio.Server] = []
        self._connections: dict[asyncio.Task[None], ClientConnection] = {}

    @property
    def cluster(self) -> ServedCluster:
        """The served cluster."""
        return self._cluster

    async def start(self, port: int = 0) -> None:
        """Listen on a port for each replica, from `port` on. With port 0, listen on any free ports. Raises OSError."""
        for r in range(self._cluster.partition.state.replicas):
            number = port + r if port else 0
            server = await asyncio.start_server(self._accepting(r), HOST, number, limit=_MOST)
            self._servers.append(server)
            self._cluster.ports.append(server.sockets[0].getsockname()[1])

    async def replace(self, cluster: ServedCluster) -> None:
        """End all connections, and serve another cluster with the same number of replicas."""
        await self._end([*self._connections])
        cluster.ports = self._cluster.ports
        self._cluster = cluster

    async def end_those_of_dead_brokers(self) -> None:
        """End the connections of brokers that are down."""
        up = self._cluster.partition.state.up
        await self._end([task for task, each in self._connections.items() if not up[each.replica]])

    async def end_those_of_producers(self) -> None:
        """End the connections of producers, so that the producers receive no responses and send their records again."""
        role_of = self._cluster.role_of
        await self._end(
            [task for task, each in self._connections.items() if role_of(each.client) is ClientRole.PRODUCER]
        )

    async def close(self) -> None:
        """Stop listening, and end all connections."""
        for server in self._servers:
            server.close()
        await self._end([*self._connections])

    def _accepting(self, r: int) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._connections[task] = ClientConnection(r)
            try:
                if self._cluster.partition.state.up[r]:
                    await self._serve(self._connections[task], reader, writer)
            except asyncio.CancelledError:
                pass  # from _end; asyncio 3.11 would print a traceback for this connection
            finally:
                del self._connections[task]
                writer.close()

        return accept

    async def _end(self, connections: list[asyncio.Task[None]]) -> None:
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _serve(
        self, connection: ClientConnection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Handle the requests of a connection concurrently, and send the responses in the order of the requests."""
        waiting: asyncio.Queue[asyncio.Task[bytes | None]] = asyncio.Queue(_AHEAD)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_send(waiting, writer))
                while True:
                    size = int.from_bytes(await reader.readexactly(_SIZE))
                    if size > _MOST:
                        raise BadRequest(f"a request of {size:,} bytes; the largest is {_MOST:,}")
                    frame = await reader.readexactly(size)
                    connection.client = client_of(frame)
                    await waiting.put(group.create_task(respond(self._cluster, connection.replica, frame)))
        except* BadRequest as errors:
            self._complaints(f"a client sent {errors.exceptions[0]}")
        except* (OSError, asyncio.IncompleteReadError):
            pass  # the client has closed the connection


async def _send(waiting: asyncio.Queue[asyncio.Task[bytes | None]], writer: asyncio.StreamWriter) -> None:
    while True:
        response = await (await waiting.get())
        if response is not None:
            writer.write(len(response).to_bytes(_SIZE) + response)
            await writer.drain()
