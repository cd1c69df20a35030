"""Shrinking: trimming removes needless events, and Hypothesis continues if trimming cannot shorten a schedule."""

import pytest

from epochfuzz.harness.engine.shrink import shrink
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.model.kafka.contract.properties import named
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS

HW = GENERATIONS["hw"]
TWO = Configuration()
NO_COMMITTED_LOSS = named("no-committed-loss").bit
LOST = [
    "produce A", "fetch B", "receive B", "fetch B",
    "crash B", "restart B", "notify B", "elect B", "notify B",
]  # fmt: skip
# B leads first, so that A has to catch up before the loss. Trimming can remove no consecutive events, but many events
# that are apart are needless.
STUCK = [
    "elect B", "notify B", "notify A", "produce B", "elect A", "fetch A", "receive A", "notify A", "notify B",
    "fetch B", "receive B", "fetch B", "crash B", "restart B", "notify B", "elect B", "notify B",
]  # fmt: skip


def failures(count: int, protocol=HW, wanted="no-committed-loss"):
    """Return drawn schedules that each break a property."""
    walker = Walker([protocol], TWO, seed=3)
    found = walker.walk(0, 20_000).candidates(0, named(wanted).number)
    assert len(found) >= count
    return [walker.schedule(failure.schedule) for failure in found[:count]]


def test_trimming_shortens_a_schedule_and_keeps_the_violation():
    (drawn,) = failures(1)
    trimmed = shrink.trim(drawn, HW, TWO, NO_COMMITTED_LOSS)
    assert len(trimmed) < len(drawn)
    assert shrink.breaking_prefix(trimmed, HW, TWO, NO_COMMITTED_LOSS) == trimmed


def test_trimming_removes_needless_events_at_any_position():
    needless = ["drop B", "flush A", "fetch B", "drop B", *LOST[:3], "produce A", *LOST[3:], "crash A", "restart A"]
    assert schedule_texts(shrink.trim(parse_schedule(needless), HW, TWO, NO_COMMITTED_LOSS)) == LOST


def test_a_schedule_that_breaks_nothing_cannot_be_shrunk():
    with pytest.raises(shrink.DoesNotBreak):
        shrink.trim(parse_schedule(["produce A", "fetch B"]), HW, TWO, NO_COMMITTED_LOSS)


def test_hypothesis_shrinks_a_schedule_that_trimming_cannot_shorten():
    trimmed = shrink.trim(parse_schedule(STUCK), HW, TWO, NO_COMMITTED_LOSS)
    assert schedule_texts(trimmed) == STUCK
    shrunk = shrink.shrink(trimmed, HW, TWO, NO_COMMITTED_LOSS)
    assert len(shrunk) < len(STUCK)
    assert shrink.breaking_prefix(shrunk, HW, TWO, NO_COMMITTED_LOSS) == shrunk


def test_needed_bounds_are_the_smallest_bounds_that_enable_every_event_of_a_schedule():
    for events, needed in ((LOST, (1, 1)), (STUCK, (1, 3)), (["produce A", "produce A"], (2, 0))):
        assert shrink.needed_bounds(parse_schedule(events), HW, TWO) == needed
