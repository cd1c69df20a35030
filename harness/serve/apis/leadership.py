"""Handle Metadata, ListOffsets and OffsetForLeaderEpoch requests.

The responses have the leader, the start and the high watermark of its log, and the end offsets of leader epochs.
"""

from functools import partial
from typing import Any

from kio.schema.errors import ErrorCode

from epochfuzz.harness.serve.apis.fencing import NO_EPOCH, leader_error
from epochfuzz.harness.serve.apis.partitions import responses
from epochfuzz.harness.serve.messages import ClientRequest
from epochfuzz.harness.serve.served_cluster import HOST, ServedCluster
from epochfuzz.model.kafka.clients import consumer
from epochfuzz.model.kafka.contract.observation import members
from epochfuzz.model.kafka.storage import epoch_cache
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES
from epochfuzz.model.kafka.vocabulary.state import NONE

_EARLIEST = -2
_LATEST = -1


async def metadata(cluster: ServedCluster, r: int, request: ClientRequest) -> dict[str, Any]:
    """Return the brokers, and the leader and the ISR of the served partition."""
    asked = request.body.topics
    names = [each.name for each in asked] if asked else [cluster.topic]
    leader, _ = cluster.leader_for(cluster.role_of(request.client))
    brokers = [
        {"node_id": node, "host": HOST, "port": port, "rack": REPLICA_NAMES[node]}
        for node, port in enumerate(cluster.ports)
    ]
    topics = [_topic(cluster, name, request) for name in names]
    return {
        "brokers": brokers,
        "cluster_id": "epochfuzz",
        "controller_id": max(leader, 0),
        "topics": topics,
    }


def _topic(cluster: ServedCluster, name: str, request: ClientRequest) -> dict[str, Any]:
    if name != cluster.topic:
        return {
            "error_code": ErrorCode.unknown_topic_or_partition,
            "name": name,
            "is_internal": False,
            "partitions": [],
        }
    p = cluster.partition.state
    leader, epoch = cluster.tell(request.client)
    part = {
        "error_code": ErrorCode.leader_not_available if leader == NONE else ErrorCode.none,
        "partition_index": 0,
        "leader_id": leader,
        "leader_epoch": epoch,
        "replica_nodes": [*range(p.replicas)],
        "isr_nodes": [] if leader == NONE else [REPLICA_NAMES.index(each) for each in members(p.isr[leader])],
        "offline_replicas": [r for r in range(p.replicas) if not p.up[r]],
    }
    return {"error_code": ErrorCode.none, "name": name, "is_internal": False, "partitions": [part]}


async def list_offsets(cluster: ServedCluster, r: int, request: ClientRequest) -> dict[str, Any]:
    """Return the log start offset (timestamp -2) or the high watermark (-1). For other timestamps, the offset is -1."""
    return {"topics": responses(request.body.topics, "name", partial(_offset, cluster, r))}


def _offset(cluster: ServedCluster, r: int, topic: str, asked: Any) -> dict[str, Any]:
    p = cluster.partition.state
    code = _error(cluster, r, topic, asked.partition_index, getattr(asked, "current_leader_epoch", NO_EPOCH))
    offset, epoch = NONE, NONE
    if code is ErrorCode.none and asked.timestamp in (_EARLIEST, _LATEST):
        offset = int(p.log_start[r] if asked.timestamp == _EARLIEST else p.high_watermark[r])
        epoch = int(p.known_epoch[r])
    found = {"partition_index": asked.partition_index, "error_code": code, "timestamp": NONE}
    return found | {"offset": offset, "leader_epoch": epoch}


async def offset_for_leader_epoch(cluster: ServedCluster, r: int, request: ClientRequest) -> dict[str, Any]:
    """Return the end offset of an epoch in the leader's log, found as in the model's `consumer.validate`."""
    return {"topics": responses(request.body.topics, "topic", partial(_epoch_end, cluster, r))}


def _epoch_end(cluster: ServedCluster, r: int, topic: str, asked: Any) -> dict[str, Any]:
    p = cluster.partition.state
    code = _error(cluster, r, topic, asked.partition, asked.current_leader_epoch)
    if code is ErrorCode.not_leader_or_follower and consumer.answers_epoch_ends(p, r):
        code = ErrorCode.none
    epoch, end = NONE, NONE
    if code is ErrorCode.none:
        epoch, end = epoch_cache.end_offset_kip_279(p, r, asked.leader_epoch, p.leo[r])
    return {"error_code": code, "partition": asked.partition, "leader_epoch": int(epoch), "end_offset": int(end)}


def _error(cluster: ServedCluster, r: int, topic: str, partition: int, epoch: int) -> ErrorCode:
    if (topic, partition) != (cluster.topic, 0):
        return ErrorCode.unknown_topic_or_partition
    return leader_error(cluster.partition.state, r, epoch)
