"""Fetches wait in Kafka's own purgatory, and DelayedFetch completes them at the same events as the model."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
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

RELEASES = ("0.10.2.2", "2.8.1", "3.9.2", "4.4.0")
SETTINGS = Configuration(replicas=3, delayed_fetch=True)

# B has m0, A knows that, and B's fetch waits for more.
WAITS = "produce A, fetch B, receive B, fetch B"
# C has m0 as well, so A's high watermark is 1 while B's fetch waits. B has not learned that.
RAISED = f"{WAITS}, fetch C, receive C, fetch C"
# A leads again, in an epoch that B does not know.
RE_ELECTED = "produce A, fetch B, receive B, fetch C, receive C, fetch B, elect B, elect A, catch_up A, catch_up C"


@contextmanager
def started(release: str) -> Iterator[tuple[str, CommandSubject]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(Path(__file__).parents[3])
        for lack in missing():
            pytest.skip(lack)
        with CommandSubject([sys.executable, "-m", "tests.conform.kafka", release], ladder.PATIENCE) as subject:
            yield release, subject


@pytest.fixture(scope="module", params=RELEASES)
def kafka(request: pytest.FixtureRequest) -> Iterator[tuple[str, CommandSubject]]:
    with started(request.param) as release:
        yield release


def seen(kafka: tuple[str, CommandSubject], schedule: str, refused: str = "") -> dict[str, Any]:
    """Play a schedule on Kafka and on the model, and check that `refused` is not enabled then. Returns the replicas."""
    release, subject = kafka
    events = schedule.split(", ")
    played = parse_schedule([*events, refused] if refused else events)
    assert rerun(subject, Case("waits", "", SETTINGS, played), parse_protocol(f"kafka-{release}")).differs is None
    subject.reset(wire.config_of(SETTINGS), f"kafka-{release}")
    assert [event for event in events if not subject.apply(event)] == []
    assert not refused or not subject.apply(refused)
    shown: dict[str, Any] = dict(subject.observe())
    replicas: dict[str, Any] = shown["replicas"]
    return replicas


def offsets(replica: dict[str, Any]) -> tuple[int, int]:
    return replica["leo"], replica["hw"]


def test_a_leader_notes_the_offset_of_a_fetch_that_waits(kafka: tuple[str, CommandSubject]) -> None:
    for event in ("fetch B", "receive B", "drop B"):
        assert seen(kafka, WAITS, refused=event)["A"]["own"]["remote_leo"] == {"B": 1}
    seen(kafka, "produce A, fetch B", refused="expire_fetch B")


def test_a_produce_completes_a_waiting_fetch(kafka: tuple[str, CommandSubject]) -> None:
    replicas = seen(kafka, f"{WAITS}, produce A, receive B")
    assert offsets(replicas["B"]) == (2, 0)
    assert replicas["A"]["own"]["remote_leo"] == {"B": 1}


def test_an_expired_fetch_brings_the_current_high_watermark(
    kafka: tuple[str, CommandSubject],
) -> None:
    assert offsets(seen(kafka, f"{WAITS}, expire_fetch B, receive B")["B"]) == (1, 0)
    assert offsets(seen(kafka, f"{RAISED}, expire_fetch B, receive B")["B"]) == (1, 1)


def test_a_higher_high_watermark_completes_no_waiting_fetch(kafka: tuple[str, CommandSubject]) -> None:
    replicas = seen(kafka, RAISED, refused="receive B")
    assert (offsets(replicas["A"]), offsets(replicas["B"])) == ((1, 1), (1, 0))


@pytest.mark.parametrize(("release", "is_answered"), [("2.5.1", True), ("2.6.1", False)])
def test_a_higher_high_watermark_completes_a_waiting_fetch_in_2_5_and_not_in_2_6(
    release: str, is_answered: bool
) -> None:
    """KAFKA-9952 (2.6.0) removed that. The model has the rule of 2.6."""
    with started(release) as (_, subject):
        subject.reset(wire.config_of(SETTINGS), f"kafka-{release}")
        assert all(map(subject.apply, RAISED.split(", ")))
        assert subject.apply("receive B") is is_answered
        assert subject.observe()["replicas"]["B"]["hw"] == is_answered


def test_a_leader_that_steps_down_rejects_a_waiting_fetch(kafka: tuple[str, CommandSubject]) -> None:
    replicas = seen(kafka, f"{WAITS}, elect C, notify A", refused="expire_fetch B")
    assert (replicas["A"]["leader"], offsets(replicas["B"])) == ("C", (1, 0))


def test_a_waiting_fetch_does_not_survive_the_crash_of_its_leader(kafka: tuple[str, CommandSubject]) -> None:
    seen(kafka, f"{WAITS}, crash A", refused="expire_fetch B")


def test_a_higher_high_watermark_rejects_a_waiting_fetch_of_an_earlier_epoch(kafka: tuple[str, CommandSubject]) -> None:
    """DelayedFetch.tryComplete compares the leader epoch since KIP-320 (2.1)."""
    raised = f"{RE_ELECTED}, fetch C"
    if kafka[0] == "0.10.2.2":
        assert offsets(seen(kafka, f"{raised}, expire_fetch B, receive B")["B"]) == (1, 1)
    else:
        assert offsets(seen(kafka, raised, refused="expire_fetch B")["A"]) == (1, 1)
        seen(kafka, f"{RE_ELECTED}, produce A", refused="receive B")
