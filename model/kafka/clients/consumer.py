"""A consumer that reads record by record up to the high watermark, and keeps its position when the leader changes.

The position is an offset, and since KIP-320 (clients of 2.3) also the leader epoch of the last record that was read.
When the leader changes, the consumer asks the new leader for the end offset of that epoch. If the end is before the
position, the log was truncated below the position, and the client reports this to the application
(SubscriptionState.maybeValidatePositionForCurrentLeader, maybeCompleteValidation). A consumer that checks only its
offset silently skips the records that the new leader has before that offset.
"""

from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.partition.replication import presumes_leadership
from epochfuzz.model.kafka.storage import epoch_cache, log, transactions
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import asks_for_epoch_ends, has_retention, resets_positions
from epochfuzz.model.kafka.vocabulary.mechanisms import ConsumerEpochEnd, ConsumerPosition
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import DELETED, NONE, State


def consume(p: State, r: int) -> int:
    """Let the consumer read the next record from r, if this record is below r's high watermark."""
    if not p.consumer:
        return Refusal.CONSUMER_OFF
    refusal = why_not_served(p, r)
    if refusal != APPLIED:
        return refusal
    if has_retention(p) and p.position < p.log_start[r]:
        refusal = skip_deleted(p, r)
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


def skip_deleted(p: State, r: int) -> int:
    """Move the consumer's position from below r's log start to the log start.

    r responds with the error OFFSET_OUT_OF_RANGE, and the client has auto.offset.reset=earliest. If r has no readable
    record at or after its log start, the consumer keeps its position.
    """
    if p.log_start[r] >= min(p.high_watermark[r], p.leo[r]):
        return Refusal.NOTHING_TO_CONSUME
    p.position = p.log_start[r]
    p.position_epoch = NONE
    return APPLIED


def why_not_served(p: State, r: int) -> int:
    """Return why r does not serve the consumer, or APPLIED if it does.

    r must believe that it leads, or be a follower that the consumer may read from. Since KIP-320 the leader epoch that
    r knows must equal the consumer's leader epoch.
    """
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
    """Return whether the leader that `follower` knows sends the consumer to `follower` (KIP-392).

    The leader does this if it has received a fetch of the follower from the consumer's position or a later offset. The
    follower has truncated its log before this fetch, so both logs agree below the position. The consumer's position
    must not be below the follower's log start (ReplicaManager.findPreferredReadReplica).
    """
    leader = p.known_leader[follower]
    if not presumes_leadership(p, leader) or p.known_epoch[leader] != p.known_epoch[follower]:
        return False
    if has_retention(p) and p.position < p.log_start[follower]:
        return False
    return p.remote_leos[leader, follower] >= p.position


def refresh(p: State, r: int) -> int:
    """Let the consumer learn that r leads a later epoch, and validate its position at r."""
    if not p.consumer:
        return Refusal.CONSUMER_OFF
    if not answers_epoch_ends(p, r):
        return Refusal.DOES_NOT_LEAD if p.up[r] else Refusal.IS_DOWN
    if p.known_epoch[r] <= p.consumer_epoch:
        return Refusal.CONSUMER_KNOWS_EPOCH
    p.consumer_epoch = p.known_epoch[r]
    if p.consumer_position == ConsumerPosition.OFFSET or (resets_positions(p) and p.position_epoch == NONE):
        p.position = min(p.position, p.leo[r])  # out of range: auto.offset.reset=latest
    elif p.position > 0:
        validate(p, r)
    return APPLIED


def answers_epoch_ends(p: State, r: int) -> bool:
    """Return whether r answers a consumer that takes r for the leader: r believes this too, or need not believe it.

    The consumer's metadata may be outdated. A follower's log may end before the consumer's position.
    """
    if p.consumer_epoch_end == ConsumerEpochEnd.ANY_REPLICA and asks_for_epoch_ends(p):
        return bool(p.known_leader[r] != NONE)
    return presumes_leadership(p, r)


def validate(p: State, r: int) -> None:
    """Ask leader r for the end offset of the consumer's last epoch, to detect a truncation (OffsetsForLeaderEpoch).

    Kafka's client compares only the end offset with its position. After two unclean elections the leader may have no
    record of that epoch, and responds with the end of an older epoch. If this end is at or beyond the position, the
    client misses the truncation.
    """
    epoch, end = epoch_cache.end_offset_kip_279(p, r, p.position_epoch, p.leo[r])
    if end == NONE or (epoch != p.position_epoch and p.consumer_position == ConsumerPosition.OFFSET_AND_EPOCH):
        report_truncation(p, NONE, 0)
    elif end < p.position:
        report_truncation(p, epoch, end)


def report_truncation(p: State, epoch: int, end: int) -> None:
    """Report to the application that the log was truncated to the offset `end`, and move the position to `end`.

    If the client cannot tell where the truncation was, `end` is 0, the start of the log (LogTruncationException without
    an offset, auto.offset.reset=earliest).
    """
    p.goals |= Goal.TRUNCATION_REPORTED
    p.position = end
    p.position_epoch = epoch if end > 0 else NONE


def skipped(p: State) -> int:
    """Return the true leader's records that the consumer skipped: below the consumer's position, but never read.

    The true leader is up, leads the controller's current epoch, and knows that it leads. The set is empty if there is
    no true leader, or if the consumer does not know the true leader's epoch.
    """
    leader = controller.true_leader(p)
    if leader == NONE or p.known_epoch[leader] != p.consumer_epoch:
        return 0
    before = 0
    for offset in range(min(p.position, p.leo[leader])):
        record = log.at(p.log_record[leader], offset)
        if not transactions.is_marker(p, record):
            before |= 1 << record
    if has_retention(p):
        return before & ~p.delivered & ~(p.deleted | 1 << DELETED)
    return before & ~p.delivered
