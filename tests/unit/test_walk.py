"""Random schedules and the compiled walk over them."""

import numpy as np
import pytest

from harness import fuzz
from harness.engine.walk import Failure, Tally, Walker
from harness.replay import replay
from model import goals, properties
from model.configuration import Configuration
from model.events import schedule_texts, verb_of
from model.protocols import GENERATIONS, parse_protocol

PLAIN = Configuration()
EVERY_FAULT = Configuration(
    replicas=3, unclean_leader_election=True, power_loss=True, asynchronous_checkpoint=True, records_per_fetch=2
)


def walker(*protocols, settings=PLAIN, seed=7):
    return Walker([parse_protocol(name) for name in protocols], settings, seed)


def equal(one: Tally, other: Tally) -> bool:
    return one.schedules == other.schedules and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("events", "seen", "goals", "shortest")
    )


def test_schedule_number_i_of_a_seed_is_always_the_same():
    assert schedule_texts(walker("hw").schedule(5)[:6]) == schedule_texts(walker("kip-320").schedule(5)[:6])
    assert schedule_texts(walker("hw").schedule(5)[:6]) == FIRST_EVENTS_OF_SCHEDULE_5


FIRST_EVENTS_OF_SCHEDULE_5 = ["receive B", "restart B", "fetch B", "receive B", "expand A", "fetch A"]


def test_seeds_and_numbers_give_different_schedules():
    schedules = {walker("hw", seed=seed).schedule(number) for seed in range(5) for number in range(50)}
    assert len(schedules) == 250


def test_swarm_leaves_verbs_out_of_some_schedules():
    verbs = [{verb_of(event) for event in walker("hw").schedule(number)} for number in range(200)]
    assert len(set(map(frozenset, verbs))) > 50


@pytest.mark.parametrize("settings", [PLAIN, EVERY_FAULT], ids=["plain", "every-fault"])
@pytest.mark.parametrize("name", GENERATIONS)
def test_the_compiled_walk_sees_what_interpreted_replay_sees(name, settings):
    subject = walker(name, settings=settings)
    tally = subject.walk(0, 60)
    expected = Tally.empty(1)
    for number in range(60):
        run = replay(subject.schedule(number), subject.protocols[0], settings)
        applied = [step.applied for step in run.steps]
        expected.events[0] += sum(applied)
        for bit, property_ in enumerate(properties.PROPERTIES):
            expected.seen[0, bit] += property_ in run.first_broken
        for bit in range(len(goals.NAMES)):
            expected.goals[0, bit] += run.steps[-1].state.goals >> bit & 1
        for bit, property_ in enumerate(properties.PROPERTIES):
            if property_ in run.first_broken:
                length = sum(applied[: run.first_broken[property_]])
                kept = [*expected.failures(0, bit), Failure(length, number)]
                rows = [(failure.length, failure.schedule) for failure in sorted(kept)[:8]]
                expected.shortest[0, bit, : len(rows)] = rows
    expected.schedules = 60
    assert equal(tally, expected)


def test_blocks_and_threads_change_nothing():
    subject = walker("hw", "kip-101")
    whole = subject.walk(0, 5000)
    merged = Tally.empty(2)
    for first, count in ((3000, 2000), (0, 1), (1, 2999)):
        merged.add(subject.walk(first, count))
    assert equal(merged, whole)
    for jobs in (1, 2, 3):
        assert equal(fuzz.walk(subject, 5000, None, jobs).tally, whole)


def test_a_walk_for_some_seconds_walks_whole_blocks():
    walked = fuzz.walk(walker("hw"), None, 0.05, 2)
    assert walked.tally.schedules > 0
    assert walked.tally.schedules % fuzz.BLOCK == 0


def test_every_goal_is_met_by_some_protocol_when_every_fault_may_happen():
    subject = walker(*GENERATIONS, settings=EVERY_FAULT)
    met = subject.walk(0, 20_000).goals.sum(axis=0)
    strict = Configuration(replicas=3, min_insync_replicas=2)
    met += walker(*GENERATIONS, settings=strict).walk(0, 2_000).goals.sum(axis=0)
    assert [name for name, count in zip(goals.NAMES, met, strict=True) if count == 0] == []


def test_kip_320_holds_every_property_without_faults():
    for replicas in (2, 3):
        tally = walker("kip-320", settings=Configuration(replicas=replicas)).walk(0, 20_000)
        assert tally.seen.sum() == 0
