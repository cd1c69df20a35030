"""An idempotent producer sends records again, and Kafka's own logs decide: append, duplicate or out of sequence."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.rerun import rerun
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.kafka import ladder
from tests.systems.jvm.build import missing

pytestmark = pytest.mark.slow

RELEASES = {"2.6.1": "kafka-2.6.1", "2.8.1": "kafka-2.8.1", "3.9.2": "kafka-3.9.1", "4.3.1": "kafka-4.1"}
SETTINGS = Configuration(replicas=2, retries=True, producer_epochs=True, records_per_fetch=2)

# B accepts m1 of a producer that it does not know, and therefore rejects m0.
OUT_OF_ORDER = "produce A, elect B, notify B, produce B"


@pytest.fixture(scope="module", params=RELEASES)
def kafka(request: pytest.FixtureRequest) -> Iterator[tuple[str, CommandSubject]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(Path(__file__).parents[3])
        for lack in missing():
            pytest.skip(lack)
        with CommandSubject([sys.executable, "-m", "tests.conform.kafka", request.param], ladder.PATIENCE) as subject:
            yield request.param, subject


def seen(kafka: tuple[str, CommandSubject], schedule: str, refused: str = "") -> dict[str, Any]:
    """Play a schedule on Kafka and the model, and check that `refused` is not enabled. Returns what Kafka shows."""
    release, subject = kafka
    played = parse_schedule([*schedule.split(", "), *([refused] if refused else [])])
    assert rerun(subject, Case("again", "", SETTINGS, played), parse_protocol(RELEASES[release])).differs is None
    return shown(kafka, schedule, refused)


def shown(kafka: tuple[str, CommandSubject], schedule: str, refused: str = "") -> dict[str, Any]:
    """Play a schedule on Kafka alone."""
    release, subject = kafka
    subject.reset(wire.config_of(SETTINGS), RELEASES[release])
    assert [event for event in schedule.split(", ") if not subject.apply(event)] == []
    assert not refused or not subject.apply(refused)
    return dict(subject.observe())


def records(observation: dict[str, Any], replica: str) -> list[str]:
    return [record for record, _ in observation["replicas"][replica]["log"]]


def test_a_leader_rejects_a_record_before_the_first_that_it_knows(kafka: tuple[str, CommandSubject]) -> None:
    assert records(seen(kafka, OUT_OF_ORDER, refused="retry B"), "B") == ["m1"]


def test_a_producer_sends_its_rejected_record_again_in_a_new_epoch(kafka: tuple[str, CommandSubject]) -> None:
    assert records(seen(kafka, f"{OUT_OF_ORDER}, bump B"), "B") == ["m1"]
    assert records(seen(kafka, f"{OUT_OF_ORDER}, bump B, retry B", refused="bump B"), "B") == ["m1", "m0"]


def test_a_leader_recognises_a_record_of_the_new_epoch(kafka: tuple[str, CommandSubject]) -> None:
    assert records(seen(kafka, f"{OUT_OF_ORDER}, bump B, retry B, retry B"), "B") == ["m1", "m0"]


def test_a_leader_that_would_accept_the_record_begins_no_epoch_and_appends_nothing(
    kafka: tuple[str, CommandSubject],
) -> None:
    assert records(seen(kafka, "produce A", refused="bump A"), "A") == ["m0"]  # a duplicate
    assert records(seen(kafka, "produce A, elect B, notify B", refused="bump B"), "B") == []  # an unknown producer


def test_a_question_about_a_duplicate_does_not_raise_the_high_watermark(kafka: tuple[str, CommandSubject]) -> None:
    if kafka[0] != "2.8.1":
        pytest.skip("the high watermark rises when B has left the ISR")
    assert seen(kafka, "produce A, shrink B, alter A, altered A", refused="bump A")["replicas"]["A"]["hw"] == 0


def test_a_producer_has_no_more_than_two_records_in_flight(kafka: tuple[str, CommandSubject]) -> None:
    observation = seen(kafka, "produce A, produce A", refused="produce A")
    assert sorted(observation["replicas"]["A"]["waiting"]) == ["m0", "m1"]


def test_a_producer_awaits_only_the_answer_of_its_last_request(kafka: tuple[str, CommandSubject]) -> None:
    sent = seen(kafka, "produce A, elect B, notify B, retry B")
    assert (sent["replicas"]["A"]["waiting"], sent["replicas"]["B"]["waiting"]) == ([], ["m0"])
    assert sent["producers"]["acked"] == []
    answered = seen(kafka, "produce A, elect B, notify B, retry B, notify A, fetch A, receive A, fetch A, receive A")
    assert answered["replicas"]["B"]["waiting"] == (["m0"] if answered["replicas"]["B"]["hw"] == 0 else [])


def test_a_leader_answers_a_duplicate_when_its_high_watermark_passes_the_record(
    kafka: tuple[str, CommandSubject],
) -> None:
    assert seen(kafka, "produce A, retry A, fetch B, receive B")["producers"]["acked"] == []
    assert seen(kafka, "produce A, retry A, fetch B, receive B, fetch B")["producers"]["acked"] == ["m0"]


def test_a_restarted_leader_knows_only_the_last_record_so_the_producer_writes_two_records_twice(
    kafka: tuple[str, CommandSubject],
) -> None:
    """The model recognises all records: differences.yaml has the reason."""
    acknowledged = "produce A, fetch B, receive B, fetch B, receive B"
    copied = "produce A, produce A, fetch B, receive B, expire A, elect B, crash B"
    registered = "expire B, restart B, register B, notify B, unfence B" if kafka[0] > "3.3" else "restart B"
    again = shown(kafka, f"{acknowledged}, {copied}, {registered}, elect B, notify B, bump B, retry B, retry B")
    assert records(again, "B") == ["m0", "m1", "m2", "m1", "m2"]
    assert sorted(again["producers"]["acked"]) == ["m0", "m1", "m2"]
