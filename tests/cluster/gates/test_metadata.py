"""The metadata updates of a controller, read from its metadata log while the controller writes it."""

from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cluster.gates.metadata import DIRECTORY, ControllerLog
from tests.cluster.gates.messages import TOPIC, batch, definitions, record

T, P, CHANGE, REGISTERS, REGISTRATION, REMOVE = 2, 3, 5, 27, 17, 9


class Written:
    """A metadata log, to which tests append records."""

    def __init__(self, directory: Path) -> None:
        self.records = definitions(directory).records
        self.log = ControllerLog(directory=directory, definitions=self.records, watched="t")
        self.file = directory / DIRECTORY / "00000000000000000000.log"
        self.file.parent.mkdir()
        self.file.touch()
        self.end = 0

    def append(self, *values: tuple[int, dict[str, Any]], control: bool = False) -> None:
        data = batch(self.end, *(record(self.records, key, **fields) for key, fields in values), control=control)
        self.file.write_bytes(self.file.read_bytes() + data)
        self.end += len(values)


@pytest.fixture
def written(tmp_path: Path) -> Written:
    made = Written(tmp_path)
    made.append((T, {"Name": "?", "TopicId": TOPIC}), control=True)
    made.append(*((REGISTERS, {"BrokerId": number, "BrokerEpoch": number}) for number in (1, 2)))
    made.append((REGISTRATION, {"BrokerId": 1, "Fenced": -1}), (REGISTRATION, {"BrokerId": 2, "Fenced": -1}))
    partition = {"PartitionId": 0, "TopicId": TOPIC, "Replicas": [1, 2], "Isr": [1, 2], "Leader": 1, "LeaderEpoch": 0}
    made.append((T, {"Name": "t", "TopicId": TOPIC}), (P, partition))
    return made


def test_the_metadata_log_has_the_leader_and_the_isr_of_a_topic(written: Written) -> None:
    partition = written.log.look().partition("t")
    assert partition is not None
    assert (partition.leader, partition.epoch, partition.isr, partition.replicas) == (1, 0, (1, 2), (1, 2))
    assert written.log.fenced == {1: False, 2: False}
    assert written.log.end == written.end == 7
    assert written.log.partition("other") is None


def test_a_metadata_record_with_a_leader_opens_an_epoch_and_an_isr_change_does_not(written: Written) -> None:
    written.append((CHANGE, {"PartitionId": 0, "TopicId": TOPIC, "Isr": [1]}))
    written.append((CHANGE, {"PartitionId": 0, "TopicId": TOPIC, "Leader": 2, "Isr": [2]}))
    written.append((CHANGE, {"PartitionId": 0, "TopicId": TOPIC, "Leader": 2}))
    partition = written.log.look().partition("t")
    assert partition is not None
    assert (partition.leader, partition.epoch, partition.isr) == (2, 2, (2,))
    assert [each.opens_epoch for each in written.log.decisions[-3:]] == [False, True, True]
    assert [each.offset for each in written.log.decisions[-3:]] == [7, 8, 9]


def test_a_change_of_a_broker_registration_is_a_separate_metadata_update(written: Written) -> None:
    written.append((REGISTRATION, {"BrokerId": 2, "Fenced": 1}))
    written.append((REGISTRATION, {"BrokerId": 1, "InControlledShutdown": 1}))
    fenced, shuts_down = written.log.look().decisions[-2:]
    assert fenced.is_of(2)
    assert not fenced.unfences(2)
    assert shuts_down.what == "broker 1 is shutting down"
    assert written.log.fenced[2] is True


def test_changes_of_other_topics_and_control_records_are_not_metadata_updates(written: Written) -> None:
    before = len(written.log.look().decisions)
    written.log.watched = "other"
    written.append((CHANGE, {"PartitionId": 0, "TopicId": TOPIC, "Leader": 2}))
    written.append((CHANGE, {"PartitionId": 0, "TopicId": TOPIC, "Leader": 1}), control=True)
    assert len(written.log.look().decisions) == before
    partition = written.log.partition("t")
    assert partition is not None
    assert partition.leader == 2


def test_a_removed_topic_has_no_partition(written: Written) -> None:
    written.append((REMOVE, {"TopicId": TOPIC}))
    assert written.log.look().partition("t") is None


def test_the_metadata_log_skips_a_batch_until_the_batch_is_complete(written: Written) -> None:
    whole = written.file.read_bytes()
    for length in range(len(whole)):
        written.file.write_bytes(whole[:length])
        written.log.look()
    assert written.log.partition("t") is None
    written.file.write_bytes(whole)
    assert written.log.look().partition("t") is not None
    assert len(written.log.decisions) == 2
