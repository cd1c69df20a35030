"""An idempotent producer sends records again, and Kafka's own logs decide: append, duplicate or out of sequence."""

from collections.abc import Iterator
from typing import Any

import pytest

from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from tests.conform.kafka.conftest import StartedRelease, started

pytestmark = pytest.mark.slow

RELEASES = {"2.6.1": "kafka-2.6.1", "2.8.1": "kafka-2.8.1", "3.9.2": "kafka-3.9.1", "4.3.1": "kafka-4.1"}
SETTINGS = Configuration(replicas=2, retries=True, producer_epochs=True, records_per_fetch=2)

# B accepts m1 of a producer that it does not know, and therefore rejects m0.
OUT_OF_ORDER = "produce A, elect B, notify B, produce B"


@pytest.fixture(scope="module", params=RELEASES)
def kafka(request: pytest.FixtureRequest) -> Iterator[StartedRelease]:
    with started(request.param, RELEASES[request.param], SETTINGS) as release:
        yield release


def records(observation: dict[str, Any], replica: str) -> list[str]:
    return [record for record, _ in observation["replicas"][replica]["log"]]


def test_a_leader_rejects_a_record_before_the_first_that_it_knows(kafka: StartedRelease) -> None:
    assert records(kafka.seen(OUT_OF_ORDER, refused="retry B"), "B") == ["m1"]


def test_a_producer_sends_its_rejected_record_again_in_a_new_epoch(kafka: StartedRelease) -> None:
    assert records(kafka.seen(f"{OUT_OF_ORDER}, bump B"), "B") == ["m1"]
    assert records(kafka.seen(f"{OUT_OF_ORDER}, bump B, retry B", refused="bump B"), "B") == ["m1", "m0"]


def test_a_leader_recognises_a_record_of_the_new_epoch(kafka: StartedRelease) -> None:
    assert records(kafka.seen(f"{OUT_OF_ORDER}, bump B, retry B, retry B"), "B") == ["m1", "m0"]


def test_a_leader_that_would_accept_the_record_begins_no_epoch_and_appends_nothing(
    kafka: StartedRelease,
) -> None:
    assert records(kafka.seen("produce A", refused="bump A"), "A") == ["m0"]  # a duplicate
    assert records(kafka.seen("produce A, elect B, notify B", refused="bump B"), "B") == []  # an unknown producer


def test_a_question_about_a_duplicate_does_not_raise_the_high_watermark(kafka: StartedRelease) -> None:
    if kafka.release != "2.8.1":
        pytest.skip("the high watermark rises when B has left the ISR")
    assert kafka.seen("produce A, shrink B, alter A, altered A", refused="bump A")["replicas"]["A"]["hw"] == 0


def test_a_producer_has_no_more_than_two_records_in_flight(kafka: StartedRelease) -> None:
    observation = kafka.seen("produce A, produce A", refused="produce A")
    assert sorted(observation["replicas"]["A"]["waiting"]) == ["m0", "m1"]


def test_a_producer_awaits_only_the_answer_of_its_last_request(kafka: StartedRelease) -> None:
    sent = kafka.seen("produce A, elect B, notify B, retry B")
    assert (sent["replicas"]["A"]["waiting"], sent["replicas"]["B"]["waiting"]) == ([], ["m0"])
    assert sent["producers"]["acked"] == []
    answered = kafka.seen("produce A, elect B, notify B, retry B, notify A, fetch A, receive A, fetch A, receive A")
    assert answered["replicas"]["B"]["waiting"] == (["m0"] if answered["replicas"]["B"]["hw"] == 0 else [])


def test_a_leader_answers_a_duplicate_when_its_high_watermark_passes_the_record(
    kafka: StartedRelease,
) -> None:
    assert kafka.seen("produce A, retry A, fetch B, receive B")["producers"]["acked"] == []
    assert kafka.seen("produce A, retry A, fetch B, receive B, fetch B")["producers"]["acked"] == ["m0"]


def test_a_restarted_leader_knows_only_the_last_record_so_the_producer_writes_two_records_twice(
    kafka: StartedRelease,
) -> None:
    acknowledged = "produce A, fetch B, receive B, fetch B, receive B"
    copied = "produce A, produce A, fetch B, receive B, expire A, elect B, crash B"
    registered = "expire B, restart B, register B, notify B, unfence B" if kafka.release > "3.3" else "restart B"
    again = kafka.seen(f"{acknowledged}, {copied}, {registered}, elect B, notify B, bump B, retry B, retry B")
    assert records(again, "B") == ["m0", "m1", "m2", "m1", "m2"]
    assert sorted(again["producers"]["acked"]) == ["m0", "m1", "m2"]
