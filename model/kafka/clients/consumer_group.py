"""The committed position of a consumer: the consumer commits its position to its group, and may restart from there.

A committed position is an offset, and since KIP-320 also the leader epoch of the last record before the offset. A
consumer that restarts asks the group's coordinator for the committed position. If the position has an epoch, the
consumer validates the position at the leader, as after a change of leader
(ConsumerCoordinator.initWithCommittedOffsetsIfNeeded, SubscriptionState.seekUnvalidated). Without an epoch there is no
validation: an application that commits `new OffsetAndMetadata(offset)` gives up this check (KAFKA-20507). Kafka stores
committed positions in another partition. In the model this partition never loses a position.
"""

from epochfuzz.model.kafka.clients import consumer
from epochfuzz.model.kafka.controller import controller
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import commits_epochs, commits_known_epochs, has_consumer_group
from epochfuzz.model.kafka.vocabulary.mechanisms import ConsumerRestart
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, State


def commit_offset(p: State, r: int) -> int:
    """Let the consumer commit its position."""
    if not has_consumer_group(p):
        return Refusal.DOES_NOT_HAPPEN
    if r != 0:
        return Refusal.IS_OF_THE_CONSUMER
    epoch = p.position_epoch if commits_epochs(p) else NONE
    known = p.consumer_epoch if commits_known_epochs(p) else NONE
    if p.committed == p.position and p.committed_epoch == epoch and p.committed_known_epoch == known:
        return Refusal.NOTHING_TO_COMMIT
    p.committed = p.position
    p.committed_epoch = epoch
    p.committed_known_epoch = known
    return APPLIED


def reset(p: State, r: int) -> int:
    """Let the consumer restart at its committed position, with metadata that names r as the leader.

    The metadata may be outdated, and r may be a stale leader. A consumer with a committed epoch ignores metadata of an
    earlier leader epoch (Metadata.updateLastSeenEpochIfNewer, Metadata.currentLeader). But this is the epoch of a
    record. A stale leader may have a later epoch, and an earlier end of the record's epoch.
    """
    if not has_consumer_group(p):
        return Refusal.DOES_NOT_HAPPEN
    if not consumer.answers_epoch_ends(p, r):
        return Refusal.DOES_NOT_LEAD if p.up[r] else Refusal.IS_DOWN
    if validates(p) and p.known_epoch[r] < max(p.committed_epoch, p.committed_known_epoch):
        return Refusal.METADATA_ARE_OLDER
    p.goals |= Goal.CONSUMER_RESTARTED * (p.committed > 0)
    p.position = p.committed
    p.position_epoch = p.committed_epoch if validates(p) else NONE
    p.consumer_epoch = NONE
    consumer.refresh(p, r)
    if p.position == p.committed:
        p.position_epoch = p.committed_epoch  # the next change of the leader validates the position
    return APPLIED


def validates(p: State) -> bool:
    """Return whether a restarted consumer validates its committed position at the leader (KIP-320)."""
    return p.consumer_restart >= ConsumerRestart.VALIDATED and commits_epochs(p)


def has_gone_back(p: State) -> bool:
    """Return whether the consumer is before its committed position, although the true leader's log still has it.

    If the record before the committed offset has the committed epoch, the logs agree up to this offset, and no record
    that the consumer has read before it was truncated.
    """
    leader = controller.true_leader(p)
    if not commits_epochs(p) or leader == NONE or p.committed_epoch == NONE or p.position >= p.committed:
        return False
    return p.committed <= p.leo[leader] and log.at(p.log_epoch[leader], p.committed - 1) == p.committed_epoch
