"""The lag time: a leader's high watermark waits for a replica outside the ISR that was caught up within this time."""

from typing import Any

import pytest

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_event, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import RELEASES, parse_protocol
from epochfuzz.model.kafka.vocabulary.refusals import Refusal
from epochfuzz.model.kafka.vocabulary.state import VARIABLES
from tests.views.narrating import last_sentence

A, B, C = range(3)

# B leaves the ISR and catches up to within one fetch of the leader. With the leader's next record, the HW waits.
RETURNS = "produce A, lapse A, shrink B, fetch B, receive B, produce A, fetch B"
WAITS = f"{RETURNS}, produce A"


def after(protocol: str, schedule: str, **settings: Any) -> Execution:
    """Return the model with lag_time after a schedule of which every event is enabled."""
    execution = Execution(parse_protocol(protocol), Configuration(lag_time=True, **settings))
    for event in filter(None, schedule.split(", ")):
        assert execution.apply(parse_event(event)), event
    return execution


def in_one_event(protocol: str) -> str:
    """Return the name of the protocol with changes of the ISR in one event."""
    return f"{protocol}:isr_change=atomic"


def high_watermark(protocol: str, schedule: str, **settings: Any) -> int:
    return int(after(protocol, schedule, **settings).state.high_watermark[A])


def refusal(event: str, protocol: str, schedule: str, **settings: Any) -> int:
    execution = after(protocol, schedule, **settings)
    return step(execution.state, parse_event(event))


def test_without_lag_time_the_alphabet_has_no_lapse_and_no_lag_time_field_is_read() -> None:
    assert "lapse" not in {verb_of(event).text for event in Configuration().alphabet()}
    plain = Execution(parse_protocol("kafka-4.1"), Configuration())
    assert step(plain.state, parse_event("lapse A")) == Refusal.LAG_TIME_OFF
    read = {field.name for field in VARIABLES if field.read(plain.state)}
    assert not read & {"fetched_at", "decided_fenced"}


@pytest.mark.parametrize("release", RELEASES)
def test_the_high_watermark_waits_for_a_caught_up_follower_until_the_lag_time_passes(
    release: str,
) -> None:
    protocol = in_one_event(release)
    assert high_watermark(protocol, WAITS) == high_watermark(protocol, f"{WAITS}, produce A") == 2
    assert high_watermark(protocol, f"{WAITS}, lapse A") == 2
    assert high_watermark(protocol, f"{WAITS}, lapse A, produce A") == 4


def test_the_high_watermark_waits_until_the_follower_has_joined_the_isr() -> None:
    joins = f"{WAITS}, receive B, fetch B, expand B"
    p = after("kip-320", joins).state
    assert (p.isr[A], p.high_watermark[A], p.leo[A]) == (0b11, 2, 3)


def test_a_member_that_was_caught_up_within_the_lag_time_stays_in_the_isr() -> None:
    assert refusal("shrink B", "kip-320", "produce A") == Refusal.CAUGHT_UP_WITHIN_LAG_TIME
    assert refusal("shrink B", "kip-320", "produce A, lapse A") == Refusal.APPLIED
    assert refusal("shrink B", "kip-320", "produce A, fetch B, lapse A, receive B, fetch B") == Refusal.DOES_NOT_LAG


def test_a_fetch_from_the_previous_log_end_makes_a_follower_caught_up_within_the_lag_time() -> None:
    fetched = "produce A, lapse A, fetch B, receive B, produce A"
    assert after("kip-320", f"{fetched}, fetch B").state.caught_up[A] == 1 << B
    assert after("kip-320", f"{fetched}, lapse A, fetch B").state.caught_up[A] == 0


def test_leaders_and_stale_leaders_have_their_own_lag_time_and_followers_have_none() -> None:
    assert refusal("lapse B", "kip-320", "") == Refusal.DOES_NOT_LEAD
    assert refusal("lapse A", "kip-320", "crash A") == Refusal.IS_DOWN
    p = after("kip-320", "elect B, notify B, lapse A").state
    assert (p.caught_up[A], p.caught_up[B]) == (0, 1 << A)


def test_up_to_2_3_a_leader_evaluates_its_high_watermark_at_every_fetch() -> None:
    """C is in the ISR and has all records. The high watermark waits for B until the lag time passes."""
    waits = (
        "produce A, fetch C, receive C, lapse A, fetch C, shrink B, fetch B, receive B, receive C, produce A, "
        "fetch C, receive C, fetch C, receive C, fetch B, produce A, fetch C, receive C, fetch C, receive C, lapse A"
    )
    for release, evaluated in (("kafka-2.3", 3), ("kafka-2.6.0", 2)):
        assert high_watermark(release, waits, replicas=3) == 2
        assert high_watermark(release, f"{waits}, fetch C", replicas=3) == evaluated


def test_since_3_6_the_high_watermark_waits_for_no_replica_that_its_leader_knows_to_be_fenced() -> None:
    """Without KAFKA-15021 a leader waits for C, which was caught up when the controller fenced it."""
    fenced = (
        "produce A, fetch C, receive C, fetch C, expire C, notify A, fetch B, receive B, produce A, fetch B, receive B"
    )
    assert high_watermark("kafka-3.6", f"{fenced}, fetch B", replicas=3) == 2
    assert after("kafka-3.6", fenced, replicas=3).state.caught_up[A] >> C & 1


def test_a_replica_outside_the_isr_has_to_fetch_again_from_a_re_elected_leader_since_3_3() -> None:
    """Up to 3.2, the election counts as the last fetch, so a fetch from the log end at the election suffices."""
    gone = "produce A, lapse A, fetch B, receive B, shrink B, elect C, elect A, catch_up A, catch_up B, produce A"
    older = after(in_one_event("kafka-3.1"), f"{gone}, fetch B", replicas=3).state
    newer = after(in_one_event("kafka-3.3"), f"{gone}, fetch B", replicas=3).state
    assert (older.caught_up[A] >> B & 1, newer.caught_up[A] >> B & 1) == (1, 0)


def test_a_passed_lag_time_breaks_hw_due_until_the_leader_evaluates_its_high_watermark() -> None:
    request = WAITS.replace("shrink B", "shrink B, alter A, altered A")
    waiting = after("kafka-3.9.1", request)
    assert properties.names(waiting.broken()) == []
    overdue = after("kafka-3.9.1", f"{request}, lapse A")
    assert properties.names(overdue.broken()) == ["hw-due"]
    assert properties.names(after("kafka-3.9.1", f"{request}, lapse A, produce A").broken()) == []


def test_a_timeline_shows_why_the_high_watermark_waits_and_when_the_lag_time_passes() -> None:
    waits = (
        "A appends m2 at offset 2 in epoch 0; A's HW stays at 2 and waits for B, caught up within the lag time though "
        "outside the ISR."
    )
    assert last_sentence(WAITS, "kip-320", lag_time=True) == waits
    lapses = "The lag time passes at A (replica.lag.time.max.ms), and A no longer considers B caught up."
    assert last_sentence(f"{WAITS}, lapse A", "kip-320", lag_time=True) == lapses
