"""Handle Produce and InitProducerId requests."""

from typing import Any

from kio.schema.errors import ErrorCode

from epochfuzz.harness.serve.apis.fencing import CODES
from epochfuzz.harness.serve.batches import BatchError, Sent, sent_records
from epochfuzz.harness.serve.messages import ClientRequest
from epochfuzz.harness.serve.served_cluster import ClientRole, ServedCluster
from epochfuzz.model.kafka.history import producer_window
from epochfuzz.model.kafka.partition.replication import presumes_leadership
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.events import Verb
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE

_ACKS = {0: Acks.NONE, 1: Acks.LEADER, -1: Acks.ALL}
_FULL = "this partition is a model with room for a few records; `records` is its bound"


async def produce(cluster: ServedCluster, r: int, request: ClientRequest) -> dict[str, Any] | None:
    """Append the records of a request at broker r, and wait for their acknowledgement. Returns None for acks=0."""
    responses = []
    for topic in request.body.topic_data:
        parts = []
        for part in topic.partition_data:
            if (topic.name, part.index) != (cluster.topic, 0):
                code, offset = ErrorCode.unknown_topic_or_partition, NONE
            elif _ACKS.get(request.body.acks) != cluster.partition.state.acks:
                code, offset = ErrorCode.invalid_required_acks, NONE
            else:
                code, offset = await _appended(cluster, r, request.client, part.records or b"")
            message = _FULL if code is ErrorCode.policy_violation else None
            parts.append(
                {"index": part.index, "error_code": code, "base_offset": offset, "log_append_time": None}
                | {"record_errors": [], "error_message": message}
            )
        responses.append({"name": topic.name, "partition_responses": parts})
    return None if request.body.acks == 0 else {"responses": responses}


async def _appended(cluster: ServedCluster, r: int, client: str, data: bytes) -> tuple[ErrorCode, int]:
    """Append a batch and wait for its acknowledgement. Returns the error code, and the batch's offset or NONE."""
    try:
        records = sent_records(data)
    except BatchError as error:
        return error.code, NONE
    numbers = []
    async with cluster.turn(client, r):
        for sent in records:
            refusal, number = await _append(cluster, r, sent)
            if refusal is not APPLIED:
                return CODES[refusal], NONE
            numbers.append(number)
    offset = cluster.partition.offset_of(r, numbers[0])
    for number in numbers:
        code = await _acknowledgement(cluster, r, number)
        if code is not ErrorCode.none:
            return code, NONE
    return ErrorCode.none, offset


async def _append(cluster: ServedCluster, r: int, sent: Sent) -> tuple[Refusal, int]:
    """Append a record as soon as the schedule's gate and the producer's window admit the record.

    Returns the reason why the record is rejected (or APPLIED), and the record's number. A record whose response was
    lost is not appended again. If metadata responses name another leader than r, broker r rejects the record,
    so that the producer turns to the leader that the schedule requires.
    """
    partition = cluster.partition
    while True:
        p = partition.state
        number = partition.number_of(sent)
        verb = Verb.PRODUCE if number is None else Verb.RETRY
        if not presumes_leadership(p, r) or cluster.is_elsewhere(ClientRole.PRODUCER, r):
            return Refusal.DOES_NOT_LEAD, NONE
        if number is not None and producer_window.is_done(p, number):
            return (APPLIED if partition.offset_of(r, number) != NONE else Refusal.OUT_OF_ORDER_SEQUENCE), number
        if number is None and partition.is_out_of_order(r, sent):
            return Refusal.OUT_OF_ORDER_SEQUENCE, NONE
        if cluster.gate.admits(verb, r) and number in (None, producer_window.oldest_unanswered(p)):
            refusal = partition.append(r, sent, number)
            if refusal is not Refusal.TWO_IN_FLIGHT:
                cluster.gate.enter()
                partition.wake()
                return refusal, len(partition.payloads) - 1 if number is None else number
        await partition.change()


async def _acknowledgement(cluster: ServedCluster, r: int, number: int) -> ErrorCode:
    """Wait until the record is acknowledged, or its produce request fails at broker r. Returns the error code."""
    partition = cluster.partition
    p = partition.state
    while p.acks == Acks.ALL and p.waiting[r] >> number & 1:
        await partition.change()
    if p.acks != Acks.ALL or p.acked >> number & 1:
        return ErrorCode.none
    if presumes_leadership(p, r) and replica_sets.size(replica_sets.maximal_isr(p, r)) < p.min_insync_replicas:
        return ErrorCode.not_enough_replicas_after_append
    return ErrorCode.not_leader_or_follower


async def init_producer_id(cluster: ServedCluster, r: int, request: ClientRequest) -> dict[str, Any]:
    """Give the producer a new id. Transactional producers are rejected."""
    if request.body.transactional_id is not None:
        code = ErrorCode.transactional_id_authorization_failed
        return {"error_code": code, "producer_id": NONE, "producer_epoch": NONE}
    cluster.producer_ids += 1
    return {"error_code": ErrorCode.none, "producer_id": cluster.producer_ids, "producer_epoch": 0}
