"""Chosen schedules on the toy log: they meet more states for their steps than random schedules."""

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


def test_a_chosen_schedule_depends_only_on_its_seed_and_number() -> None:
    in_order = [chooser().schedule(number) for number in range(5)]
    backwards = chooser()
    assert [backwards.schedule(number) for number in reversed(range(5))] == in_order[::-1]
    assert chooser(8).schedule(4) != in_order[4]


def test_a_group_of_schedules_does_not_depend_on_earlier_groups() -> None:
    later, fresh = chooser(), chooser()
    assert later.schedule(0)
    assert later.met
    met = later.met
    assert later.schedule(GROUP) == fresh.schedule(GROUP)
    assert later.met == fresh.met
    assert later.schedule(0) == chooser().schedule(0)
    assert later.met == met


def test_chosen_schedules_meet_more_states_than_random_schedules_with_as_many_steps() -> None:
    choosing, deck = chooser(refused=False), generate.deck_for(LOG, ROOMY, [PATIENT])
    chosen = [state for number in range(20) for state in states(choosing.schedule(number))]
    drawn: list[Any] = []
    for number in range(200):
        execution = Execution(PATIENT, ROOMY)
        applied = bytes(event for event in generate.schedule(7, number, deck) if execution.apply(event))
        drawn += states(applied)
    assert len(drawn) > len(chosen)
    assert len(set(chosen)) > len(set(drawn[: len(chosen)]))


def test_chosen_schedules_have_few_events_that_are_not_enabled_or_none_on_request() -> None:
    with_some, without = chooser(unsent=(IS_FULL,)), chooser(refused=False)
    some = [refusal for number in range(10) for refusal in refusals(with_some.schedule(number))]
    steps = sum(len(with_some.schedule(number)) for number in range(10))
    assert LEADS in some
    assert IS_FULL not in some
    assert len(some) <= steps / 8 + 10
    assert not any(refusals(without.schedule(number)) for number in range(10))


def test_chosen_schedules_keep_their_limits() -> None:
    append, copy, elect = range(3)
    few = chooser(steps=6, refused=False, verbs=(append, elect), slow=(elect,), most_slow=1)
    for number in range(10):
        verbs = [event >> 3 for event in few.schedule(number)]
        assert verbs.count(elect) <= 1
        assert copy not in verbs
        assert len(verbs) <= 6
