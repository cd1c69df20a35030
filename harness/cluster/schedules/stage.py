"""The stage of a schedule: one partition of a cluster with gates, its observed state, and ways to wait for a change."""

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass

from epochfuzz.harness.cluster.broker.broker_log import LogLine
from epochfuzz.harness.cluster.broker.node import Node
from epochfuzz.harness.cluster.broker.segments import records
from epochfuzz.harness.cluster.errors import NotReached
from epochfuzz.harness.cluster.gates.frames import RequestKind
from epochfuzz.harness.cluster.gates.gated import REGISTERS_WITHIN, GatedCluster
from epochfuzz.harness.cluster.gates.metadata import MetadataBatch, TopicPartition
from epochfuzz.harness.cluster.gates.producing import Sending
from epochfuzz.harness.cluster.gates.requests import Caller
from epochfuzz.harness.cluster.waiting import T
from epochfuzz.harness.documents.cluster_records import Acknowledged, Record

SOON = 8.0  # seconds: a condition that takes longer counts as not reached
_TOPICS = itertools.count(1)


@dataclass(frozen=True)
class TopicSettings:
    """The settings of a topic for a schedule."""

    replicas: int = 2
    acks: str = "all"
    min_insync_replicas: int = 1
    unclean_leader_election: bool = False
    retries: bool = False  # records may be sent again, so the producer is idempotent


class Stage:
    """A new topic with one partition, for one schedule. Methods take brokers by name, such as `B`.

    The partition is on the first brokers of the cluster, and A leads.
    """

    def __init__(self, cluster: GatedCluster, settings: TopicSettings) -> None:
        self.cluster, self.gates, self.settings = cluster, cluster.gates, settings
        self.brokers = dict(itertools.islice(cluster.brokers.items(), settings.replicas))
        self.topic = f"t{next(_TOPICS)}"
        self.name = f"{self.topic}-0"
        self.learned = dict.fromkeys(cluster.brokers, 0)  # the metadata offset that each broker has reached
        self.sent: dict[str, list[Sending]] = {}  # the requests of each record, several if it was sent again
        self.fenced: dict[str, int] = {}  # the epoch of each follower that a leader with a later epoch has fenced
        self.returning: dict[str, Callable[[], bool]] = {}  # for each restarted broker: whether it is unfenced
        self.readable: dict[int, set[str]] = {}  # for each offset, all values that a consumer could ever read there

    def set_up(self) -> None:
        """Create the topic, wait until every replica exists, and let the gates hold messages. Raises NotReached."""
        numbers = [node.number for node in self.brokers.values()]
        self.cluster.metadata.watched = self.topic
        settings = {
            "min.insync.replicas": str(self.settings.min_insync_replicas),
            "unclean.leader.election.enable": str(self.settings.unclean_leader_election).lower(),
        }
        self.cluster.at_controller.create_topic(self.topic, numbers, settings)
        for name in self.brokers:
            self.until(f"{name} has the partition", lambda name=name: self.role(name) is not None)  # type: ignore[misc]
        for node in self.cluster.brokers.values():
            self.cluster.shut(node)
        leader, *followers = self.brokers
        for name in followers:  # an earlier response may still be pending
            self.until(f"{name} asks {leader}", lambda name=name: self._asks(name))  # type: ignore[misc]
        self.learned = dict.fromkeys(self.cluster.brokers, self.cluster.metadata.end)

    def _asks(self, name: str) -> bool:
        for answer in self.gates.held(RequestKind.FETCH, self.node(name).number, is_response=True):
            self.gates.pass_(answer)
        return bool(self.gates.held(RequestKind.FETCH, self.node(name).number))

    def until(self, what: str, condition: Callable[[], T], seconds: float = SOON) -> T:
        """Wait until a condition is true, and return its value. Raises NotReached after `seconds`."""
        return self.cluster.until(what, condition, seconds)

    def partition(self) -> TopicPartition:
        """Return the partition's state in the controller's metadata. Raises NotReached if the topic does not exist."""
        found = self.cluster.metadata.look().partition(self.topic)
        if found is None:
            raise NotReached(f"the controller has no topic {self.topic}")
        return found

    def pending(self, name: str) -> list[MetadataBatch]:
        """Return the metadata updates, about the topic or any broker, that the broker `name` has not learned."""
        return [each for each in self.cluster.metadata.look().decisions if each.offset >= self.learned[name]]

    def knows_unfenced(self, name: str, number: int) -> bool:
        """Return whether a broker knows that another broker, given by its node id, is unfenced."""
        heard = [each for each in self.cluster.metadata.decisions if each.offset < self.learned[name]]
        said = [each.unfences(number) for each in heard if each.is_of(number)]
        return bool(said and said[-1])

    def role(self, name: str) -> LogLine | None:
        """Return the last line of a broker's log that names the broker's role (leader or follower), or None."""
        return self.cluster.brokers[name].log.role(self.name)

    def leads(self, name: str) -> bool:
        """Return whether a broker is up and considers itself the leader."""
        role = self.role(name)
        return self.is_up(name) and role is not None and role.kind == "leader"

    def followed(self, name: str) -> str | None:
        """Return the leader that a broker follows according to its own log, or None."""
        role = self.role(name)
        if role is None or role.kind == "leader" or role.leader is None or role.leader < 0:
            return None
        return self.cluster.named(role.leader)

    def leader(self) -> str | None:
        """Return the broker that considers itself the leader, or None.

        If several brokers do, the method returns the broker with the latest epoch.
        """
        leading = [name for name in self.brokers if self.leads(name)]
        return max(leading, key=self.epoch, default=None)

    def epoch(self, name: str) -> int:
        """Return the last leader epoch that a broker has logged, or -1 if it has logged none."""
        role = self.role(name)
        return -1 if role is None else role.epoch

    def is_up(self, name: str) -> bool:
        """Return whether a broker's process runs, and has registered if it was started again."""
        return self.cluster.brokers[name].state == "running" and name not in self.returning

    def wait_for_return(self, name: str) -> None:
        """Wait until the controller has registered and unfenced a broker that was started again. Raises NotReached."""
        self.until(f"the controller has unfenced {name} again", self.returning[name], REGISTERS_WITHIN)
        del self.returning[name]

    def log(self, name: str) -> list[Record]:
        """Return the records in a replica's log files."""
        return records(self.cluster.brokers[name].data / self.name)

    def node(self, name: str) -> Node:
        """Return the process of a broker."""
        return self.cluster.brokers[name]

    def send(self, value: str, name: str) -> Sending:
        """Send a record to one broker, without retries. Returns the request."""
        caller = Caller(self.cluster.messages, self.node(name).port)
        topic = self.topic, self.cluster.metadata.topics[self.topic]
        every = self.sent.setdefault(value, [])
        sequence = list(self.sent).index(value) if self.settings.retries else None
        sending = Sending(caller, topic, value, self.settings.acks, sequence)
        every.append(sending)
        return sending

    def acknowledged(self) -> list[Acknowledged]:
        """Return the acknowledged records, sorted by the time of the acknowledgement."""
        every = (each for sent in self.sent.values() for sending in sent for each in sending.acknowledged)
        return sorted(every, key=lambda each: each.at)

    def look(self) -> None:
        """Add the records that consumers can read now, from each broker that considers itself leader, to `readable`."""
        for name in self.brokers:
            if self.leads(name):
                with contextlib.suppress(NotReached):  # the broker does not respond to reads
                    for offset, value in self._read(name):
                        self.readable.setdefault(offset, set()).add(value)

    def shown(self) -> int:
        """Return the number of records that consumers can read from the leader, or -1 without a leader."""
        leader = self.leader()
        return -1 if leader is None else len(self._read(leader))

    def _read(self, name: str) -> list[tuple[int, str]]:
        topic = self.cluster.metadata.topics[self.topic]
        return Caller(self.cluster.messages, self.node(name).port).read(topic, self.topic)

    def proposal(self, name: str) -> tuple[int, ...] | None:
        """Return the node ids of the ISR that a leader proposes in a held request. None if no request is held."""
        for message in self.gates.held(RequestKind.ALTER, self.node(name).number):
            for topic in self.gates.content(message)["Topics"]:
                for part in topic["Partitions"]:
                    members = part.get("NewIsrWithEpochs")
                    return tuple(each["BrokerId"] for each in members) if members else tuple(part["NewIsr"])
        return None

    def names(self, numbers: tuple[int, ...]) -> str:
        """Return the names of brokers as text, from their node ids."""
        return ", ".join(sorted(self.cluster.named(number) for number in numbers)) or "nobody"
