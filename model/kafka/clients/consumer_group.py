"""The committed position of a consumer: the consumer commits its position to its group, and may restart from there.

A committed position is an offset, and since KIP-320 also the leader epoch of the last record before the offset. A
consumer that restarts asks the group's coordinator for the committed position. If the position has an epoch, the
consumer validates the position at the leader, as after a change of leader
(ConsumerCoordinator.initWithCommittedOffsetsIfNeeded, SubscriptionState.seekUnvalidated). Without an epoch there is no
validation: an application that commits `new OffsetAndMetadata(offset)` gives up this check (KAFKA-20507). Kafka stores
committed positions in another partition. In the model this partition never loses a position.
"""

from epochfuzz.model.kafka.clients import consumer
from epochfuzz.model.kafka.partition.replication import presumes_leadership
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import commits_epochs, has_consumer_group
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
    if p.committed == p.position and p.committed_epoch == epoch:
        return Refusal.NOTHING_TO_COMMIT
    p.committed = p.position
    p.committed_epoch = epoch
    return APPLIED


def reset(p: State, r: int) -> int:
    """Let the consumer restart at its committed position, with metadata that names r as the leader.

    The metadata may be outdated, and r may be a stale leader. A consumer with a committed epoch ignores metadata of an
    earlier leader epoch (Metadata.updateLastSeenEpochIfNewer, Metadata.currentLeader).
    """
    if not has_consumer_group(p):
        return Refusal.DOES_NOT_HAPPEN
    if not presumes_leadership(p, r):
        return Refusal.DOES_NOT_LEAD if p.up[r] else Refusal.IS_DOWN
    if validates(p) and p.known_epoch[r] < p.committed_epoch:
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
    return commits_epochs(p) and p.consumer_restart == ConsumerRestart.VALIDATED
