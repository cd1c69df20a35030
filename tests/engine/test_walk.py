"""Random runs of the toy log: their counts equal those of interpreted runs, one event at a time."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from epochfuzz.harness.engine.explore import estimate
from epochfuzz.harness.engine.explore.distinguish import distinguish
from epochfuzz.harness.engine.walk import generate, walking
from epochfuzz.harness.engine.walk.hunt import STRATEGIES, Hunter
from epochfuzz.harness.engine.walk.walk import Tally, Walker
from epochfuzz.model.core.execution import Execution
from tests.engine.reached import AGREEMENT, EAGER, LOSS, PATIENT, SETTINGS, STUBBORN, reached
from tests.engine.toy import LOG

PROTOCOLS = (EAGER, PATIENT, STUBBORN)
SCHEDULES = 60
ROOMY = SETTINGS.changed_to({"records": 9, "elections": 30})


@pytest.fixture(scope="module")
def walker() -> Walker[Any, Any]:
    return Walker(PROTOCOLS, ROOMY, 7)


def same(one: Tally, other: Tally) -> bool:
    counted = ("events", "failures", "goals", "shortest")
    met = zip(one.met, other.met, strict=True)
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in counted) and all(
        list(a.rows()) == list(b.rows()) for a, b in met
    )


def test_a_tally_equals_the_counts_of_an_interpreted_run(walker: Walker[Any, Any]) -> None:
    tally = walker.walk(0, SCHEDULES)
    for index, protocol in enumerate(PROTOCOLS):
        applied, broken, met = 0, np.zeros((SCHEDULES, 2), bool), Counter[int]()
        for number in range(SCHEDULES):
            execution, here = Execution(protocol, ROOMY), set()
            for event in walker.schedule(number):
                if execution.apply(event):
                    applied += 1
                    here.add(event)
                    broken[number, 0] |= bool(execution.broken())
            met.update(here)
            broken[number, 1] = bool(execution.broken_at_end())
        assert tally.events[index] == applied
        assert tally.seen[index].tolist() == broken.sum(axis=0).tolist()
        assert {event: schedules for event, schedules, _ in tally.met[index].rows()} == met
    assert tally.seen[:, 0].tolist()[1:] == [0, 0]
    assert tally.seen[2, 1] > tally.seen[0, 1] == 0


def test_blocks_and_threads_do_not_change_the_tally(walker: Walker[Any, Any]) -> None:
    whole = walker.walk(0, SCHEDULES)
    merged = Tally.empty(LOG, len(PROTOCOLS))
    for first in reversed(range(0, SCHEDULES, 20)):
        merged.add(walker.walk(first, 20))
    assert same(merged, whole)
    assert same(walking.walk(walker, SCHEDULES, None, jobs=2).tally, whole)


def test_each_kept_failure_breaks_its_property_in_the_recorded_number_of_events(walker: Walker[Any, Any]) -> None:
    tally = walker.walk(0, SCHEDULES)
    kept = tally.candidates(0, 0)
    assert kept
    for failure in kept:
        execution, applied = Execution(EAGER, ROOMY), 0
        for event in walker.schedule(failure.schedule):
            applied += execution.apply(event)
            if execution.breaks(LOSS):
                break
        assert applied == failure.length


def test_a_deck_has_each_event_as_often_as_declared_and_no_events_of_dead_verbs() -> None:
    deck = generate.deck_for(LOG, SETTINGS, [EAGER])
    dealt = np.bincount(deck.cards & 0xFF, minlength=24).reshape(3, 8)[:, : SETTINGS.replicas]
    assert dealt.tolist() == [[2] * 3, [3] * 3, [1] * 3]
    assert (deck.optional, deck.dead.size) == (0b110, 0)  # all verbs but the vital verb
    assert {event >> 3 for event in generate.schedule(1, 0, deck._replace(dead=generate.dead_events(LOG, {2})))} == {
        0,
        1,
    }


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_hunt_finds_a_schedule_that_breaks_the_protocol(strategy: str) -> None:
    found = Hunter(STUBBORN, ROOMY, AGREEMENT).first(strategy, seed=1, most=1000)
    assert found is not None
    assert Execution(STUBBORN, ROOMY, found[1]).breaks(AGREEMENT)
    assert Hunter(PATIENT, ROOMY, LOSS | AGREEMENT).first(strategy, seed=1, most=200) is None


def test_the_estimate_of_something_new_falls_as_situations_are_met(walker: Walker[Any, Any]) -> None:
    few, many = (estimate.something_new(walker.walk(0, schedules)) for schedules in (1, SCHEDULES))
    assert few.probability == 1.0
    assert many.probability < 0.2
    assert estimate.discovery_curve(walker.walk(0, SCHEDULES))[-1].situations == sum(
        len(met.situations) for met in walker.walk(0, SCHEDULES).met
    )


def test_distinguish_finds_a_shortest_schedule_that_separates_two_protocols() -> None:
    found = distinguish(EAGER, PATIENT, SETTINGS, LOSS, seed=1)
    assert found.schedule is not None
    assert found.certified_minimal
    shortest = min(len(schedule) for schedule, here in reached(EAGER).values() if here.breaks(LOSS))
    assert len(found.schedule) >= shortest
    assert distinguish(PATIENT, EAGER, SETTINGS, LOSS, seed=1).complete
