"""Messages are read and written by Kafka's own definitions, which are in its jars."""

import uuid
from pathlib import Path

import pytest

from epochfuzz.harness.cluster.errors import ClusterError
from epochfuzz.harness.cluster.gates.schema import Messages, versions
from tests.cluster.gates.messages import TOPIC, definitions, jar

ASKED = {
    "SessionId": 5,
    "Topics": [{"TopicId": TOPIC, "Partitions": [{"Partition": 0, "CurrentLeaderEpoch": 3, "FetchOffset": 9}]}],
}
# session, one topic (1 + 1), its id, one partition, its number, epoch and offset, no tags twice, nothing forgotten, an
# empty rack, and one tag: number 1, of five bytes, the replica 2 and no tags.
FLEXIBLE = bytes.fromhex(
    "00000005 02 00000000000000000000000000000007 02 00000000 00000003 0000000000000009 00 00 01 0101 01 05 00000002 00"
)


def test_kafka_version_ranges_are_parsed() -> None:
    assert [3 in versions(text) for text in ("3+", "0-2", "3", "0-3", "none", None)] == [
        True,
        False,
        True,
        True,
        False,
        False,
    ]


def test_a_flexible_message_has_compact_lengths_and_tagged_fields(tmp_path: Path) -> None:
    fetch = definitions(tmp_path).requests[1]
    values = ASKED | {"ReplicaState": {"ReplicaId": 2}}
    assert fetch.encode(values, 18) == FLEXIBLE
    read = fetch.decode(FLEXIBLE, 18)
    assert (read["SessionId"], read["Topics"], read["ReplicaState"]) == (5, ASKED["Topics"], {"ReplicaId": 2})


def test_an_older_version_of_a_message_has_other_fields_and_lengths(tmp_path: Path) -> None:
    fetch = definitions(tmp_path).requests[1]
    partition = {"Partition": 0, "CurrentLeaderEpoch": 3, "FetchOffset": 9}
    old = fetch.encode({"Topics": [{"Topic": "t", "Partitions": [partition]}]}, 11)
    assert old == bytes.fromhex("00000000 00000001 0001 74 00000001 00000000 00000003 0000000000000009 00000000 0000")
    assert fetch.decode(old, 11)["Topics"][0]["Topic"] == "t"
    assert "CurrentLeaderEpoch" not in fetch.decode(fetch.encode({"Topics": []}, 4), 4)


def test_decoding_skips_an_unknown_tag(tmp_path: Path) -> None:
    heartbeat = definitions(tmp_path).requests[63]
    assert heartbeat.decode(bytes.fromhex("0000000000000004 01 09 02 ffff"), 1) == {"CurrentMetadataOffset": 4}


def test_decoding_fills_missing_fields_with_their_defaults(tmp_path: Path) -> None:
    change = definitions(tmp_path).records[5]
    read = change.decode(change.encode({"PartitionId": 0, "TopicId": TOPIC}, 0), 0)
    assert read == {"PartitionId": 0, "TopicId": TOPIC, "Isr": None, "Leader": -2, "Replicas": None}
    registered = definitions(tmp_path).records[27]
    assert registered.decode(registered.encode({"BrokerId": 1, "BrokerEpoch": 2}, 0), 0)["Fenced"] is True


def test_decoding_a_truncated_message_raises_an_error(tmp_path: Path) -> None:
    fetch = definitions(tmp_path).requests[1]
    for length in range(len(FLEXIBLE)):
        with pytest.raises(ValueError, match="this is not a FetchRequest of version 18"):
            fetch.decode(FLEXIBLE[:length], 18)


def test_message_definitions_are_found_in_a_jar_and_in_a_directory_of_the_class_path(tmp_path: Path) -> None:
    (directory,) = jar(tmp_path)
    file = str(tmp_path / "kafka-clients-4.3.1.jar")
    assert set(Messages.of((directory,)).records) == set(Messages.of((file, "other.jar")).records) == {
        2, 3, 5, 9, 17, 27,
    }  # fmt: skip


def test_a_class_path_without_message_definitions_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"lack kafka-clients, which defines its messages"):
        Messages.of((str(tmp_path / "*"),))


def test_decoding_returns_the_topic_id_as_a_uuid(tmp_path: Path) -> None:
    fetch = definitions(tmp_path).requests[1]
    assert fetch.decode(FLEXIBLE, 18)["Topics"][0]["TopicId"] == uuid.UUID(int=7)
