"""The endpoint: the response of a broker of the served cluster to a request."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from epochfuzz.harness.serve.apis import consuming, groups, leadership, producing
from epochfuzz.harness.serve.messages import Api, Request, decode, encode, versions
from epochfuzz.harness.serve.served_cluster import ServedCluster

_Fields = dict[str, Any] | None
_HANDLERS: Final[Mapping[Api, Callable[[ServedCluster, int, Request], Awaitable[_Fields]]]] = {
    Api.PRODUCE: producing.produce,
    Api.FETCH: consuming.fetch,
    Api.LIST_OFFSETS: leadership.list_offsets,
    Api.METADATA: leadership.metadata,
    Api.OFFSET_COMMIT: groups.offset_commit,
    Api.OFFSET_FETCH: groups.offset_fetch,
    Api.FIND_COORDINATOR: groups.find_coordinator,
    Api.JOIN_GROUP: groups.join_group,
    Api.HEARTBEAT: groups.no_error,
    Api.LEAVE_GROUP: groups.no_error,
    Api.SYNC_GROUP: groups.sync_group,
    Api.INIT_PRODUCER_ID: producing.init_producer_id,
    Api.OFFSET_FOR_LEADER_EPOCH: leadership.offset_for_leader_epoch,
}


async def respond(cluster: ServedCluster, r: int, frame: bytes) -> bytes | None:
    """Return the frame of broker r's response to a request, None if the request wants no response.

    Frames are without the four bytes of their size. Waits as long as Kafka's broker would. Raises BadRequest, and
    ConnectionAbortedError if the broker has died in the meantime.
    """
    request = decode(frame)
    fields = versions(request) if request.api is Api.API_VERSIONS else await _HANDLERS[request.api](cluster, r, request)
    if not cluster.partition.state.up[r]:
        raise ConnectionAbortedError
    return None if fields is None else encode(request, fields)
