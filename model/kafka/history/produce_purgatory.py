"""Waiting requests: with acks=all a produce request waits until the leader's high watermark is past its record.

This is the purgatory of Kafka's DelayedProduce. Each time the high watermark rises, Kafka checks only the offset of a
request, and whether the replica leads (Partition.checkEnoughReplicasReachOffset). So a request must end when its
replica's leadership ends. Otherwise the request completes when another record is committed at its offset
(ReplicaManager.completeDelayedOperationsWhenNotPartitionLeader).

If requests fail when leadership ends, and no record is sent twice, then exactly one request waits for each record that
the leader has appended and not committed. In this case promises.py does not need to track the requests one by one.
"""

from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import tracks_waiting
from epochfuzz.model.kafka.vocabulary.mechanisms import PendingProduce
from epochfuzz.model.kafka.vocabulary.state import State


def join(p: State, r: int, record: int) -> None:
    """Let the producer wait for r's response. The producer stops waiting for responses to earlier requests."""
    if p.acks == Acks.ALL and tracks_waiting(p):
        leave(p, record)
        p.waiting[r] |= 1 << record


def leave(p: State, record: int) -> None:
    """Remove every waiting request with the record."""
    for r in range(p.replicas):
        p.waiting[r] &= ~(1 << record)


def answer(p: State, r: int) -> None:
    """Respond to the requests whose records are now below r's high watermark."""
    for record in range(p.produced):
        if p.waiting[r] >> record & 1 and log.at(p.record_offset, record) < p.high_watermark[r]:
            p.waiting[r] &= ~(1 << record)
            answer_producer(p, r, record)


def answer_producer(p: State, r: int, record: int) -> None:
    """Acknowledge a record below r's high watermark, if the ISR is large enough now.

    Replicas that are proposed for the ISR count too (Partition.checkEnoughReplicasReachOffset, 2.7).
    """
    if replica_sets.size(replica_sets.maximal_isr(p, r)) >= p.min_insync_replicas:
        p.acked |= 1 << record
    else:
        p.goals |= Goal.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def fail(p: State, r: int) -> None:
    """Fail all requests that wait at r (NOT_LEADER_OR_FOLLOWER), as r steps down or starts to lead.

    With PendingProduce.KEPT the requests continue to wait.
    """
    if p.pending_produce == PendingProduce.FAILED:
        if p.waiting[r] != 0:
            p.goals |= Goal.WAITING_REQUEST_FAILED
        p.waiting[r] = 0


def anywhere(p: State) -> bool:
    """Return whether a request waits at any replica."""
    if not tracks_waiting(p):
        return False
    for r in range(p.replicas):
        if p.waiting[r] != 0:
            return True
    return False
