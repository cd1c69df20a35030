"""Delayed fetches: a fetch without records waits at its leader until a record arrives or the wait expires."""

from typing import Any

import pytest

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_event, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import NAMED, parse_protocol
from epochfuzz.model.kafka.vocabulary.refusals import Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, Partition
from tests.views.narrating import last_sentence

A, B, C = range(3)

# B has m0, A knows this, and B's fetch waits for the next record.
WAITS = "produce A, fetch B, receive B, fetch B"


def after(protocol: str, schedule: str, **settings: Any) -> Execution:
    """Return the model with delayed_fetch after a schedule of which every event is enabled."""
    execution = Execution(parse_protocol(protocol), Configuration(delayed_fetch=True, **settings))
    for event in filter(None, schedule.split(", ")):
        assert execution.apply(parse_event(event)), event
    return execution


def state(protocol: str, schedule: str, **settings: Any) -> Partition:
    return after(protocol, schedule, **settings).state


def refusal(event: str, schedule: str, protocol: str = "kip-320") -> int:
    return step(state(protocol, schedule), parse_event(event))


def in_flight(p: Partition) -> tuple[int, int, int]:
    return p.flight[B], p.flight_count[B], p.flight_offset[B]


def test_without_delayed_fetch_the_leader_responds_at_once_to_a_fetch_without_records() -> None:
    assert "expire_fetch" not in {verb_of(event).text for event in Configuration().alphabet()}
    plain = Execution(parse_protocol("kip-320"), Configuration())
    assert all(plain.apply(parse_event(event)) for event in WAITS.split(", "))
    assert in_flight(plain.state) == (Flight.RECORDS, 0, 1)
    assert step(plain.state, parse_event("expire_fetch B")) == Refusal.DELAYED_FETCH_OFF


@pytest.mark.parametrize("protocol", NAMED)
def test_a_leader_notes_the_offset_of_a_fetch_that_waits(protocol: str) -> None:
    p = state(protocol, WAITS)
    assert (p.flight[B], p.remote_leos[A, B], p.high_watermark[A]) == (Flight.WAITING, 1, 1)


def test_fetch_receive_and_drop_are_not_enabled_while_a_fetch_waits() -> None:
    assert {refusal(f"{verb} B", WAITS) for verb in ("fetch", "receive", "drop")} == {Refusal.FETCH_WAITS}
    assert refusal("expire_fetch B", "produce A, fetch B") == Refusal.NO_FETCH_WAITS


def test_a_produce_completes_a_waiting_fetch_without_advancing_the_followers_noted_offset() -> None:
    p = state("kip-320", f"{WAITS}, produce A")
    assert in_flight(p) == (Flight.RECORDS, 1, 1)
    assert (p.remote_leos[A, B], p.high_watermark[A]) == (1, 1)


@pytest.mark.parametrize(("release", "high_watermark"), [("kafka-2.1", 1), ("kafka-2.2", 2)])
def test_up_to_2_1_a_waiting_fetch_completes_before_the_produce_raises_the_high_watermark(
    release: str, high_watermark: int
) -> None:
    alone = "produce A, shrink B, fetch B, receive B, fetch B, produce A"
    assert in_flight(state(release, alone)) == (Flight.RECORDS, 1, high_watermark)


def test_an_expired_fetch_brings_the_high_watermark_at_its_expiry() -> None:
    waits = "produce A, fetch B, receive B, fetch B, fetch C, receive C, fetch C"
    assert in_flight(state("kip-320", f"{waits}, expire_fetch B", replicas=3)) == (Flight.RECORDS, 0, 1)
    early = "produce A, fetch B, receive B, fetch B, expire_fetch B"
    assert in_flight(state("kip-320", early, replicas=3)) == (Flight.RECORDS, 0, 0)


def test_a_higher_high_watermark_alone_completes_no_fetch_of_a_follower() -> None:
    """C's fetch raises the high watermark. In 2.4 and 2.5, this completed B's fetch (fixed by KAFKA-9952)."""
    raised = f"{WAITS}, fetch C, receive C, fetch C"
    p = state("kip-320", raised, replicas=3)
    assert (p.high_watermark[A], p.flight[B]) == (1, Flight.WAITING)


@pytest.mark.parametrize("ends", ["elect B, notify A", "crash A"])
def test_waiting_fetches_end_without_records_when_their_leader_steps_down_or_crashes(ends: str) -> None:
    assert in_flight(state("kip-320", f"{WAITS}, {ends}")) == (Flight.NOTHING, 0, 0)


def test_fencing_rejects_a_waiting_fetch_of_an_earlier_epoch_when_the_fetch_completes() -> None:
    again = f"{WAITS}, elect C, elect A, catch_up A"
    assert state("kip-320", again, replicas=3).flight[B] == Flight.WAITING
    for end in ("produce A", "expire_fetch B"):
        assert state("kip-320", f"{again}, {end}", replicas=3).flight[B] == Flight.NOTHING
        assert state("kip-279", f"{again}, {end}", replicas=3).flight[B] == Flight.RECORDS


def test_a_higher_high_watermark_rejects_a_fetch_of_an_earlier_epoch() -> None:
    again = "produce A, fetch B, receive B, fetch C, receive C, fetch B, elect B, elect A, catch_up A, catch_up C"
    for protocol, flight in (("kafka-0.10.2", Flight.WAITING), ("kafka-2.8.1", Flight.NOTHING)):
        raised = state(protocol, f"{again}, fetch C", replicas=3)
        assert (raised.high_watermark[A], raised.flight[B]) == (1, flight)


def test_a_leader_and_isr_update_ends_the_wait_of_a_followers_fetch() -> None:
    p = state("kip-320", f"{WAITS}, elect B, notify B")
    assert (p.flight[B], p.flight_epoch[B], p.flight_leader[B]) == (Flight.NOTHING, 0, NONE)


def test_a_transaction_marker_completes_a_waiting_fetch() -> None:
    p = state("kip-320", "produce A, shrink B, fetch B, receive B, fetch B, commit A", transactions=True)
    assert in_flight(p) == (Flight.RECORDS, 1, 2)


@pytest.mark.parametrize("protocol", NAMED)
def test_no_fetch_waits_once_all_faults_have_stopped(protocol: str) -> None:
    assert "fetch-answered" in properties.applying(state(protocol, ""))
    for schedule in (WAITS, f"{WAITS}, elect B", f"{WAITS}, crash A", f"{WAITS}, elect B, notify B"):
        assert "fetch-answered" not in properties.names(after(protocol, schedule).broken_at_end()), schedule


def test_a_timeline_shows_a_waiting_fetch_and_the_end_of_its_wait() -> None:
    waits = "B's fetch from offset 1 shows A that B has everything below it; A has no records from offset 1 on, so B's"
    assert last_sentence(WAITS, "kip-320", delayed_fetch=True).startswith(f"{waits} fetch waits there;")
    produced = "A appends m1 at offset 1 in epoch 0; B's waiting fetch gets the response m1, HW 1."
    assert last_sentence(f"{WAITS}, produce A", "kip-320", delayed_fetch=True) == produced
    over = "The wait of B's fetch is over: A responds with no records, HW 1."
    assert last_sentence(f"{WAITS}, expire_fetch B", "kip-320", delayed_fetch=True) == over
    stepped_down = last_sentence(f"{WAITS}, elect B, notify A", "kip-320", delayed_fetch=True)
    assert stepped_down.endswith("B's fetch, which waited at A, brings nothing.")
