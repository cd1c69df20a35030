"""A broker of Kafka loses its log directory. Its next process starts without records, and the ISR does not change."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.rerun import rerun
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.conform.kafka import ladder
from tests.systems.jvm.build import missing

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
    events = schedule.split(", ")
    played = parse_schedule([*events, *([refused] if refused else [])])
    assert rerun(subject, Case("lost", "", SETTINGS, played), parse_protocol(RELEASES[release])).differs is None
    subject.reset(wire.config_of(SETTINGS), RELEASES[release])
    assert [event for event in events if not subject.apply(event)] == []
    assert not refused or not subject.apply(refused)
    return dict(subject.observe())


def test_a_broker_without_its_directory_dies_and_has_no_record_and_stays_in_the_isr(
    kafka: tuple[str, CommandSubject],
) -> None:
    observation = seen(kafka, "produce A, fetch B, receive B, wipe B", refused="wipe B")
    follower = observation["replicas"]["B"]
    assert (follower["up"], follower["leo"], follower["hw"], follower["log"]) == (False, 0, 0, [])
    assert observation["controller"]["isr"] == ["A", "B"]


def test_a_dead_broker_can_lose_its_records(kafka: tuple[str, CommandSubject]) -> None:
    assert seen(kafka, "produce A, fetch B, receive B, crash B, wipe B")["replicas"]["B"]["log"] == []


def test_a_mark_of_a_clean_shutdown_is_lost_with_the_directory(kafka: tuple[str, CommandSubject]) -> None:
    if kafka[0] != "4.3.1":
        pytest.skip("no eligible leader replicas")
    shut_down = "produce A, fetch B, receive B, shutdown B"
    back = "restart B, register B"
    assert seen(kafka, f"{shut_down}, {back}")["controller"]["elr"] == ["B"]
    assert seen(kafka, f"{shut_down}, wipe B, {back}")["controller"]["elr"] == []


def test_the_last_member_loses_an_acknowledged_record_with_its_directory_up_to_4_0(
    kafka: tuple[str, CommandSubject],
) -> None:
    if kafka[0] not in BROKEN:
        pytest.skip("the schedule needs KRaft")
    found = rerun(kafka[1], LAST_MEMBER, parse_protocol(RELEASES[kafka[0]]))
    assert found.differs is None
    assert found.subject.broken == BROKEN[kafka[0]]
