"""Every version that the endpoint offers: a client can decode the response."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from epochfuzz.harness.serve.endpoint import respond
from epochfuzz.harness.serve.messages import BadRequest, ServedApi
from tests.serve.asking import TOPIC, ask, batch, cluster, decoded, epoch_end_asked, fetched, frame, produced

_OFFSET = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}
_COMMIT: dict[str, Any] = {
    "partition_index": 0,
    "committed_offset": 1,
    "committed_leader_epoch": 0,
    "committed_metadata": "",
}
_MEMBER = {"group_id": "g", "member_id": "member-1", "group_instance_id": None, "generation_id": 1}
_ASSIGNED = [{"member_id": "member-1", "assignment": b"a"}]
REQUESTS: dict[ServedApi, dict[str, Any]] = {
    ServedApi.PRODUCE: produced(batch("m0"), acks=1),
    ServedApi.FETCH: fetched(0),
    ServedApi.LIST_OFFSETS: {
        "replica_id": -1,
        "isolation_level": 0,
        "topics": [{"name": TOPIC, "partitions": [_OFFSET]}],
    },
    ServedApi.METADATA: {
        "topics": [{"name": TOPIC}],
        "allow_auto_topic_creation": False,
        "include_cluster_authorized_operations": False,
        "include_topic_authorized_operations": False,
    },
    ServedApi.OFFSET_COMMIT: {
        **_MEMBER,
        "generation_id_or_member_epoch": 1,
        "retention_time": timedelta(-1),
        "topics": [{"name": TOPIC, "partitions": [_COMMIT]}],
    },
    ServedApi.OFFSET_FETCH: {
        "group_id": "g",
        "topics": [{"name": TOPIC, "partition_indexes": [0]}],
        "require_stable": False,
    },
    ServedApi.FIND_COORDINATOR: {"key": "g", "key_type": 0},
    ServedApi.JOIN_GROUP: {
        **_MEMBER,
        "session_timeout": timedelta(seconds=10),
        "rebalance_timeout": timedelta(seconds=10),
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b"m"}],
    },
    ServedApi.HEARTBEAT: _MEMBER,
    ServedApi.LEAVE_GROUP: _MEMBER,
    ServedApi.SYNC_GROUP: {**_MEMBER, "assignments": _ASSIGNED},
    ServedApi.API_VERSIONS: {"client_software_name": "test", "client_software_version": "1"},
    ServedApi.INIT_PRODUCER_ID: {"transactional_id": None, "transaction_timeout": timedelta(seconds=60)},
    ServedApi.OFFSET_FOR_LEADER_EPOCH: epoch_end_asked(0, 0),
}
VERSIONS = [(api, version) for api in ServedApi for version in range(api.first, api.last + 1)]


@pytest.mark.parametrize(("api", "version"), VERSIONS, ids=[f"{api.name}-{version}" for api, version in VERSIONS])
def test_a_client_can_decode_the_response_to_every_version(api: ServedApi, version: int) -> None:
    ask(cluster(acks="1"), 0, api, version, **REQUESTS[api])


def test_a_client_with_a_later_api_versions_request_learns_the_supported_versions() -> None:
    newer = frame(ServedApi.API_VERSIONS, 4, client_software_name="test", client_software_version="1")
    body = decoded(ServedApi.API_VERSIONS, 0, asyncio.run(respond(cluster(), 0, newer)))
    assert body.error_code is ErrorCode.unsupported_version
    assert {each.api_key: (each.min_version, each.max_version) for each in body.api_keys} == {
        int(api): (api.first, api.last) for api in ServedApi
    }


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        (b"\0", "a request of 1 bytes"),
        (b"\x03\xe7\0\0\0\0\0\0\0\0", "an unknown API key, 999"),
        (b"\0\x01\0\x0d", "FETCH of version 13; this endpoint offers 4 to 12"),
        (frame(ServedApi.METADATA, 9, **REQUESTS[ServedApi.METADATA])[:12], "bytes that are no RequestHeader"),
    ],
)
def test_the_endpoint_rejects_an_unsupported_request_and_names_the_reason(sent: bytes, named: str) -> None:
    with pytest.raises(BadRequest, match=named):
        asyncio.run(respond(cluster(), 0, sent))
