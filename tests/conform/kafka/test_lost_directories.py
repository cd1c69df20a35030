"""A broker of Kafka loses its log directory. Its next process starts without records, and the ISR does not change."""

from collections.abc import Iterator

import pytest

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform.run.rerun import rerun
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.kafka import ladder
from tests.conform.kafka.conftest import StartedRelease, started

pytestmark = pytest.mark.slow

RELEASES = {
    "0.10.2.2": "kafka-0.10.2",
    "2.3.1": "kafka-2.3",
    "2.8.1": "kafka-2.8.1",
    "3.9.2": "kafka-3.9.1",
    "4.3.1": "kafka-4.1",
}
SETTINGS = Configuration(replicas=2, min_insync_replicas=2, lost_directory=True)
BROKEN = {"3.9.2": ["no-committed-loss", "no-acked-loss"], "4.3.1": []}
LAST_MEMBER = next(case for case in load_corpus(ladder.CORPUS) if case.id == "lost-directory-of-the-last-member")


@pytest.fixture(scope="module", params=RELEASES)
def kafka(request: pytest.FixtureRequest) -> Iterator[StartedRelease]:
    with started(request.param, RELEASES[request.param], SETTINGS) as release:
        yield release


def test_a_broker_without_its_directory_dies_and_has_no_record_and_stays_in_the_isr(
    kafka: StartedRelease,
) -> None:
    observation = kafka.seen("produce A, fetch B, receive B, wipe B", refused="wipe B")
    follower = observation["replicas"]["B"]
    assert (follower["up"], follower["leo"], follower["hw"], follower["log"]) == (False, 0, 0, [])
    assert observation["controller"]["isr"] == ["A", "B"]


def test_a_dead_broker_can_lose_its_records(kafka: StartedRelease) -> None:
    assert kafka.seen("produce A, fetch B, receive B, crash B, wipe B")["replicas"]["B"]["log"] == []


def test_a_mark_of_a_clean_shutdown_is_lost_with_the_directory(kafka: StartedRelease) -> None:
    if kafka.release != "4.3.1":
        pytest.skip("no eligible leader replicas")
    shut_down = "produce A, fetch B, receive B, shutdown B"
    back = "restart B, register B"
    assert kafka.seen(f"{shut_down}, {back}")["controller"]["elr"] == ["B"]
    assert kafka.seen(f"{shut_down}, wipe B, {back}")["controller"]["elr"] == []


def test_the_last_member_loses_an_acknowledged_record_with_its_directory_up_to_4_0(
    kafka: StartedRelease,
) -> None:
    if kafka.release not in BROKEN:
        pytest.skip("the schedule needs KRaft")
    found = rerun(kafka.subject, LAST_MEMBER, parse_protocol(RELEASES[kafka.release]))
    assert found.differs is None
    assert found.subject.broken == BROKEN[kafka.release]
