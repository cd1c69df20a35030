"""Shrinking: what is needless goes, what search can reach is minimal, and Hypothesis takes over where it cannot."""

import pytest

from epochfuzz.harness.search import explore, shrink
from epochfuzz.harness.search.walk import Walker
from epochfuzz.model import properties
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
# B leads first, so that A has to catch up before the loss: no run of events can go, but many can that are apart.
STUCK = [
    "elect B", "notify B", "notify A", "produce B", "elect A", "fetch A", "receive A", "notify A", "notify B",
    "fetch B", "receive B", "fetch B", "crash B", "restart B", "notify B", "elect B", "notify B",
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


@pytest.mark.parametrize("memory", [TOO_LITTLE, 64 << 20])
@pytest.mark.parametrize("name", ["hw", "kip-101"])
def test_one_search_for_several_properties_says_what_one_for_each_says(name, memory):
    protocol = GENERATIONS[name]
    walker = Walker([protocol], TWO, seed=3)
    tally = walker.walk(0, 5_000)
    drawn = {
        properties.PROPERTIES[number].bit: walker.schedule(tally.candidates(0, number)[0].schedule)
        for number in range(len(properties.PROPERTIES))
        if tally.candidates(0, number)
    }
    assert len(drawn) == 6
    one_by_one = {bit: shrink.within_reach(each, protocol, TWO, bit, memory) for bit, each in drawn.items()}
    assert shrink.all_within_reach(drawn, protocol, TWO, memory) == one_by_one
    assert (None in one_by_one.values()) == (memory == TOO_LITTLE or name == "kip-101")


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


def test_hypothesis_takes_over_where_trimming_is_stuck():
    trimmed = shrink.trim(parse_schedule(STUCK), HW, TWO, NO_COMMITTED_LOSS)
    assert schedule_texts(trimmed) == STUCK
    shrunk = shrink.shrink(trimmed, HW, TWO, NO_COMMITTED_LOSS)
    assert len(shrunk) < len(STUCK)
    assert shrink.breaking_prefix(shrunk, HW, TWO, NO_COMMITTED_LOSS) == shrunk


def test_the_small_bounds_that_are_searched_first_never_exceed_those_of_the_case(monkeypatch):
    searched = []

    def runs_out_of_memory(protocol, settings, *arguments, **options):
        searched.append((settings.records, settings.epochs))
        return explore.Exploration(0, 0, 0, complete=False, shortest=None, memory_exhausted=True)

    monkeypatch.setattr(explore, "explore", runs_out_of_memory)
    for records, epochs in ((1, 1), (1, 3), (2, 1), (3, 3)):
        searched.clear()
        settings = Configuration(records=records, epochs=epochs)
        shrink.certify(parse_schedule(STUCK), HW, settings, NO_COMMITTED_LOSS)
        assert searched[0] == searched[-1] == (records, epochs)
        assert (1, 1) in searched[1:-1]
        assert max(bounds[0] for bounds in searched) == records
        assert max(bounds[1] for bounds in searched) == epochs
