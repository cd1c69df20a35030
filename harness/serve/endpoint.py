"""The endpoint: compute a broker's response to a client's request."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from epochfuzz.harness.serve.apis import consuming, groups, leadership, producing
from epochfuzz.harness.serve.messages import ClientRequest, ServedApi, decode, encode, versions
from epochfuzz.harness.serve.served_cluster import ServedCluster

_Fields = dict[str, Any] | None
_HANDLERS: Final[Mapping[ServedApi, Callable[[ServedCluster, int, ClientRequest], Awaitable[_Fields]]]] = {
    ServedApi.PRODUCE: producing.produce,
    ServedApi.FETCH: consuming.fetch,
    ServedApi.LIST_OFFSETS: leadership.list_offsets,
    ServedApi.METADATA: leadership.metadata,
    ServedApi.OFFSET_COMMIT: groups.offset_commit,
    ServedApi.OFFSET_FETCH: groups.offset_fetch,
    ServedApi.FIND_COORDINATOR: groups.find_coordinator,
    ServedApi.JOIN_GROUP: groups.join_group,
    ServedApi.HEARTBEAT: groups.no_error,
    ServedApi.LEAVE_GROUP: groups.no_error,
    ServedApi.SYNC_GROUP: groups.sync_group,
    ServedApi.INIT_PRODUCER_ID: producing.init_producer_id,
    ServedApi.OFFSET_FOR_LEADER_EPOCH: leadership.offset_for_leader_epoch,
}


async def respond(cluster: ServedCluster, r: int, frame: bytes) -> bytes | None:
    """Return broker r's response to a request, or None if the request wants no response.

    Request and response are frames without the four bytes of their size. The function waits as long as Kafka's broker
    would. Raises BadRequest, and ConnectionAbortedError if the broker has died in the meantime.
    """
    request = decode(frame)
    fields = (
        versions(request)
        if request.api is ServedApi.API_VERSIONS
        else await _HANDLERS[request.api](cluster, r, request)
    )
    if not cluster.partition.state.up[r]:
        raise ConnectionAbortedError
    return None if fields is None else encode(request, fields)
