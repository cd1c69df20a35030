"""The table of wordings: audit finds and reads a line in each wording, of every release."""

import re
import time

import pytest

from epochfuzz.harness.audit.lines import matching, wordings
from epochfuzz.harness.audit.lines.events import MessageKind
from epochfuzz.harness.audit.lines.line import seen_in
from epochfuzz.harness.audit.lines.matching import broker_of, messages_in
from epochfuzz.harness.audit.lines.reading import needled

LONGEST = 1 << 16
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
def test_a_line_is_read_as_the_kind_of_its_wording(wording):
    (message,), failed = messages_in(BEFORE + line(wording))

    assert (message.kind, failed) == (wording.kind, 0)
    if wording.kind not in (MessageKind.RELEASE, MessageKind.CLUSTER):
        assert (message.said["topic"], message.said["partition"]) == ("my.topic_x-1", 12)


def test_audit_stops_reading_a_line_after_too_many_needles_without_a_message():
    needle = next(needle for needle in wordings.NEEDLES if needle not in matching._FACTS)
    assert messages_in(f"{needle} " * (matching._FAILURES - 1)) == ([], matching._FAILURES - 1)
    assert messages_in(f"{needle} " * (matching._FAILURES + 5)) == ([], matching._FAILURES + 1)


@pytest.mark.parametrize("wording", wordings.WORDINGS, ids=lambda wording: f"{wording.kind}-{wording.since}")
def test_the_search_in_bytes_finds_a_line_of_each_wording_by_its_needle(wording):
    text = f"before\n{BEFORE}{line(wording)}\nbehind\n\n"
    lines, count = needled(text.encode())

    assert [(number, text[start:end]) for number, start, end, _ in lines] == [(2, BEFORE + line(wording))]
    assert any(needle in wording.template for needle in lines[0][3])
    assert count == 4


@pytest.mark.parametrize("wording", wordings.WORDINGS, ids=lambda wording: f"{wording.kind}-{wording.since}")
def test_a_wording_names_its_releases_in_order_and_a_kafka_source_file(wording):
    releases = [wording.since, *([wording.until] if wording.until else [])]

    assert all(re.fullmatch(r"\d+(\.\d+){2,3}", release) for release in releases)
    assert wording.source.endswith((".scala", ".java"))
    numbers = [[int(number) for number in release.split(".")] for release in releases]
    assert numbers == sorted(numbers)


def nearly(wording):
    """Yield lines of 64 KB that almost match a wording: truncated, repeated, and with the longest values."""
    whole = BEFORE + line(wording)
    long = dict.fromkeys(("offset", "leader_epoch", "high_watermark"), "9" * 400) | {"any": "x, y: " * 300}
    values = VALUES | {"partition": "a-" * 120 + "12", "isr": "1, " * 150 + "1"} | long
    stretched = re.sub(r"\{(\w+)\}", lambda name: values.get(name[1], "7"), wording.template)
    needle = next(needle for needle in wordings.NEEDLES if needle in wording.template)
    for text in (whole[:-2], stretched[:-1] + "\x00", whole.replace(" ", "  "), needle, f"[{needle}", stretched[:600]):
        for filled in (text, text + " ", f"{text}{{"):
            yield (filled * (LONGEST // len(filled) + 1))[:LONGEST]
    yield ("[" * LONGEST + whole[:-2])[-LONGEST:]
    yield ("a-1." * LONGEST + whole[:-2])[-LONGEST:]
    yield (whole[:-2] + "1, " * LONGEST)[:LONGEST]


@pytest.mark.thorough
@pytest.mark.parametrize("wording", wordings.WORDINGS, ids=lambda wording: f"{wording.kind}-{wording.since}")
def test_a_line_of_64_kb_that_almost_matches_a_wording_takes_at_most_10_ms(wording):
    for text in nearly(wording):
        assert len(text) == LONGEST
        took = min(_seconds(text) for _ in range(5))
        assert took < 0.010, (round(took, 4), text[:300])


def _seconds(text):
    needles = [needle for needle in wordings.NEEDLES if needle in text]
    began = time.thread_time()
    seen_in(text, needles, lambda: "")
    return time.thread_time() - began


@pytest.mark.parametrize("release", REAL)
def test_audit_reads_a_line_about_the_leader_from_every_release(release):
    (message,), _ = messages_in(REAL[release])
    kind, said = message.kind, message.said

    assert kind in (MessageKind.LEADER, MessageKind.TOLD, MessageKind.STATE)
    assert (said["topic"], said["partition"], said["leader_epoch"]) == ("t", 0, 4)
    if kind == MessageKind.LEADER:
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
def test_the_prefix_of_a_message_names_its_broker(message, broker):
    assert broker_of(message) == broker
