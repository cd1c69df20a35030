"""Shrinking: what is needless goes, what search can reach is minimal, and Hypothesis takes over where it cannot."""

import pytest

from epochfuzz.harness.search import shrink
from epochfuzz.harness.search.walk import Walker
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.events import parse_schedule, schedule_texts
from epochfuzz.model.properties import named
from epochfuzz.model.protocols import GENERATIONS

HW = GENERATIONS["hw"]
TWO = Configuration()
NO_COMMITTED_LOSS = named("no-committed-loss").bit
NO_DIVERGENCE = named("no-divergence").bit
LOST = [
    "produce A", "fetch B", "receive B", "fetch B",
    "crash B", "restart B", "notify B", "elect B", "notify B",
]  # fmt: skip
TOO_LITTLE = 1 << 20  # bytes: half a level of the search


def failures(count: int, protocol=HW, wanted="no-committed-loss"):
    """Schedules as drawn of which each breaks a property, the shortest of its kind."""
    walker = Walker([protocol], TWO, seed=3)
    found = walker.walk(0, 20_000).candidates(0, named(wanted).number)
    assert len(found) >= count
    return [walker.schedule(failure.schedule) for failure in found[:count]]


def test_trimming_leaves_only_events_that_are_enabled_and_fails_as_before():
    (drawn,) = failures(1)
    trimmed = shrink.trim(drawn, HW, TWO, NO_COMMITTED_LOSS)
    assert len(trimmed) < len(drawn)
    assert shrink.breaking_prefix(trimmed, HW, TWO, NO_COMMITTED_LOSS) == trimmed


def test_trimming_takes_out_what_does_not_matter_wherever_it_stands():
    needless = ["drop B", "flush A", "fetch B", "drop B", *LOST[:3], "produce A", *LOST[3:], "crash A", "restart A"]
    assert schedule_texts(shrink.trim(parse_schedule(needless), HW, TWO, NO_COMMITTED_LOSS)) == LOST


def test_the_minimal_reproducer_is_the_same_whatever_it_was_found_in():
    for drawn in failures(4):
        found = shrink.reproduce(drawn, HW, TWO, NO_COMMITTED_LOSS)
        assert schedule_texts(found.schedule) == LOST
        assert found.certified_minimal


def test_a_failure_that_search_cannot_reach_is_shrunk_by_hypothesis_and_not_certified():
    kip_101 = GENERATIONS["kip-101"]
    (drawn,) = failures(1, kip_101, "no-divergence")
    assert shrink.within_reach(drawn, kip_101, TWO, NO_DIVERGENCE, TOO_LITTLE) is None
    found = shrink.reproduce(drawn, kip_101, TWO, NO_DIVERGENCE, TOO_LITTLE)
    assert not found.certified_minimal
    assert 0 < found.searched <= 12 <= len(found.schedule)
    assert shrink.breaking_prefix(found.schedule, kip_101, TWO, NO_DIVERGENCE) == found.schedule


def test_a_schedule_that_breaks_nothing_cannot_be_shrunk():
    with pytest.raises(shrink.DoesNotBreak):
        shrink.reproduce(parse_schedule(["produce A", "fetch B"]), HW, TWO, NO_COMMITTED_LOSS)
