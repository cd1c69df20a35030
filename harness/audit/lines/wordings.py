"""Wordings: the lines that Kafka's brokers write about a partition, and the releases that write them.

A template is the text of the line, with names in braces in place of values. `since` and `until` are the first and the
last release that writes the line. `until` is None if the newest release writes the line. We took releases and sources
from Kafka's tags 0.10.0.0 to 3.9.0, and from the classes of 4.1.2, 4.3.1 and 4.4.0. Only the texts of these lines are
taken from Kafka.
"""

from dataclasses import dataclass
from typing import Final

from epochfuzz.harness.audit.lines.events import MessageKind


@dataclass(frozen=True)
class Wording:
    """The wording of a line that brokers log, with the releases that write this wording.

    `source` is the file of Kafka's source code that logs the newest wording of this line. Older releases may log the
    line in another file.
    """

    kind: MessageKind
    since: str
    until: str | None
    source: str
    template: str


_CORE = "core/src/main/scala/kafka"
_PARTITION_SCALA = f"{_CORE}/cluster/Partition.scala"
_LOG = "storage/src/main/java/org/apache/kafka/storage/internals/log/UnifiedLog.java"  # up to 3.9 in Scala: Log.scala
_LOADER = "storage/src/main/java/org/apache/kafka/storage/internals/log/LogLoader.java"
_LOG_MANAGER = f"{_CORE}/log/LogManager.scala"
_FETCHER = f"{_CORE}/server/AbstractFetcherThread.scala"
_REPLICA_MANAGER = f"{_CORE}/server/ReplicaManager.scala"
_STATE_MACHINE = f"{_CORE}/controller/PartitionStateMachine.scala"
_REPLICA_STATES = f"{_CORE}/controller/ReplicaStateMachine.scala"
_CONTROLLER = f"{_CORE}/controller/KafkaController.scala"
_SELECTOR = f"{_CORE}/controller/PartitionLeaderSelector.scala"
_REGISTRATION = "metadata/src/main/java/org/apache/kafka/metadata/PartitionRegistration.java"
_SERVER = f"{_CORE}/server/KafkaServer.scala"
_LIFECYCLE = f"{_CORE}/server/BrokerLifecycleManager.scala"
_APP_INFO = "clients/src/main/java/org/apache/kafka/common/utils/AppInfoParser.java"

_LEADS = (
    "Leader {partition} with topic id {topic_id} starts at leader epoch {leader_epoch} from offset {offset} with"
    " partition epoch {partition_epoch}, high watermark {high_watermark}, ISR {isr}, adding replicas {any} and removing"
    " replicas {any}. "
)
_FOLLOWS = "Follower {partition} starts at leader epoch {leader_epoch} from offset {offset} with "
_STATE = (
    "PartitionState(controllerEpoch={any}, leader={leader}, leaderEpoch={leader_epoch}, isr={isr},"
    " zkVersion={partition_epoch}, replicas={any}) correlation id {any} from controller {any} epoch {any} for"
    " partition {partition}"
)
_OFFLINE = "Partition {partition} state changed to (Leader:{leader},ISR:{isr}"
_TO_OFFLINE = (
    ",ControllerEpoch:{any}) after removing replica {any} from the ISR as part of transition to OfflineReplica"
)
_FETCHES = "[ReplicaFetcher replicaId={broker}, {any}] "  # excludes threads that move a log to another directory
_ISR = "[Partition {partition} broker={broker}] "
_HERE = "[{name} partition={partition}, dir={dir}] "

Range = tuple[str, str | None]


def _wordings_of(kind: MessageKind, source: str, templates: dict[Range, str]) -> tuple[Wording, ...]:
    return tuple(Wording(kind, since, until, source, line) for (since, until), line in templates.items())


WORDINGS: Final = (
    # The roles of brokers. Up to 2.5 they are in server.log, and since then in state-change.log.
    *_wordings_of(
        MessageKind.LEADER,
        _PARTITION_SCALA,
        {
            ("3.6.0", None): _LEADS
            + "Previous leader {previous_leader} and previous leader epoch was {previous_epoch}.",
            ("3.3.0", "3.5.2"): _LEADS + "Previous leader epoch was {previous_epoch}.",
            ("2.6.0", "3.2.3"): "Leader {partition} starts at leader epoch {leader_epoch} from offset {offset} with"
            " high watermark {high_watermark} ISR {isr} addingReplicas {any} removingReplicas {any}. Previous leader"
            " epoch was {previous_epoch}.",
            ("2.4.1", "2.5.1"): "{partition} starts at leader epoch {leader_epoch} from offset {offset} with high"
            " watermark {high_watermark}. Previous leader epoch was {previous_epoch}.",
            ("0.11.0.0", "2.4.0"): "{partition} starts at Leader Epoch {leader_epoch} from offset {offset}. Previous"
            " Leader Epoch was: {previous_epoch}",
        },
    ),
    *_wordings_of(
        MessageKind.FOLLOWER,
        _PARTITION_SCALA,
        {
            ("3.6.0", None): _FOLLOWS + "partition epoch {partition_epoch} and high watermark {high_watermark}. Current"
            " leader is {leader}. Previous leader {previous_leader} and previous leader epoch was {previous_epoch}.",
            ("3.3.0", "3.5.2"): _FOLLOWS + "partition epoch {partition_epoch} and high watermark {high_watermark}."
            " Current leader is {leader}. Previous leader epoch was {previous_epoch}.",
            ("2.6.0", "3.2.3"): _FOLLOWS
            + "high watermark {high_watermark}. Previous leader epoch was {previous_epoch}.",
        },
    ),
    # Decisions of a ZooKeeper controller. Up to 2.5, their level is TRACE, which state-change.log included by default.
    *_wordings_of(
        MessageKind.STATE,
        _STATE_MACHINE,
        {
            ("1.1.0", "3.9.2"): "Changed partition {partition} from {any} to OnlinePartition with state"
            " LeaderAndIsr(leader={leader}, leaderEpoch={leader_epoch}, isr={isr}, {any}ersion={partition_epoch})",
            ("3.3.0", "3.9.2"): "Changed partition {partition} from {any} to OnlinePartition with state"
            " LeaderAndIsr(leader={leader}, leaderEpoch={leader_epoch}, isrWithBrokerEpoch={any},"
            " leaderRecoveryState={any}, partitionEpoch={partition_epoch})",
        },
    ),
    *_wordings_of(
        MessageKind.STATE,
        _REPLICA_STATES,
        {
            ("3.2.0", "3.9.2"): _OFFLINE + ",LeaderRecoveryState:{any},LeaderEpoch:{leader_epoch},"
            "ZkVersion:{partition_epoch}" + _TO_OFFLINE,
            ("2.8.0", "3.1.2"): _OFFLINE + ",LeaderEpoch:{leader_epoch},ZkVersion:{partition_epoch}" + _TO_OFFLINE,
            ("2.6.0", "2.7.2"): _OFFLINE + ",LeaderEpoch:{leader_epoch}" + _TO_OFFLINE,
        },
    ),
    *_wordings_of(
        MessageKind.STATE,
        _CONTROLLER,
        {
            ("0.10.0.0", "1.0.2"): "New leader and ISR for partition {partition} is "
            '{"leader":{leader},"leader_epoch":{leader_epoch},"isr":{isr}}',
        },
    ),
    *_wordings_of(
        MessageKind.TOLD,
        _REPLICA_MANAGER,
        {
            ("2.4.0", "2.5.1"): "Received LeaderAndIsr request LeaderAndIsrPartitionState(topicName='{topic}',"
            " partitionIndex={number}, controllerEpoch={any}, leader={leader}, leaderEpoch={leader_epoch}, isr={isr},"
            " zkVersion={partition_epoch}, {any}",
            ("1.0.0", "2.3.1"): "Received LeaderAndIsr request " + _STATE,
            ("0.10.0.0", "0.11.0.3"): "Broker {broker} received LeaderAndIsr request " + _STATE,
        },
    ),
    *_wordings_of(
        MessageKind.ISR,
        _PARTITION_SCALA,
        {
            ("3.5.0", None): _ISR + "ISR updated to {isr} {any} and version updated to {partition_epoch}",
            ("3.1.0", "3.4.1"): _ISR + "ISR updated to {isr} and version updated to {partition_epoch}",
            ("2.8.0", "3.0.2"): _ISR + "ISR updated to {isr} and version updated to [{partition_epoch}]",
            ("2.7.0", "2.7.2"): _ISR + "ISR updated from AlterIsr to {isr} and version updated to [{partition_epoch}]",
            ("2.4.0", "2.7.2"): _ISR + "ISR updated to {isr} and zkVersion updated to [{partition_epoch}]",
        },
    ),
    *_wordings_of(
        MessageKind.SHRINK,
        _PARTITION_SCALA,
        {
            ("2.2.0", None): _ISR + "Shrinking ISR from {any} to {isr}. Leader: (highWatermark: {high_watermark},"
            " endOffset: {end_offset}). Out of sync replicas: {any}",
            ("0.11.0.0", "2.1.1"): _ISR + "Shrinking ISR from {any} to {isr}",
            ("0.10.0.0", "0.10.2.2"): "Shrinking ISR for partition {partition} from {any} to {isr}",
        },
    ),
    # Truncations of logs.
    *_wordings_of(
        MessageKind.TRUNCATION,
        _LOG,
        {
            ("1.0.2", None): _HERE + "Truncating to offset {offset}",
            ("0.10.0.0", "1.0.1"): "Truncating log {partition} to offset {offset}.",
        },
    ),
    *_wordings_of(
        MessageKind.NO_TRUNCATION,
        _LOG,
        {
            ("1.0.2", None): _HERE
            + "Truncating to {offset} has no effect as the largest offset in the log is {last_offset}",
            ("0.10.0.0", "1.0.1"): "Truncating {partition} to {offset} has no effect as the largest offset in the log"
            " is {last_offset}.",
        },
    ),
    *_wordings_of(
        MessageKind.BELOW_HIGH_WATERMARK,
        _LOG,
        {
            # Up to 4.1 nearly never written, because the condition compares with the wrong offset (KAFKA-19474).
            ("2.0.0", None): "Truncating {partition} to offset {offset} below high watermark {high_watermark}",
        },
    ),
    *_wordings_of(
        MessageKind.TRUNCATING,
        _FETCHER,
        {
            ("3.1.0", None): _FETCHES + "Truncating partition {partition} with TruncationState(offset={offset},"
            " completed={any}) due to {any}",
            ("2.1.1", "3.0.2"): _FETCHES + "Truncating partition {partition} to local high watermark {offset}",
        },
    ),
    # A high watermark that decreases: the leader's is lower, or the log was truncated below it.
    *_wordings_of(
        MessageKind.NON_MONOTONIC,
        _LOG,
        {
            ("2.7.0", None): _HERE + "Non-monotonic update of high watermark from (offset={high_watermark}{any}) to"
            " (offset={offset}{any})",
        },
    ),
    *_wordings_of(
        MessageKind.RESET,
        _FETCHER,
        {
            ("1.0.0", None): "Reset fetch offset for partition {partition} from {end_offset} to current leader's"
            " latest offset {offset}",
            ("0.10.0.0", "0.11.0.3"): "Replica {broker} for partition {partition} reset its fetch offset from"
            " {end_offset} to current leader {leader}'s latest offset {offset}",
        },
    ),
    # Logs that are found, recovered, created and deleted.
    *_wordings_of(
        MessageKind.LOADED,
        _PARTITION_SCALA,
        {("2.4.0", None): "Log loaded for partition {partition} with initial high watermark {high_watermark}"},
    ),
    *_wordings_of(
        MessageKind.LOG,
        _LOG_MANAGER,
        {
            (
                "3.1.0",
                None,
            ): "Completed load of Log(dir={any}, topicId={topic_id}, topic={topic}, partition={number},{any}"
            " logEndOffset={offset}) with {any}",
            ("2.6.0", None): "Completed load of Log(dir={any}, topic={topic}, partition={number},{any}"
            " logEndOffset={offset}) with {any}",
            ("1.0.2", "2.5.1"): _HERE + "Completed load of log with {any} log end offset {offset} in {any}",
            ("0.10.0.0", "1.0.1"): "Completed load of log {partition} with {any} log end offset {offset} in {any}",
        },
    ),
    *_wordings_of(
        MessageKind.RECOVERY,
        _LOADER,
        {
            ("1.0.2", None): _HERE + "Recovering unflushed segment {offset}{any}",
            ("0.10.0.0", "1.0.1"): "Recovering unflushed segment {offset} in log {partition}.",
        },
    ),
    *_wordings_of(
        MessageKind.CORRUPTION,
        _LOADER,
        {
            ("1.0.2", None): _HERE + "Corruption found in segment {any}, truncating to offset {offset}",
            ("0.10.0.0", "1.0.1"): "Corruption found in segment {any} of log {partition}, truncating to offset"
            " {offset}.",
        },
    ),
    *_wordings_of(
        MessageKind.CREATING,
        _REPLICA_MANAGER,
        {
            ("3.0.0", None): "Creating new partition {partition} with topic id {topic_id}.",
            ("3.0.1", None): "Expected partition {partition} with topic id {topic_id} to exist, but it was missing."
            " Creating...",
        },
    ),
    *_wordings_of(
        MessageKind.CREATED, _LOG_MANAGER, {("0.10.0.0", None): "Created log for partition {partition} in {any}"}
    ),
    *_wordings_of(
        MessageKind.DELETED,
        _LOG_MANAGER,
        {
            ("0.10.2.0", None): "Log for partition {partition} is renamed to {any} and is scheduled for deletion",
            ("3.9.0", None): "Log for partition {partition} is marked as stray and renamed to {any}",
        },
    ),
    # Elections of leaders that are not in the ISR.
    *_wordings_of(
        MessageKind.UNCLEAN,
        _REGISTRATION,
        {
            ("3.0.0", None): "UNCLEAN partition change for {partition} with topic ID {topic_id}: {any}leader: {any} ->"
            " {leader}{any}, leaderEpoch: {any} -> {leader_epoch}, {any}",
        },
    ),
    *_wordings_of(
        MessageKind.UNCLEAN,
        _SELECTOR,
        {
            ("0.10.0.0", "1.0.2"): "No broker in ISR is alive for {partition}. Elect leader {leader} from live brokers"
            " {any}. There's potential data loss.",
        },
    ),
    # Lines that concern no partition.
    *_wordings_of(
        MessageKind.RELEASE,
        _APP_INFO,
        {("2.2.0", None): "Kafka version: {value}", ("0.10.0.0", "2.1.1"): "Kafka version : {value}"},
    ),
    *_wordings_of(MessageKind.CLUSTER, _SERVER, {("0.10.1.0", "3.9.2"): "Cluster ID = {value}"}),
    *_wordings_of(
        MessageKind.CLUSTER,
        _LIFECYCLE,
        {("2.8.0", None): "Incarnation {any} of broker {broker} in cluster {value} is now STARTING."},
    ),
)

# Each wording contains one of the keys. reading.py searches the bytes for the keys: for all keys with a capital first
# letter at once, because capital letters are rare, and for each other key alone. The values are the needles, which are
# more exact. matching.py matches a wording from its needle on. No key and no needle contains a character that JSON may
# escape, such as `>` and `'`.
LOOKED_FOR: Final = {
    " starts at ": (" starts at leader epoch ", " starts at Leader Epoch "),
    " reset its fetch offset from ": (" reset its fetch offset from ",),
    "LeaderAndIsr": (" to OnlinePartition with state LeaderAndIsr", "eceived LeaderAndIsr request "),
    "Leader:": (" state changed to (Leader:",),
    "Reset fetch offset for partition ": ("eset fetch offset for partition ",),
    **{
        needle: (needle,)
        for needle in (
            "New leader and ISR for partition ",
            "Log loaded for partition ",
            "Created log for partition ",
            "Log for partition ",
            "ISR updated ",
            "Shrinking ISR ",
            "Truncating ",
            "Non-monotonic update of high watermark from ",
            "Completed load of ",
            "Recovering unflushed segment ",
            "Corruption found in segment ",
            "Creating new partition ",
            "Expected partition ",
            "UNCLEAN partition change for ",
            "No broker in ISR is alive for ",
            "Kafka version",
            "Cluster ID = ",
            "Incarnation ",
        )
    },
}
NEEDLES: Final = tuple(needle for needles in LOOKED_FOR.values() for needle in needles)

# Lines of Kafka that contain a needle, but that an audit doesn't need.
OTHERS: Final = (
    "Received LeaderAndIsr request with broker epoch ",
    "Reset fetch offset for partition {partition} from {any} to current leader's start offset ",
    "Truncate fully and reset fetch offset for partition ",
    "Log for partition {partition} is not available on broker ",
    "No broker in ISR is alive for {partition}. Pick the leader from ",
    "Log for partition {partition} is renamed to {any}-future",
)
