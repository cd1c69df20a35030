"""Consumer groups with one member: every broker is the coordinator, and each client that joins gets the partition."""

from typing import Any

from kio.schema.errors import ErrorCode

from epochfuzz.harness.serve.apis.partitions import responses
from epochfuzz.harness.serve.messages import ClientRequest
from epochfuzz.harness.serve.served_cluster import HOST, ServedCluster
from epochfuzz.model.kafka.vocabulary.state import NONE

_GENERATION = 1
_MEMBER = "member-1"


async def find_coordinator(cluster: ServedCluster, r: int, request: ClientRequest) -> dict[str, Any]:
    """Return broker r as the coordinator. So a live broker serves groups while other brokers are down."""
    node = {"node_id": r, "host": HOST, "port": cluster.ports[r]}
    return {"error_code": ErrorCode.none, "error_message": None, **node}


async def join_group(cluster: ServedCluster, r: int, request: ClientRequest) -> dict[str, Any]:
    """Make the client the only member and the leader of its group. So the client assigns the partition to itself."""
    cluster.note_consumer(request.client)
    protocol = request.body.protocols[0]
    member = {"member_id": _MEMBER, "group_instance_id": None, "metadata": protocol.metadata}
    names = {"protocol_name": protocol.name, "leader": _MEMBER, "member_id": _MEMBER}
    return {"error_code": ErrorCode.none, "generation_id": _GENERATION, **names, "members": [member]}


async def sync_group(cluster: ServedCluster, r: int, request: ClientRequest) -> dict[str, Any]:
    """Store the assignment that the client sends as the leader of its group, and return it to the client."""
    for each in request.body.assignments:
        cluster.members[request.body.group_id] = each.assignment
    return {"error_code": ErrorCode.none, "assignment": cluster.members.get(request.body.group_id, b"")}


async def no_error(cluster: ServedCluster, r: int, request: ClientRequest) -> dict[str, Any]:
    """Accept a Heartbeat or a LeaveGroup request. Returns a response without an error."""
    return {"error_code": ErrorCode.none}


async def offset_commit(cluster: ServedCluster, r: int, request: ClientRequest) -> dict[str, Any]:
    """Store the offset of a group, with the leader epoch if the client sends one."""

    def store(_: str, asked: Any) -> dict[str, Any]:
        epoch = int(getattr(asked, "committed_leader_epoch", NONE))
        cluster.commit(request.body.group_id, int(asked.committed_offset), epoch)
        return {"partition_index": asked.partition_index, "error_code": ErrorCode.none}

    return {"topics": responses(request.body.topics, "name", store)}


async def offset_fetch(cluster: ServedCluster, r: int, request: ClientRequest) -> dict[str, Any]:
    """Return the committed offset of a group, or -1 if the group has committed none."""
    offset, epoch = cluster.commits.get(request.body.group_id, (NONE, NONE))
    found = {"committed_offset": offset, "committed_leader_epoch": epoch, "metadata": ""}
    topics = [
        {
            "name": topic.name,
            "partitions": [
                {"partition_index": index, "error_code": ErrorCode.none, **found} for index in topic.partition_indexes
            ],
        }
        for topic in request.body.topics or ()
    ]
    return {"error_code": ErrorCode.none, "topics": topics}
