"""Handle the Fetch requests of consumers."""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

from kio.schema.errors import ErrorCode

from epochfuzz.harness.serve.apis.fencing import NO_EPOCH, epoch_error
from epochfuzz.harness.serve.apis.partitions import responses
from epochfuzz.harness.serve.batches import fetched_record
from epochfuzz.harness.serve.messages import ClientRequest
from epochfuzz.harness.serve.served_cluster import LastFetch, ServedCluster
from epochfuzz.model.kafka.clients import consumer
from epochfuzz.model.kafka.partition.replication import presumes_leadership
from epochfuzz.model.kafka.storage import epoch_cache
from epochfuzz.model.kafka.vocabulary.events import Verb
from epochfuzz.model.kafka.vocabulary.state import NONE

_Part = dict[str, Any]


async def fetch(cluster: ServedCluster, r: int, request: ClientRequest) -> dict[str, Any]:
    """Return records up to broker r's high watermark. Without such a record, wait up to the request's `max_wait`."""
    cluster.note_consumer(request.client)
    asked = _served_part(cluster, request)
    if asked is not None:
        cluster.last_fetch = LastFetch(r, int(asked.fetch_offset))
        cluster.partition.wake()
    part: _Part = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(request.body.max_wait.total_seconds()):
            while asked is None or not (part := _fetched(cluster, r, asked)):
                await cluster.partition.change()
    parts = responses(request.body.topics, "topic", partial(_of_partition, cluster, r, part))
    return {"error_code": ErrorCode.none, "session_id": 0, "responses": parts}


def _of_partition(cluster: ServedCluster, r: int, part: _Part, topic: str, asked: Any) -> _Part:
    """Return the response for one partition of a request: an error for any partition except the served partition.

    `part` has fields of the served partition's response, which replace the fields of an empty response.
    """
    is_served = (topic, asked.partition) == (cluster.topic, 0)
    code = ErrorCode.none if is_served else ErrorCode.unknown_topic_or_partition
    p = cluster.partition.state
    defaults = {"partition_index": asked.partition, "error_code": code, "high_watermark": int(p.high_watermark[r])}
    start = int(p.log_start[r])
    rest = {"last_stable_offset": NONE, "log_start_offset": start, "aborted_transactions": None, "records": b""}
    return defaults | rest | (part if is_served else {})


def _served_part(cluster: ServedCluster, request: ClientRequest) -> Any:
    """Return the entry of a request for the served partition, or None if the request does not name this partition."""
    parts = ((topic.topic, each) for topic in request.body.topics for each in topic.partitions)
    return next((each for name, each in parts if (name, each.partition) == (cluster.topic, 0)), None)


def _fetched(cluster: ServedCluster, r: int, asked: Any) -> _Part:
    """Return the fields of the served partition's response that differ from an empty response.

    If the result is empty, there is nothing to respond yet, and the request waits.
    """
    p = cluster.partition.state
    epoch = getattr(asked, "current_leader_epoch", NO_EPOCH)
    code = epoch_error(p, r, epoch)
    if code is ErrorCode.none and not _serves(cluster, r, asked.fetch_offset):
        code = ErrorCode.not_leader_or_follower
    if code is ErrorCode.none and not cluster.partition.has_position(r, asked.fetch_offset):
        code = ErrorCode.offset_out_of_range
    if code is not ErrorCode.none:
        return {"error_code": code}
    return _diverging(cluster, r, asked) or _redirected(cluster, r, asked) or _read(cluster, r, asked.fetch_offset)


def _serves(cluster: ServedCluster, r: int, offset: int) -> bool:
    """Return whether a consumer at `offset` may read from r, because r is a leader or a read replica (KIP-392)."""
    p = cluster.partition.state
    if presumes_leadership(p, r):
        return True
    p.position = offset  # give the model's consumer the position of this client
    return bool(p.follower_reads and p.known_leader[r] != NONE and consumer.is_read_replica(p, r))


def _diverging(cluster: ServedCluster, r: int, asked: Any) -> _Part:
    """Return the end of the consumer's last epoch if the consumer has read records that r lacks (KIP-595).

    If broker r cannot find the end, return an error. If the records agree, return an empty dictionary.
    """
    last = getattr(asked, "last_fetched_epoch", NO_EPOCH)
    if last == NO_EPOCH:
        return {}
    p = cluster.partition.state
    epoch, end = epoch_cache.end_offset_kip_279(p, r, last, p.leo[r])
    if end == NONE:
        return {"error_code": ErrorCode.offset_out_of_range}
    if epoch < last or end < asked.fetch_offset:
        return {"diverging_epoch": {"epoch": int(epoch), "end_offset": int(end)}}
    return {}


def _redirected(cluster: ServedCluster, r: int, asked: Any) -> _Part:
    """Return the preferred read replica: the follower that the schedule's current `consume` event names (KIP-392).

    Without a `consume` event, or if the follower cannot serve the consumer, return an empty dictionary.
    """
    p = cluster.partition.state
    follower = cluster.gate.opened_for(Verb.CONSUME)
    if follower in (None, r) or not presumes_leadership(p, r) or not p.follower_reads:
        return {}
    p.position = asked.fetch_offset
    if p.known_leader[follower] != r or not consumer.is_read_replica(p, follower):
        return {}
    return {"preferred_read_replica": follower}


def _read(cluster: ServedCluster, r: int, offset: int) -> _Part:
    """Return the next record, or all records if no schedule runs. Empty if the consumer can read no record now."""
    p = cluster.partition.state
    end = min(p.high_watermark[r], p.leo[r])
    if offset >= end or not cluster.gate.admits(Verb.CONSUME, r):
        return {}
    last = end if cluster.gate.is_free else offset + 1
    cluster.gate.enter()
    entries = [*cluster.partition.entries(r)][offset - p.log_start[r] : last - p.log_start[r]]
    records = b"".join(fetched_record(at, *entry) for at, entry in enumerate(entries, offset))
    return {"high_watermark": int(p.high_watermark[r]), "records": records}
