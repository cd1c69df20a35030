"""The table of wordings: every line in it is found and read, by whichever release wrote it."""

import re

import pytest

from epochfuzz.harness.audit.lines import wordings
from epochfuzz.harness.audit.lines.events import Kind
from epochfuzz.harness.audit.lines.matching import broker_of, messages_in

BEFORE = "[Partition my.topic_x-1-12 broker=1] "
VALUES = {
    "partition": "my.topic_x-1-12",
    "topic": "my.topic_x-1",
    "number": "12",
    "topic_id": "Some(abcdefghijklmnopqrstuv)",
    "isr": "[3,1, 2]",
    "any": "whatever",
    "value": "3.9.2",
    "leader": "3",
    "previous_leader": "None",
}
REAL = {
    "0.10.2": "Broker 2 received LeaderAndIsr request PartitionState(controllerEpoch=1, leader=1, leaderEpoch=4,"
    " isr=[1, 2], zkVersion=7, replicas=[1, 2]) correlation id 5 from controller 1 epoch 1 for partition [t,0]",
    "0.11.0": "Partition [t,0] on broker 1: t-0 starts at Leader Epoch 4 from offset 12. Previous Leader Epoch was: 3",
    "1.0.2": '[Controller id=1] New leader and ISR for partition t-0 is {"leader":1,"leader_epoch":4,"isr":[1,2]}',
    "2.0.1": "[Partition t-0 broker=1] t-0 starts at Leader Epoch 4 from offset 12. Previous Leader Epoch was: 3",
    "2.5.1": "[Partition t-0 broker=1] t-0 starts at leader epoch 4 from offset 12 with high watermark 9. Previous"
    " leader epoch was 3.",
    "2.8.1": "[Broker id=1] Leader t-0 starts at leader epoch 4 from offset 12 with high watermark 9 ISR [1,2]"
    " addingReplicas [] removingReplicas []. Previous leader epoch was 3.",
    "3.4.1": "[Broker id=1] Leader t-0 with topic id Some(abcdefghijklmnopqrstuv) starts at leader epoch 4 from offset"
    " 12 with partition epoch 6, high watermark 9, ISR [1,2], adding replicas [] and removing replicas []. Previous"
    " leader epoch was 3.",
    "4.3.1": "[Broker id=1] Leader t-0 with topic id Some(abcdefghijklmnopqrstuv) starts at leader epoch 4 from offset"
    " 12 with partition epoch 6, high watermark 9, ISR [1,2], adding replicas [] and removing replicas [] . Previous"
    " leader Some(1) and previous leader epoch was 3.",
}


def line(wording):
    return re.sub(r"\{(\w+)\}", lambda name: VALUES.get(name[1], "7"), wording.template)


@pytest.mark.parametrize("wording", wordings.WORDINGS, ids=lambda wording: f"{wording.kind}-{wording.since}")
def test_a_line_in_a_wording_is_found_by_its_needle_and_read_as_that(wording):
    (message,), failed = messages_in(BEFORE + line(wording))

    assert (message.kind, failed) == (wording.kind, 0)
    if wording.kind not in (Kind.RELEASE, Kind.CLUSTER):
        assert (message.said["topic"], message.said["partition"]) == ("my.topic_x-1", 12)


@pytest.mark.parametrize("wording", wordings.WORDINGS, ids=lambda wording: f"{wording.kind}-{wording.since}")
def test_a_wording_names_releases_and_a_source_of_kafkas(wording):
    releases = [wording.since, *([wording.until] if wording.until else [])]

    assert all(re.fullmatch(r"\d+(\.\d+){2,3}", release) for release in releases)
    assert wording.source.endswith((".scala", ".java"))
    numbers = [[int(number) for number in release.split(".")] for release in releases]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("release", REAL)
def test_who_leads_is_read_of_every_release(release):
    (message,), _ = messages_in(REAL[release])
    kind, said = message.kind, message.said

    assert kind in (Kind.LEADER, Kind.TOLD, Kind.STATE)
    assert (said["topic"], said["partition"], said["leader_epoch"]) == ("t", 0, 4)
    if kind == Kind.LEADER:
        assert said["offset"] == 12
    else:
        assert (said["leader"], said["isr"]) == (1, (1, 2))


@pytest.mark.parametrize(
    ("message", "broker"),
    [
        ("[Broker id=3] Leader t-0 ...", 3),
        ("[Partition t-0 broker=4] Shrinking ISR", 4),
        ("[ReplicaFetcher replicaId=5, leaderId=6, fetcherId=0] Truncating", 5),
        ("Partition [t,0] on broker 7: Shrinking ISR", 7),
        ("[ReplicaFetcherThread-0-2], Truncating", None),
        ("[UnifiedLog partition=t-0, dir=/broker=3] Truncating", None),
    ],
)
def test_a_broker_is_named_by_the_prefix_of_its_messages(message, broker):
    assert broker_of(message) == broker
