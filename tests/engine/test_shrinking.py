"""Shrinking schedules of the toy log: the result breaks the property, and search proves that it is shortest."""

import pytest

from epochfuzz.harness.engine.explore.certificates import Claim, Reproducer, certify, reproduce
from epochfuzz.harness.engine.shrink import shrink
from epochfuzz.harness.engine.shrink.canonical import canonical
from epochfuzz.model.core.execution import Execution
from tests.engine.reached import AGREEMENT, EAGER, LOSS, PATIENT, SETTINGS, STUBBORN, events

LONG = events(
    "copy B", "append A", "append B", "copy C", "copy B", "elect B", "copy A", "append B", "copy A", "elect C", "copy A"
)  # fmt: skip


def test_a_shrunk_schedule_breaks_the_property_in_the_fewest_events() -> None:
    for made in (shrink.trim, shrink.shrink):
        schedule = made(LONG, EAGER, SETTINGS, LOSS)
        assert Execution(EAGER, SETTINGS, schedule).breaks(LOSS)
        assert len(schedule) == 2


def test_shrinking_a_schedule_that_breaks_nothing_is_an_error() -> None:
    with pytest.raises(shrink.DoesNotBreak):
        shrink.shrink(LONG, PATIENT, SETTINGS, LOSS)


def test_a_breaking_prefix_has_only_enabled_events_and_ends_where_the_property_breaks() -> None:
    prefix = shrink.breaking_prefix(LONG, EAGER, SETTINGS, LOSS)
    assert prefix == events("append A", "copy C", "copy B", "elect B", "append B", "copy A", "elect C")
    assert shrink.breaking_prefix(LONG, STUBBORN, SETTINGS, AGREEMENT) is not None


def test_needed_bounds_are_the_smallest_bounds_that_enable_a_schedule() -> None:
    needed = shrink.needed_bounds(events("append A", "elect B", "append B", "append B"), STUBBORN, SETTINGS)
    assert needed == (2, 1)
    assert needed._asdict() == {"records": 2, "elections": 1}


def test_renaming_a_follower_does_not_change_the_canonical_form() -> None:
    same = [
        events("append A", "elect C"),
        events("append A", "elect B"),
    ]
    assert {canonical(each, EAGER, SETTINGS, LOSS) for each in same} == {same[1]}


def test_exhaustive_search_certifies_a_reproducer() -> None:
    assert reproduce(LONG, EAGER, SETTINGS, LOSS) == Reproducer(events("append A", "elect B"), True, 2)
    assert certify(events("append A", "copy B", "elect C"), EAGER, SETTINGS, LOSS).schedule == events(
        "append A", "elect B"
    )


def test_a_reproducer_that_is_shortest_only_within_bounds_names_the_bounds() -> None:
    claim = Claim(EAGER, SETTINGS, LOSS, events("append A", "elect B"))
    (whole, *small) = claim.searches
    assert (whole, whole.text) == ((2, 2), "2 records and 2 elections")
    claim.searched(small[0], 2)
    assert claim.reproducer.plain() == {
        "certified_minimal": False,
        "searched": 0,
        "minimal_within": {"records": 1, "elections": 1},
    }
    claim.searched(whole, 2)
    assert claim.reproducer.certified_minimal
