"""Shrinking schedules of the toy log: what is left breaks the same, and search says that nothing is shorter."""

import pytest

from epochfuzz.harness.engine.explore.certificates import Claim, Reproducer, certify, reproduce
from epochfuzz.harness.engine.shrink import shrink
from epochfuzz.harness.engine.shrink.canonical import canonical
from epochfuzz.model.core.execution import Execution
from tests.engine.reached import AGREEMENT, EAGER, LOSS, PATIENT, SETTINGS, STUBBORN, events

LONG = events(
    "copy B", "append A", "append B", "copy C", "copy B", "elect B", "copy A", "append B", "copy A", "elect C", "copy A"
)  # fmt: skip


def test_what_is_shrunk_breaks_the_same_in_as_few_events_as_there_are() -> None:
    for made in (shrink.trim, shrink.shrink):
        schedule = made(LONG, EAGER, SETTINGS, LOSS)
        assert Execution(EAGER, SETTINGS, schedule).breaks(LOSS)
        assert len(schedule) == 2


def test_what_breaks_nothing_is_not_shrunk() -> None:
    with pytest.raises(shrink.DoesNotBreak):
        shrink.shrink(LONG, PATIENT, SETTINGS, LOSS)


def test_a_prefix_ends_where_the_property_broke_and_has_enabled_events_only() -> None:
    prefix = shrink.breaking_prefix(LONG, EAGER, SETTINGS, LOSS)
    assert prefix == events("append A", "copy C", "copy B", "elect B", "append B", "copy A", "elect C")
    assert shrink.breaking_prefix(LONG, STUBBORN, SETTINGS, AGREEMENT) is not None


def test_the_bounds_that_a_schedule_needs_enable_it_and_none_below_do() -> None:
    needed = shrink.needed_bounds(events("append A", "elect B", "append B", "append B"), STUBBORN, SETTINGS)
    assert needed == (2, 1)
    assert needed._asdict() == {"records": 2, "elections": 1}


def test_names_and_the_order_of_independent_events_make_no_difference_to_a_canonical_schedule() -> None:
    same = [
        events("append A", "elect C"),
        events("append A", "elect B"),
    ]
    assert {canonical(each, EAGER, SETTINGS, LOSS) for each in same} == {same[1]}


def test_a_reproducer_is_certified_by_complete_search() -> None:
    assert reproduce(LONG, EAGER, SETTINGS, LOSS) == Reproducer(events("append A", "elect B"), True, 2)
    assert certify(events("append A", "copy B", "elect C"), EAGER, SETTINGS, LOSS).schedule == events(
        "append A", "elect B"
    )


def test_what_is_minimal_within_bounds_alone_says_within_which() -> None:
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
