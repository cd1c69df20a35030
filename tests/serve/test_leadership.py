"""Metadata, ListOffsets and OffsetForLeaderEpoch follow the leaders, logs and epochs of the model."""

from typing import Any

from kio.schema.errors import ErrorCode

from epochfuzz.harness.serve.messages import ServedApi
from epochfuzz.harness.serve.served_cluster import ClientRole, ServedCluster
from tests.serve.asking import TOPIC, ask, cluster, epoch_end_asked, fetched, happen, only
from tests.serve.test_consuming import append, written

LATEST, EARLIEST, TIMESTAMP = -1, -2, 1_700_000_000_000


def leader(served: ServedCluster, topic: str = TOPIC, r: int = 0) -> Any:
    """Return the partition in the metadata of a client, or the error of its topic."""
    fields: dict[str, Any] = {"topics": [{"name": topic}], "allow_auto_topic_creation": False}
    rest: dict[str, Any] = {
        "include_cluster_authorized_operations": False,
        "include_topic_authorized_operations": False,
    }
    (found,) = ask(served, r, ServedApi.METADATA, **fields, **rest).topics
    return found.partitions[0] if found.partitions else ErrorCode(found.error_code)


def end(served: ServedCluster, r: int, epoch: int, current: int = -1) -> tuple[ErrorCode, int, int]:
    told = only(ask(served, r, ServedApi.OFFSET_FOR_LEADER_EPOCH, **epoch_end_asked(epoch, current)))
    return told.error_code, told.leader_epoch, told.end_offset


def offset(served: ServedCluster, timestamp: int) -> int:
    part = {"partition_index": 0, "current_leader_epoch": 0, "timestamp": timestamp}
    topics = [{"name": TOPIC, "partitions": [part]}]
    return int(only(ask(served, 0, ServedApi.LIST_OFFSETS, replica_id=-1, isolation_level=0, topics=topics)).offset)


def test_metadata_name_the_leader_of_the_latest_epoch() -> None:
    served = cluster()
    assert (leader(served).leader_id, leader(served).leader_epoch) == (0, 0)
    served = cluster("elect B", "notify B")
    assert (leader(served).leader_id, leader(served).leader_epoch) == (1, 1)


def test_metadata_name_the_leader_that_the_schedule_shows() -> None:
    served = cluster("elect B", "notify B")
    served.show(ClientRole.PRODUCER, 0)
    assert (leader(served).leader_id, leader(served).leader_epoch) == (0, 0)
    ask(served, 0, ServedApi.FETCH, **fetched(0))  # from now on this client is a consumer
    assert leader(served).leader_id == 1


def test_metadata_name_the_leader_epoch_that_the_schedule_shows() -> None:
    served = cluster()
    served.show(ClientRole.PRODUCER, 0)
    happen(served, "elect B", "notify B", "elect A", "notify A", "notify A")
    assert (leader(served).leader_id, leader(served).leader_epoch) == (0, 0)
    served.show(ClientRole.PRODUCER, 0)
    assert (leader(served).leader_id, leader(served).leader_epoch) == (0, 2)


def test_metadata_name_no_leader_while_no_replica_leads() -> None:
    found = leader(cluster("crash A"), r=1)
    assert (found.leader_id, found.error_code) == (-1, ErrorCode.leader_not_available)
    assert [*found.offline_replicas] == [0]


def test_metadata_have_an_error_for_an_unknown_topic() -> None:
    assert leader(cluster(), "other") is ErrorCode.unknown_topic_or_partition


def test_a_leader_returns_the_end_of_an_epoch() -> None:
    served = written("crash A", "elect B", "notify B")
    append(served, 1, "m1")
    assert end(served, 1, 0, current=1) == (ErrorCode.none, 0, 1)
    assert end(served, 1, 1, current=1) == (ErrorCode.none, 1, 2)


def test_a_leader_knows_no_end_of_a_later_epoch() -> None:
    assert end(written(), 0, 1) == (ErrorCode.none, -1, -1)


def test_a_leader_rejects_a_request_for_an_epoch_end_with_another_leader_epoch() -> None:
    served = written("elect B", "notify B")
    assert end(served, 1, 0, current=0)[0] is ErrorCode.fenced_leader_epoch
    assert end(served, 0, 0, current=1)[0] is ErrorCode.unknown_leader_epoch


def test_a_follower_answers_a_request_for_an_epoch_end_only_if_every_replica_does() -> None:
    assert end(written(), 1, 0) == (ErrorCode.not_leader_or_follower, -1, -1)
    assert end(written(protocol="kip-320:consumer_epoch_end=any_replica"), 1, 0) == (ErrorCode.none, 0, 1)


def test_list_offsets_returns_the_log_start_and_the_high_watermark() -> None:
    served = written(count=2)
    append(served, 0, "m2")
    assert [offset(served, EARLIEST), offset(served, LATEST), offset(served, TIMESTAMP)] == [0, 2, -1]


def test_the_earliest_offset_is_the_log_start_after_records_were_deleted() -> None:
    assert offset(written("trim A", count=2, acks="1", retention=True), EARLIEST) == 1


def test_a_consumer_group_fetches_the_offset_that_it_has_committed() -> None:
    served = cluster()
    part = {"partition_index": 0, "committed_offset": 3, "committed_leader_epoch": 2, "committed_metadata": ""}
    member: dict[str, Any] = {
        "group_id": "g",
        "member_id": "m",
        "group_instance_id": None,
        "generation_id_or_member_epoch": 1,
    }
    ask(served, 0, ServedApi.OFFSET_COMMIT, **member, topics=[{"name": TOPIC, "partitions": [part]}])
    topics = [{"name": TOPIC, "partition_indexes": [0]}]
    found = only(ask(served, 1, ServedApi.OFFSET_FETCH, group_id="g", topics=topics, require_stable=False))
    assert (found.committed_offset, found.committed_leader_epoch) == (3, 2)
    other = only(ask(served, 1, ServedApi.OFFSET_FETCH, group_id="other", topics=topics, require_stable=False))
    assert other.committed_offset == -1
