"""Waiting requests: with acks=all a produce request waits at its leader until the high watermark is past its record.

The purgatory of Kafka's DelayedProduce. All that it looks at, whenever the high watermark rises, is the offset at which
the record was appended, and whether the replica leads (Partition.checkEnoughReplicasReachOffset); so a request must not
outlive the leadership in which it came, or another record that is committed at its offset answers it
(ReplicaManager.completeDelayedOperationsWhenNotPartitionLeader).

Where such requests fail, and no record is sent twice, those that wait are those that the leader has appended and not
committed, and promises.py has no need to know them one by one.
"""

from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import tracks_waiting
from epochfuzz.model.kafka.vocabulary.mechanisms import PendingProduce
from epochfuzz.model.kafka.vocabulary.state import State


def join(p: State, r: int, record: int) -> None:
    """Have the producer wait for r's answer, and not for one to an earlier request with the record."""
    if p.acks == Acks.ALL and tracks_waiting(p):
        leave(p, record)
        p.waiting[r] |= 1 << record


def leave(p: State, record: int) -> None:
    """Nobody waits for an answer about the record any more."""
    for r in range(p.replicas):
        p.waiting[r] &= ~(1 << record)


def answer(p: State, r: int) -> None:
    """Answer the requests that r's high watermark has passed: stored, if the ISR is large enough now."""
    for record in range(p.produced):
        if p.waiting[r] >> record & 1 and log.at(p.record_offset, record) < p.high_watermark[r]:
            p.waiting[r] &= ~(1 << record)
            answer_producer(p, r, record)


def answer_producer(p: State, r: int, record: int) -> None:
    """Tell the producer of a record below r's high watermark that it is stored, if the ISR is large enough now.

    Who has been proposed for the ISR counts too (Partition.checkEnoughReplicasReachOffset, 2.7).
    """
    if replica_sets.size(replica_sets.maximal_isr(p, r)) >= p.min_insync_replicas:
        p.acked |= 1 << record
    else:
        p.goals |= Goal.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def fail(p: State, r: int) -> None:
    """r does not lead any more, or leads anew: NOT_LEADER_OR_FOLLOWER for all that wait."""
    if p.pending_produce == PendingProduce.FAILED:
        if p.waiting[r] != 0:
            p.goals |= Goal.WAITING_REQUEST_FAILED
        p.waiting[r] = 0


def anywhere(p: State) -> bool:
    """Whether any request waits at any replica."""
    if not tracks_waiting(p):
        return False
    for r in range(p.replicas):
        if p.waiting[r] != 0:
            return True
    return False
