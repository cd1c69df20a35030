"""Canonical form: one form for schedules that differ only in names and the order of independent events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epochfuzz.harness.engine.shrink.canonical import canonical
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

HW = parse_protocol("hw")
LOSS = ["produce A", "fetch B", "receive B", "fetch B", "crash B", "restart B", "notify B", "elect B", "notify B"]


def form(events, settings=Configuration(), wanted=properties.named("no-committed-loss").bit):  # noqa: B008 (it is immutable)
    return schedule_texts(canonical(parse_schedule(events), HW, settings, wanted))


def end_of(events):
    """Return the state after all events, or None if one of them is not enabled."""
    execution = Execution(HW, Configuration())
    if not all(execution.apply(event) for event in parse_schedule(events)):
        return None
    return execution.state.to_record().tobytes()


def renamed(events, old, new):
    swap = {old: new, new: old}
    return [" ".join((verb, swap.get(replica, replica))) for verb, replica in map(str.split, events)]


def test_a_schedule_in_canonical_form_stays_unchanged():
    assert form(LOSS) == LOSS


def test_the_canonical_form_puts_independent_events_in_the_simplest_order():
    late = [*LOSS[:4], "crash B", "restart B", "elect B", "notify B", "notify B"]
    assert form(late) == LOSS


def test_renaming_followers_does_not_change_the_canonical_form():
    three = Configuration(replicas=3)
    shrunk_isr = ["produce A", "fetch B", "shrink C", *LOSS[2:]]
    assert form(renamed(shrunk_isr, "B", "C"), three) == form(shrunk_isr, three)
    assert "elect B" in form(renamed(shrunk_isr, "B", "C"), three)


def test_the_leader_of_the_first_epoch_keeps_its_name():
    other = renamed(LOSS, "A", "B")
    assert form(other) == other


@pytest.mark.thorough
@given(st.data())
def test_the_order_of_independent_events_does_not_change_the_canonical_form(data):
    """Swap neighbouring events at random, if both are enabled in both orders and lead to the same state."""
    schedule = list(LOSS)
    for _ in range(data.draw(st.integers(0, 10))):
        place = data.draw(st.integers(0, len(schedule) - 3))  # the last event stays, because it breaks the property
        swapped = [*schedule[:place], schedule[place + 1], schedule[place], *schedule[place + 2 :]]
        if end_of(swapped[: place + 2]) == end_of(schedule[: place + 2]):
            schedule = swapped
    assert form(schedule) == LOSS
