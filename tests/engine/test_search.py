"""Exhaustive search of the toy log: it visits every state, and finds the first of the shortest schedules."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from epochfuzz.harness.engine.explore.expansion import sort_by_shard
from epochfuzz.harness.engine.explore.explore import Exploration, NotConfirmed, confirm, explore, explored
from epochfuzz.harness.engine.explore.shards import SHARDS, row_of
from epochfuzz.harness.engine.explore.visited import Visited, hash_of
from epochfuzz.harness.engine.keys.packing import DoesNotFit
from epochfuzz.harness.engine.runtime import uncompiled_search
from epochfuzz.harness.engine.runtime.threads import Threads
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.fields import Field
from epochfuzz.model.core.simple_model import ONE_REPLICA, REPLICA, Holds, Property, Verb, simple_model, up_to
from tests.engine.reached import AGREEMENT, EAGER, LOSS, PATIENT, SETTINGS, STUBBORN, classes, events, reached
from tests.engine.toy import LOG, append, copy, elect, is_lost

PROTOCOLS = [pytest.param(each, id=each.name) for each in (EAGER, PATIENT, STUBBORN)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_search_visits_every_state_once(protocol: Any) -> None:
    found = explore(protocol, SETTINGS, 0, symmetric=False)
    every = reached(protocol)
    transitions = sum(here.copy().apply(event) for _, here in every.values() for event in here.alphabet())
    depth = max(len(schedule) for schedule, _ in every.values())
    assert (found.states, found.transitions, found.complete) == (len(every), transitions, True)
    assert found.depth == depth + 1  # the last level has no new state


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_search_with_symmetry_visits_one_state_of_each_class(protocol: Any) -> None:
    found = explore(protocol, SETTINGS, 0)
    assert (found.states, found.complete, found.symmetry) == (len(classes(protocol)), True, 6)
    assert found.states < len(reached(protocol)) / 2


@pytest.mark.parametrize(("protocol", "wanted"), [(EAGER, LOSS), (STUBBORN, AGREEMENT), (PATIENT, LOSS)])
def test_a_search_finds_the_first_of_the_shortest_schedules(protocol: Any, wanted: int) -> None:
    broken = [schedule for schedule, here in reached(protocol).values() if here.breaks(wanted)]
    shortest = min(broken, key=lambda schedule: (len(schedule), schedule), default=None)
    for symmetric in (True, False):
        assert explore(protocol, SETTINGS, wanted, symmetric=symmetric).shortest == shortest
    small = (LOG.small[0], SETTINGS.bounds)
    assert uncompiled_search.shortest(protocol, SETTINGS, wanted, small, lambda: True) == shortest


def test_a_search_gives_equal_results_on_threads_and_grows_with_its_depth() -> None:
    whole = explore(PATIENT, SETTINGS, LOSS, jobs=1)
    assert explore(PATIENT, SETTINGS, LOSS, jobs=3) == whole
    depths = [explore(PATIENT, SETTINGS, LOSS, depth).states for depth in range(1, whole.depth + 1)]
    assert depths == sorted(depths)
    assert depths[-1] <= whole.states


def test_a_joint_search_stops_at_a_separate_depth_for_each_property() -> None:
    both = dict(explored(PATIENT, SETTINGS, {LOSS: 5, AGREEMENT: 3}))
    assert [(each.depth, each.shortest) for each in (both[LOSS], both[AGREEMENT])] == [(5, None), (3, None)]


def test_a_search_with_a_holding_protocol_finds_a_schedule_that_breaks_only_the_other() -> None:
    found = explore(EAGER, SETTINGS, LOSS, holding=[PATIENT]).shortest
    assert found is not None
    assert Execution(EAGER, SETTINGS, found).breaks(LOSS)
    assert not Execution(PATIENT, SETTINGS, found).breaks(LOSS | AGREEMENT)
    assert explore(EAGER, SETTINGS, LOSS, holding=[EAGER]).shortest is None


def test_a_search_continues_after_a_given_schedule() -> None:
    assert explore(EAGER, SETTINGS, LOSS, after=events("append A")).shortest == events("elect B")


def test_a_search_that_runs_out_of_memory_reports_the_depth_that_it_covered() -> None:
    large = SETTINGS.changed_to({"replicas": 4, "records": 9, "elections": 9})
    found = explore(PATIENT, large, LOSS, memory=1 << 16)
    assert (found.memory_exhausted, found.complete) == (True, False)
    assert explore(PATIENT, large, LOSS, depth=found.depth).states <= found.states


def test_a_value_that_does_not_fit_its_key_ends_the_search_with_an_error() -> None:
    cramped = simple_model(
        "cramped",
        fields=(
            Field("length", Holds(0, lambda p: 1), (REPLICA,)),
            Field("leader", ONE_REPLICA),
            Field("promised", up_to("records")),
            Field("held", up_to("elections")),
        ),
        verbs=(Verb(append), Verb(copy), Verb(elect)),
        properties=(Property("no-loss", is_lost),),
        settings=dict(SETTINGS.numbers),
        bounds=("records", "elections"),
        protocols={"patient": {"waits": 1, "cuts": 1}},
    )
    with pytest.raises(DoesNotFit, match=r"length\[0\] is 2, and declared to be from 0 to 1"):
        explore(cramped.protocol("patient"), cramped.settings, LOSS)


def test_confirm_rejects_a_schedule_that_breaks_nothing_in_replay() -> None:
    confirm([EAGER], SETTINGS, LOSS, events("append A", "elect B"))
    with pytest.raises(NotConfirmed, match="append A, elect B"):
        confirm([PATIENT], SETTINGS, LOSS, events("append A", "elect B"))


def test_an_exploration_with_a_shortest_schedule_is_broken() -> None:
    assert replace(
        Exploration(states=1, transitions=0, depth=0, complete=True, shortest=None, memory_exhausted=False),
        shortest=b"",
    ).broken


def test_visited_states_have_the_keys_that_were_added() -> None:
    keys = np.random.default_rng(0).integers(0, 4, (5000, 5), np.uint32)
    visited = Visited(halves=5, memory=1 << 22)
    with Threads(2) as threads:
        for first in range(0, len(keys), 1000):  # from a key to the next, parts and whole keys repeat
            assert visited.add(outbox_of(keys[first : first + 1000], chunks=2), 2, threads)
    rows = np.concatenate([row_of(shard, np.arange(size)) for shard, size in enumerate(visited.sizes)])
    stored = visited.keys_of(rows)
    assert len(stored) == len(np.unique(stored, axis=0)) == visited.size
    assert {bytes(key) for key in stored} == {bytes(key) for key in keys}


def test_visited_states_tell_keys_with_equal_hashes_apart() -> None:
    keys = np.zeros((20, 4), np.uint32)
    keys[:10, 0] = keys[10:, 3] = np.arange(10)  # keys that differ in one part only
    outbox = outbox_of(keys, chunks=1)
    outbox[1][:] = 0
    sort_by_shard(outbox[1][0], len(keys), outbox[3][0], outbox[4][0])
    visited = Visited(halves=4, memory=1 << 20)
    with Threads(1) as threads:
        assert visited.add(outbox, 1, threads)
        assert visited.add(outbox, 1, threads)
    assert visited.size == 19


def test_visited_states_reject_states_that_exceed_the_memory() -> None:
    keys = np.arange(4 << 16, dtype=np.uint32).reshape(-1, 4)
    visited = Visited(halves=4, memory=1 << 20)
    added = 0
    with Threads(1) as threads:
        while visited.add(outbox_of(keys[added : added + 1000], chunks=1), 1, threads):
            added += 1000
    assert visited.size == added > 0
    assert visited.bytes <= (1 << 20) < 40 * (added + 5000)


def outbox_of(keys: np.ndarray, chunks: int) -> tuple[np.ndarray, ...]:
    """Return an outbox (see Expansion) with these keys in a number of chunks of one size."""
    room = len(keys) // chunks
    hashes = hash_of(keys, np.arange(len(keys))).reshape(chunks, room)
    order, starts = np.zeros((chunks, room), np.int32), np.zeros((chunks, SHARDS + 1), np.int64)
    for chunk in range(chunks):
        sort_by_shard(hashes[chunk], room, order[chunk], starts[chunk])
    return keys, hashes, np.zeros((chunks, room), np.int64), order, starts, np.zeros((chunks, room), np.uint8)
