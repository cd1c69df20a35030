"""A consumer: it reads record by record, up to high watermarks, and keeps its place when the leader changes.

Its position is an offset, and since KIP-320 (clients of 2.3) also the leader epoch of the record that it read last.
When its metadata names another leader it asks that one where the epoch ends: if before the position, the log was
truncated below it, and the application is told so (SubscriptionState.maybeValidatePositionForCurrentLeader,
maybeCompleteValidation). To read on from a bare offset is to pass over in silence whatever the new leader has before.
"""

from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.partition.replication import presumes_leadership
from epochfuzz.model.kafka.storage import epoch_cache, log, transactions
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.mechanisms import ConsumerPosition
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, State


def consume(p: State, r: int) -> int:
    """Have the consumer fetch from r, which has the next record below its high watermark."""
    if not p.consumer:
        return Refusal.CONSUMER_OFF
    refusal = why_not_served(p, r)
    if refusal != APPLIED:
        return refusal
    if p.position >= min(p.high_watermark[r], p.leo[r]):
        return Refusal.NOTHING_TO_CONSUME
    record = log.at(p.log_record[r], p.position)
    if not transactions.is_marker(p, record):
        p.delivered |= 1 << record
    p.position_epoch = log.at(p.log_epoch[r], p.position)
    p.position += 1
    return APPLIED


def why_not_served(p: State, r: int) -> int:
    """Why r does not serve the consumer: it does not lead, or is no read replica, or is not at the consumer's epoch."""
    if not p.up[r]:
        return Refusal.IS_DOWN
    if not presumes_leadership(p, r):
        if not p.follower_reads or p.known_leader[r] == NONE:
            return Refusal.DOES_NOT_LEAD
        if not is_read_replica(p, r):
            return Refusal.NO_READ_REPLICA
    if p.consumer_position != ConsumerPosition.OFFSET and p.known_epoch[r] != p.consumer_epoch:
        p.goals |= Goal.CONSUMER_FENCED
        return Refusal.CONSUMER_IS_BEHIND if p.consumer_epoch < p.known_epoch[r] else Refusal.CONSUMER_IS_AHEAD
    return APPLIED


def is_read_replica(p: State, follower: int) -> bool:
    """KIP-392: whether its leader sends the consumer to a follower: one that has fetched up to the consumer's position.

    It has truncated its log by then, so that the consumer reads nothing there that its leader does not have
    (ReplicaManager.findPreferredReadReplica).
    """
    leader = p.known_leader[follower]
    if not presumes_leadership(p, leader) or p.known_epoch[leader] != p.known_epoch[follower]:
        return False
    return p.remote_leos[leader, follower] >= p.position


def refresh(p: State, r: int) -> int:
    """Refresh the consumer's metadata: r leads a later epoch, and the position is validated anew."""
    if not p.consumer:
        return Refusal.CONSUMER_OFF
    if not presumes_leadership(p, r):
        return Refusal.DOES_NOT_LEAD if p.up[r] else Refusal.IS_DOWN
    if p.known_epoch[r] <= p.consumer_epoch:
        return Refusal.CONSUMER_KNOWS_EPOCH
    p.consumer_epoch = p.known_epoch[r]
    if p.consumer_position == ConsumerPosition.OFFSET:
        p.position = min(p.position, p.leo[r])  # out of range: auto.offset.reset=latest
    elif p.position > 0:
        validate(p, r)
    return APPLIED


def validate(p: State, r: int) -> None:
    """OffsetsForLeaderEpoch: where does the epoch of what the consumer read last end on leader r?

    Kafka's client looks at the end offset alone. A leader that has nothing of that epoch, after a second unclean
    election, answers with where an older one ends; if that is not before the position, it has other records there.
    """
    epoch, end = epoch_cache.end_offset_kip_279(p, r, p.position_epoch, p.leo[r])
    if end == NONE or (epoch != p.position_epoch and p.consumer_position == ConsumerPosition.OFFSET_AND_EPOCH):
        report_truncation(p, NONE, 0)
    elif end < p.position:
        report_truncation(p, epoch, end)


def report_truncation(p: State, epoch: int, end: int) -> None:
    """Tell the application that the log was truncated to `end`; the consumer reads on from there.

    From the start of the log where nobody can tell what is the same (LogTruncationException without an offset, and
    auto.offset.reset=earliest).
    """
    p.goals |= Goal.TRUNCATION_REPORTED
    p.position = end
    p.position_epoch = epoch if end > 0 else NONE


def skipped(p: State) -> int:
    """Return the records before the consumer's position, on the true leader that it knows, that it has never read."""
    leader = controller.true_leader(p)
    if leader == NONE or p.known_epoch[leader] != p.consumer_epoch:
        return 0
    before = 0
    for offset in range(min(p.position, p.leo[leader])):
        record = log.at(p.log_record[leader], offset)
        if not transactions.is_marker(p, record):
            before |= 1 << record
    return before & ~p.delivered
