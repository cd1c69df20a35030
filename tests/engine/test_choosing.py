"""Choosing on the toy log: schedules that meet more for their steps than random ones, whoever asks for which."""

from typing import Any

from epochfuzz.harness.engine.walk import generate
from epochfuzz.harness.engine.walk.choose import GROUP, Chooser, Limits
from epochfuzz.model.core.execution import Execution
from tests.engine.reached import PATIENT, SETTINGS
from tests.engine.toy import IS_FULL, LEADS, LOG

ROOMY = SETTINGS.changed_to({"records": 9, "elections": 30})


def chooser(seed: int = 7, **limits: Any) -> Chooser:
    return Chooser(PATIENT, ROOMY, seed, Limits(**limits))


def refusals(schedule: bytes) -> list[int]:
    execution = Execution(PATIENT, ROOMY)
    return [refusal for event in schedule if (refusal := execution.attempt(event))]


def states(schedule: bytes) -> list[tuple[Any, ...]]:
    execution, seen = Execution(PATIENT, ROOMY), []
    for event in schedule:
        execution.apply(event)
        p = execution.state
        seen.append((event, p.leader, tuple(p.length), p.held))
    return seen


def test_a_schedule_depends_on_seed_and_number_alone() -> None:
    in_order = [chooser().schedule(number) for number in range(5)]
    backwards = chooser()
    assert [backwards.schedule(number) for number in reversed(range(5))] == in_order[::-1]
    assert chooser(8).schedule(4) != in_order[4]


def test_a_group_begins_without_what_the_one_before_has_met() -> None:
    later, anew = chooser(), chooser()
    assert later.schedule(0)
    assert later.met
    met = later.met
    assert later.schedule(GROUP) == anew.schedule(GROUP)
    assert later.met == anew.met
    assert later.schedule(0) == chooser().schedule(0)
    assert later.met == met


def test_chosen_schedules_meet_more_than_random_ones_of_as_many_steps() -> None:
    choosing, deck = chooser(refused=False), generate.deck_for(LOG, ROOMY, [PATIENT])
    chosen = [state for number in range(20) for state in states(choosing.schedule(number))]
    drawn: list[Any] = []
    for number in range(200):
        execution = Execution(PATIENT, ROOMY)
        applied = bytes(event for event in generate.schedule(7, number, deck) if execution.apply(event))
        drawn += states(applied)
    assert len(drawn) > len(chosen)
    assert len(set(chosen)) > len(set(drawn[: len(chosen)]))


def test_events_that_are_refused_are_few_and_none_where_they_are_not_wanted() -> None:
    with_some, without = chooser(unsent=(IS_FULL,)), chooser(refused=False)
    some = [refusal for number in range(10) for refusal in refusals(with_some.schedule(number))]
    steps = sum(len(with_some.schedule(number)) for number in range(10))
    assert LEADS in some
    assert IS_FULL not in some
    assert len(some) <= steps / 8 + 10
    assert not any(refusals(without.schedule(number)) for number in range(10))


def test_limits_are_kept() -> None:
    append, copy, elect = range(3)
    few = chooser(steps=6, refused=False, verbs=(append, elect), slow=(elect,), most_slow=1)
    for number in range(10):
        verbs = [event >> 3 for event in few.schedule(number)]
        assert verbs.count(elect) <= 1
        assert copy not in verbs
        assert len(verbs) <= 6
