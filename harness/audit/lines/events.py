"""Events: the content of one log line about a partition or about its broker."""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any


class MessageKind(StrEnum):
    """The kinds of log lines that an audit uses."""

    LEADER = "leader"  # this broker leads, from its log end offset
    FOLLOWER = "follower"  # this broker follows
    STATE = "state"  # a ZooKeeper controller decided on the leader, the epoch and the ISR
    TOLD = "told"  # this broker received a leader, an epoch and an ISR from the controller
    ISR = "isr"  # the leader's ISR has changed
    SHRINK = "shrink"  # the leader requests a smaller ISR, and shows its high watermark
    TRUNCATION = "truncation"  # the log was truncated to an offset
    NO_TRUNCATION = "no-truncation"  # no truncation was needed, because the log ended there already
    TRUNCATING = "truncating"  # the reason why a fetcher truncates
    BELOW_HIGH_WATERMARK = "below-high-watermark"  # a truncation below this replica's own high watermark
    NON_MONOTONIC = "non-monotonic"  # the high watermark decreases from `high_watermark` to `offset`
    RESET = "reset"  # a follower's fetch offset is out of the leader's range, so it continues at the leader's end
    LOADED = "loaded"  # the high watermark from the checkpoint, with which a replica starts
    LOG = "log"  # the end of a log that was found on disk
    RECOVERY = "recovery"  # a log is recovered after an unclean shutdown
    CORRUPTION = "corruption"  # recovery truncates a log
    CREATING = "creating"  # the broker learns that it has a replica, and its topic id
    CREATED = "created"  # an empty log was created
    DELETED = "deleted"  # a log is removed, because its partition was deleted or moved
    UNCLEAN = "unclean"  # the elected leader is not in the ISR
    ON_DISK = "on-disk"  # a file of a data directory shows the event; `line` is a byte position in a binary file
    RELEASE = "release"  # Kafka's version; RELEASE and CLUSTER are facts of a file, not events
    CLUSTER = "cluster"  # the id of the cluster


@dataclass(slots=True, unsafe_hash=True)  # never changed; to create a frozen event takes three times as long
class Event:
    """An event of a partition, from one line. Numbers that the line does not show are None."""

    kind: str
    file: str
    line: int
    time: int  # in milliseconds, by the broker's clock; other brokers may use another time zone
    text: str
    topic: str
    partition: int
    broker: int | None = None  # the broker that the line names; in checked events, else that of its origin or file
    topic_id: str | None = None
    leader_epoch: int | None = None
    partition_epoch: int | None = None  # up to 3.1, the version of the partition's node in ZooKeeper
    offset: int | None = None  # the log end offset after the event
    end_offset: int | None = None  # the log end offset before the event, if the line shows both
    high_watermark: int | None = None
    isr: tuple[int, ...] | None = None
    leader: int | None = None
    previous_leader: int | None = None
    previous_epoch: int | None = None
    origin: str | None = None  # the container, pod or host that a log collector put before the line
    doubtful: bool = False  # the line ends with a number, which may have been cut

    def row(self) -> dict[str, Any]:
        """Return the event as a row of the table of events."""
        return {name: getattr(self, name) for name in FIELDS}

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> "Event":
        """Return the event that a row of the table of events holds."""
        isr = row["isr"]
        return cls(**{name: row[name] for name in FIELDS} | {"isr": None if isr is None else tuple(isr)})


FIELDS = tuple(field.name for field in fields(Event))
