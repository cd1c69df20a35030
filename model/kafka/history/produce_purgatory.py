"""A produce request with acks=all waits until the leader's high watermark is past the record of the request.

This models the purgatory of Kafka's DelayedProduce. When the high watermark rises, Kafka checks only the offset of a
request, and whether the replica leads (Partition.checkEnoughReplicasReachOffset). So a request has to end when the
replica stops leading. If the request stayed, the commit of another record at this offset would complete the request
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
    """Add the produce request for a record to the requests that wait at r, and remove earlier requests for the record.

    Does nothing if requests do not wait (acks other than all), or if the state need not list the waiting requests.
    """
    if p.acks == Acks.ALL and tracks_waiting(p):
        leave(p, record)
        p.waiting[r] |= 1 << record


def leave(p: State, record: int) -> None:
    """Remove every waiting request for the record."""
    for r in range(p.replicas):
        p.waiting[r] &= ~(1 << record)


def answer(p: State, r: int) -> None:
    """Respond to the produce requests that wait at r, and whose records are now below r's high watermark."""
    for record in range(p.produced):
        if p.waiting[r] >> record & 1 and log.at(p.record_offset, record) < p.high_watermark[r]:
            p.waiting[r] &= ~(1 << record)
            answer_producer(p, r, record)


def answer_producer(p: State, r: int, record: int) -> None:
    """Respond to the produce request for a record that is below r's high watermark.

    The response is an acknowledgement if the ISR has at least min.insync.replicas members, and otherwise the error
    NOT_ENOUGH_REPLICAS_AFTER_APPEND. Replicas that r has proposed for the ISR count as members
    (Partition.checkEnoughReplicasReachOffset, 2.7).
    """
    if replica_sets.size(replica_sets.maximal_isr(p, r)) >= p.min_insync_replicas:
        p.acked |= 1 << record
    else:
        p.goals |= Goal.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def fail(p: State, r: int) -> None:
    """Fail all produce requests that wait at r, because r's leadership ends or begins (NOT_LEADER_OR_FOLLOWER).

    With the choice PendingProduce.KEPT the requests continue to wait.
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
