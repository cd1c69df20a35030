"""Produce requests with acks=all wait until the leader's high watermark is past their record.

This models the purgatory of Kafka's DelayedProduce. When the high watermark rises, Kafka checks only the offset of a
request, and whether the replica leads (Partition.checkEnoughReplicasReachOffset). So a request has to end when the
replica stops leading. If it stayed, another record that is committed at its offset would complete it
(ReplicaManager.completeDelayedOperationsWhenNotPartitionLeader).

If requests fail when leadership ends, and no record is sent twice, then exactly one request waits for each record that
the leader has appended and not committed. In this case the state needs no list of waiting requests.
"""

from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import tracks_waiting
from epochfuzz.model.kafka.vocabulary.mechanisms import PendingProduce
from epochfuzz.model.kafka.vocabulary.state import State


def join(p: State, r: int, record: int) -> None:
    """Let the request for a record wait at r, and remove all earlier requests for this record."""
    if p.acks == Acks.ALL and tracks_waiting(p):
        leave(p, record)
        p.waiting[r] |= 1 << record


def leave(p: State, record: int) -> None:
    """Remove every waiting request for the record."""
    for r in range(p.replicas):
        p.waiting[r] &= ~(1 << record)


def answer(p: State, r: int) -> None:
    """Respond to the requests whose records are now below r's high watermark."""
    for record in range(p.produced):
        if p.waiting[r] >> record & 1 and log.at(p.record_offset, record) < p.high_watermark[r]:
            p.waiting[r] &= ~(1 << record)
            answer_producer(p, r, record)


def answer_producer(p: State, r: int, record: int) -> None:
    """Respond to the request for a record that is below r's high watermark.

    This acknowledges the record if the ISR has min.insync.replicas. Replicas that are proposed for the ISR count too
    (Partition.checkEnoughReplicasReachOffset, 2.7).
    """
    if replica_sets.size(replica_sets.maximal_isr(p, r)) >= p.min_insync_replicas:
        p.acked |= 1 << record
    else:
        p.goals |= Goal.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def fail(p: State, r: int) -> None:
    """Fail all requests that wait at r, because r's leadership ends or begins (NOT_LEADER_OR_FOLLOWER).

    With PendingProduce.KEPT the requests continue to wait.
    """
    if p.pending_produce == PendingProduce.FAILED:
        if p.waiting[r] != 0:
            p.goals |= Goal.WAITING_REQUEST_FAILED
        p.waiting[r] = 0


def anywhere(p: State) -> bool:
    """Return whether a produce request waits at any replica."""
    if not tracks_waiting(p):
        return False
    for r in range(p.replicas):
        if p.waiting[r] != 0:
            return True
    return False
