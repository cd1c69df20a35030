"""Fetches wait in Kafka's own purgatory, and DelayedFetch completes them at the same events as the model."""

from collections.abc import Iterator
from typing import Any

import pytest

from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from tests.conform.kafka.conftest import StartedRelease, started

pytestmark = pytest.mark.slow

RELEASES = ("0.10.2.2", "2.8.1", "3.9.2", "4.4.0")
SETTINGS = Configuration(replicas=3, delayed_fetch=True)

# B has m0, A knows that, and B's fetch waits for more.
WAITS = "produce A, fetch B, receive B, fetch B"
# C has m0 as well, so A's high watermark is 1 while B's fetch waits. B has not learned that.
RAISED = f"{WAITS}, fetch C, receive C, fetch C"
# A leads again, in an epoch that B does not know.
RE_ELECTED = "produce A, fetch B, receive B, fetch C, receive C, fetch B, elect B, elect A, catch_up A, catch_up C"


@pytest.fixture(scope="module", params=RELEASES)
def kafka(request: pytest.FixtureRequest) -> Iterator[StartedRelease]:
    with started(request.param, f"kafka-{request.param}", SETTINGS) as release:
        yield release


def seen(kafka: StartedRelease, schedule: str, refused: str = "") -> dict[str, Any]:
    """Play a schedule on Kafka and in the model, and check that `refused` is not enabled. Returns the replicas."""
    replicas: dict[str, Any] = kafka.seen(schedule, refused)["replicas"]
    return replicas


def offsets(replica: dict[str, Any]) -> tuple[int, int]:
    return replica["leo"], replica["hw"]


def test_a_leader_notes_the_offset_of_a_fetch_that_waits(kafka: StartedRelease) -> None:
    for event in ("fetch B", "receive B", "drop B"):
        assert seen(kafka, WAITS, refused=event)["A"]["own"]["remote_leo"] == {"B": 1}
    seen(kafka, "produce A, fetch B", refused="expire_fetch B")


def test_a_produce_completes_a_waiting_fetch(kafka: StartedRelease) -> None:
    replicas = seen(kafka, f"{WAITS}, produce A, receive B")
    assert offsets(replicas["B"]) == (2, 0)
    assert replicas["A"]["own"]["remote_leo"] == {"B": 1}


def test_an_expired_fetch_brings_the_current_high_watermark(
    kafka: StartedRelease,
) -> None:
    assert offsets(seen(kafka, f"{WAITS}, expire_fetch B, receive B")["B"]) == (1, 0)
    assert offsets(seen(kafka, f"{RAISED}, expire_fetch B, receive B")["B"]) == (1, 1)


def test_a_higher_high_watermark_completes_no_waiting_fetch(kafka: StartedRelease) -> None:
    replicas = seen(kafka, RAISED, refused="receive B")
    assert (offsets(replicas["A"]), offsets(replicas["B"])) == ((1, 1), (1, 0))


@pytest.mark.parametrize(("release", "is_answered"), [("2.5.1", True), ("2.6.1", False)])
def test_a_higher_high_watermark_completes_a_waiting_fetch_in_2_5_and_not_in_2_6(
    release: str, is_answered: bool
) -> None:
    """KAFKA-9952 (2.6.0) removed that. The model has the rule of 2.6."""
    with started(release, f"kafka-{release}", SETTINGS) as kafka:
        kafka.shown(RAISED)
        assert kafka.subject.apply("receive B") is is_answered
        assert kafka.subject.observe()["replicas"]["B"]["hw"] == is_answered


def test_a_leader_that_steps_down_rejects_a_waiting_fetch(kafka: StartedRelease) -> None:
    replicas = seen(kafka, f"{WAITS}, elect C, notify A", refused="expire_fetch B")
    assert (replicas["A"]["leader"], offsets(replicas["B"])) == ("C", (1, 0))


def test_a_waiting_fetch_does_not_survive_the_crash_of_its_leader(kafka: StartedRelease) -> None:
    seen(kafka, f"{WAITS}, crash A", refused="expire_fetch B")


def test_a_higher_high_watermark_rejects_a_waiting_fetch_of_an_earlier_epoch(kafka: StartedRelease) -> None:
    """DelayedFetch.tryComplete compares the leader epoch since KIP-320 (2.1)."""
    raised = f"{RE_ELECTED}, fetch C"
    if kafka.release == "0.10.2.2":
        assert offsets(seen(kafka, f"{raised}, expire_fetch B, receive B")["B"]) == (1, 1)
    else:
        assert offsets(seen(kafka, raised, refused="expire_fetch B")["A"]) == (1, 1)
        seen(kafka, f"{RE_ELECTED}, produce A", refused="receive B")
