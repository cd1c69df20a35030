"""Events: the content of one log line about a partition or about its broker."""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any


class MessageKind(StrEnum):
    """The kinds of lines."""

    LEADER = "leader"  # this broker leads, from its log end offset
    FOLLOWER = "follower"  # this broker follows
    STATE = "state"  # leader, epoch and ISR, as a controller of ZooKeeper's time decided them
    TOLD = "told"  # the same, as it told this broker
    ISR = "isr"  # the leader's ISR has changed
    SHRINK = "shrink"  # the leader wants a smaller ISR; it tells its high watermark
    TRUNCATION = "truncation"  # the log ends at an offset from now on
    NO_TRUNCATION = "no-truncation"  # the log ended there already
    TRUNCATING = "truncating"  # why a fetcher truncates
    BELOW_HIGH_WATERMARK = "below-high-watermark"  # a truncation below this replica's own high watermark
    NON_MONOTONIC = "non-monotonic"  # the high watermark goes back, from `high_watermark` to `offset`
    RESET = "reset"  # a follower asked for what the leader does not have, and starts at the leader's end
    LOADED = "loaded"  # the high watermark with which a replica starts, by its checkpoint
    LOG = "log"  # where a log ends that was found on disk
    RECOVERY = "recovery"  # a log is recovered after an unclean shutdown
    CORRUPTION = "corruption"  # recovery cuts a log
    CREATING = "creating"  # the broker learns that it has a replica, of a topic id
    CREATED = "created"  # a log of no records
    DELETED = "deleted"  # a log goes, for the partition is deleted or moved
    UNCLEAN = "unclean"  # a leader was elected that is not in the ISR
    ON_DISK = "on-disk"  # a file of a data directory shows it; `line` is a byte position in files without lines
    RELEASE = "release"  # Kafka's version; this and the next are facts of a file, and no events
    CLUSTER = "cluster"  # the id of the cluster


@dataclass(slots=True, unsafe_hash=True)  # never changed; a frozen one takes three times as long to make
class Event:
    """An event of a partition, from one line. Numbers that the line does not show are None."""

    kind: str
    file: str
    line: int
    time: int  # in milliseconds, by the broker's clock, which may have another time zone than those of others
    text: str
    topic: str
    partition: int
    broker: int | None = None  # that the line names; where none does, that of the file
    topic_id: str | None = None
    leader_epoch: int | None = None
    partition_epoch: int | None = None  # ZooKeeper's version, up to 3.1
    offset: int | None = None  # where the log ends, or ends from now on
    end_offset: int | None = None  # where it ended before, if the line tells both
    high_watermark: int | None = None
    isr: tuple[int, ...] | None = None
    leader: int | None = None
    previous_leader: int | None = None
    previous_epoch: int | None = None
    origin: str | None = None  # the container, pod or host that a log collector put before the line
    doubtful: bool = False  # the line ends with a number, which may have been cut

    def row(self) -> dict[str, Any]:
        """Return a row of the table of events."""
        return {name: getattr(self, name) for name in FIELDS}

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> "Event":
        """Return the event of a row."""
        isr = row["isr"]
        return cls(**{name: row[name] for name in FIELDS} | {"isr": None if isr is None else tuple(isr)})


FIELDS = tuple(field.name for field in fields(Event))
