"""The served cluster: the partition, the addresses of its brokers, and the leader that clients see."""

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum

from epochfuzz.harness.serve.gate import Gate
from epochfuzz.harness.serve.served_partition import ServedPartition
from epochfuzz.model.kafka.partition.replication import presumes_leadership
from epochfuzz.model.kafka.vocabulary.state import NONE

HOST = "127.0.0.1"


class ClientRole(StrEnum):
    """The two kinds of clients. A client that has fetched or joined a group is a consumer. All others are producers."""

    PRODUCER = "producer"
    CONSUMER = "consumer"


@dataclass(frozen=True)
class LastFetch:
    """The latest Fetch request of a consumer: the broker and the offset."""

    replica: int
    offset: int


@dataclass(kw_only=True)
class ServedCluster:
    """The cluster as clients see it. It has one topic with one partition.

    `ports` are the ports of the brokers, by replica. A client has a role: producer or consumer. `shown` has the
    leader and the leader epoch that metadata responses to the clients of a role contain. If the role has no entry, the
    responses contain the leader of the latest epoch. `told` has the latest leader and epoch that a client of each role
    has received. `commits` has the committed offset and its leader epoch for each group.
    """

    partition: ServedPartition
    gate: Gate
    topic: str
    ports: list[int]
    shown: dict[ClientRole, tuple[int, int]] = field(default_factory=dict)
    told: dict[ClientRole, tuple[int, int]] = field(default_factory=dict)
    last_fetch: LastFetch | None = None
    commits: dict[str, tuple[int, int]] = field(default_factory=dict)
    commits_received: int = 0
    members: dict[str, bytes] = field(default_factory=dict)  # by group: the assignment of its only member
    producer_ids: int = 0
    turns: dict[tuple[str, int], asyncio.Lock] = field(default_factory=dict)
    _consumers: set[str] = field(default_factory=set)

    @staticmethod
    def of_schedule(partition: ServedPartition, topic: str) -> "ServedCluster":
        """Return a cluster that waits for a schedule: its gate admits no request, and clients see A as the leader."""
        return ServedCluster(
            partition=partition,
            gate=Gate(is_free=False),
            topic=topic,
            ports=[],
            shown=dict.fromkeys(ClientRole, (0, 0)),
        )

    @staticmethod
    def healthy(partition: ServedPartition, topic: str) -> "ServedCluster":
        """Return a cluster without a schedule, which admits all requests."""
        return ServedCluster(partition=partition, gate=Gate(is_free=True), topic=topic, ports=[])

    @property
    def bootstrap(self) -> str:
        """The addresses of the brokers, for a client's `bootstrap.servers`."""
        return ",".join(f"{HOST}:{port}" for port in self.ports)

    def role_of(self, client: str) -> ClientRole:
        """Return the role of a client id."""
        return ClientRole.CONSUMER if client in self._consumers else ClientRole.PRODUCER

    def commit(self, group: str, offset: int, epoch: int) -> None:
        """Store the committed offset of a group with its leader epoch. The epoch is NONE if the client sent none."""
        self.commits[group] = offset, epoch
        self.commits_received += 1
        p = self.partition.state
        p.committed, p.committed_epoch = offset, max(epoch, NONE)
        self.partition.wake()

    def note_consumer(self, client: str) -> None:
        """Remember that a client id belongs to a consumer."""
        self._consumers.add(client)

    def show(self, role: ClientRole, r: int) -> None:
        """Make replica r, with its current leader epoch, the leader in metadata responses to clients of `role`."""
        self.shown[role] = r, int(self.partition.state.known_epoch[r])

    def turn(self, client: str, r: int) -> asyncio.Lock:
        """Return the lock that lets broker r append a client's Produce requests in the order of the requests.

        Kafka's broker reads the next request of a connection after it has sent the response (SocketServer, "mute"). The
        served broker reads ahead and only appends in order, so that two requests can wait for followers at once.
        """
        return self.turns.setdefault((client, r), asyncio.Lock())

    def leader_for(self, role: ClientRole) -> tuple[int, int]:
        """Return the leader and the leader epoch in metadata responses to clients of `role`, or (NONE, NONE).

        The result is (NONE, NONE) if this replica no longer presumes leadership.
        """
        p, latest = self.partition.state, self.partition.leader()
        r, epoch = self.shown.get(role, (latest, int(p.known_epoch[latest])))
        return (r, epoch) if r != NONE and presumes_leadership(p, r) else (NONE, NONE)

    def is_up_to_date(self, role: ClientRole) -> bool:
        """Return whether clients of the role have received the current leader, or have not asked for metadata yet."""
        return self.told.get(role, self.leader_for(role)) == self.leader_for(role)

    def is_elsewhere(self, role: ClientRole, r: int) -> bool:
        """Return whether, because of the schedule, clients of `role` see another leader than r."""
        return self.leader_for(role)[0] not in (r, NONE) and role in self.shown

    def tell(self, client: str) -> tuple[int, int]:
        """Return the leader and the leader epoch for a metadata response to a client, and store both in `told`."""
        role = self.role_of(client)
        found = self.leader_for(role)
        if found[0] != NONE:
            self.told[role] = found
            self.partition.wake()
        return found
