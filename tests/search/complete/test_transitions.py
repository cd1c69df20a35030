"""The transitions of an exhaustive search, and tours along them: all are there, and lead where the model leads."""

import marshal
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from epochfuzz.harness.conform.exhaustive.graph import Graph, graph
from epochfuzz.harness.engine.explore.explore import MemoryEnded, explore
from epochfuzz.harness.engine.explore.tours import Edges, Reach
from epochfuzz.harness.engine.explore.transitions import Ambiguous, transitions
from epochfuzz.harness.engine.explore.visited import hash_of
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.fields import Grid
from epochfuzz.model.core.permutation import renamed
from epochfuzz.model.kafka.controller.controller import forget_superseded
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import VERBS
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.state import VARIABLES, Partition
from tests.documents.pages import named

SMALL = Configuration(replicas=2, records=1, epochs=1)


def of(protocol: str, settings: Configuration, refused: bool = False, verbs: Any = tuple(VERBS)) -> Graph:
    return graph(parse_protocol(protocol), settings, verbs, refused)


def nothing(found: Graph) -> np.ndarray:
    return np.zeros(found.size, bool)


def test_as_many_transitions_are_found_as_were_counted_by_hand() -> None:
    found = transitions(parse_protocol("kip-320"), Configuration(replicas=2, records=1, epochs=2))
    assert (found.states, len(found.events)) == (4012, 15940)


def test_the_page_on_subjects_has_the_counts_as_they_are() -> None:
    page = named("how-to/every-transition.md").read_text()
    for protocol in ("kip-320", "kafka-2.6.1"):
        row = [
            len(transitions(parse_protocol(protocol), Configuration(replicas=2, records=records, epochs=epochs)).events)
            for records, epochs in ((1, 2), (1, 3), (2, 2), (2, 3))
        ]
        assert f"| `{protocol}` | {' | '.join(f'{count:,}' for count in row)} |" in page


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("protocol", "bounds"),
    [
        ("kafka-2.6.1", {"epochs": 3}),
        ("kafka-4.1", {"epochs": 1}),
        ("hw", {"replicas": 3, "epochs": 0}),
        ("kip-966", {"epochs": 1, "controllers": 2}),  # which no renaming leaves as it is
    ],
)
def test_a_search_counts_as_many(protocol: str, bounds: dict[str, Any]) -> None:
    settings = Configuration(**{"replicas": 2, "records": 1, **bounds})
    found = transitions(parse_protocol(protocol), settings)
    searched = explore(parse_protocol(protocol), settings, wanted=0)
    assert (found.states, len(found.events)) == (searched.states, searched.transitions)


def class_of(p: Partition) -> bytes:
    """What all states have in common that are the same but for names."""
    p = p.copy()
    forget_superseded(p)
    return min(_text(renamed(p, names)) for names in permutations(range(p.replicas)))


def _text(p: Partition) -> bytes:
    values = [getattr(p, field.name) for field in VARIABLES if field.read(p)]
    return marshal.dumps([list(value.values()) if isinstance(value, Grid) else value for value in values])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("protocol", "settings"),
    [("kip-320", SMALL), ("kafka-3.4.1", SMALL), ("kip-101", Configuration(replicas=3, records=1, epochs=0))],
)
def test_each_event_of_a_tour_applies_and_leads_to_the_state_that_was_planned(
    protocol: str, settings: Configuration
) -> None:
    found = of(protocol, settings)
    classes: dict[int, bytes] = {}
    played: set[int] = set()
    for number, tour in enumerate(found.tours(~nothing(found), nothing(found))):
        played |= set(tour.edges)
        if number % (found.size // 200):  # each takes some milliseconds
            continue
        execution = Execution(parse_protocol(protocol), settings)
        for event, edge in zip(tour.events, tour.edges, strict=True):
            assert execution.apply(event)
            reached = class_of(execution.state)
            assert classes.setdefault(int(found.edges.targets[edge]), reached) == reached
    assert len(set(classes.values())) == len(classes)
    assert len(played) == found.size


def test_what_is_refused_is_there_for_each_state_and_leaves_it_as_it_is() -> None:
    found = of("kip-320", SMALL, refused=True)
    for tour in list(found.tours(found.refused, nothing(found)))[:50]:
        execution = Execution(parse_protocol("kip-320"), SMALL)
        assert tuple(execution.apply(event) for event in tour.events) == tour.applies
    states, alphabet = found.edges.nodes, Execution(parse_protocol("kip-320"), SMALL).alphabet()
    assert found.size == states * len(alphabet)


def test_nothing_is_planned_that_can_only_be_reached_by_what_is_left_out() -> None:
    found = of("kip-320", SMALL)
    from_the_start = found.edges.sources == 0
    without = from_the_start & (found.events != found.events[0])
    for tour in found.tours(~nothing(found), without):
        assert not without[list(tour.edges)].any()
    assert not found.reached(from_the_start).any()


def test_events_that_a_subject_lacks_are_not_planned() -> None:
    found = of("kip-320", SMALL, verbs=("produce", "fetch", "receive"))
    reached = found.reached(nothing(found))
    assert 0 < reached.sum() < 20
    assert {event >> 3 for event in found.events[reached].tolist()} == {0, 1, 2}


def test_tours_go_along_every_wanted_edge_of_a_graph_and_along_loops_at_once() -> None:
    edges = Edges(4, np.array([0, 0, 1, 1, 2, 3], np.int32), np.array([1, 2, 1, 0, 2, 3], np.int32))
    everything = np.ones(6, bool)
    tours = [tour.tolist() for tour in Reach(edges, everything).tours(everything)]
    assert tours == [[0, 2, 3, 1, 4]]


def test_a_long_way_is_cut_into_tours() -> None:
    nodes = 500
    edges = Edges(nodes, np.arange(nodes, dtype=np.int32), (np.arange(nodes, dtype=np.int32) + 1) % nodes)
    tours = list(Reach(edges, np.ones(nodes, bool)).tours(np.ones(nodes, bool)))
    assert [len(tour) for tour in tours] == [200, 400, 500]


def test_what_memory_has_no_room_for_is_not_planned() -> None:
    with pytest.raises(MemoryEnded, match="the search needs more"):
        transitions(parse_protocol("kip-320"), Configuration(replicas=3, records=1, epochs=1), memory=1 << 18)


def test_two_states_of_one_hash_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def poor(keys: Any, rows: Any) -> Any:
        return hash_of(keys, rows) & np.uint64(0xFF)

    monkeypatch.setattr("epochfuzz.harness.engine.explore.transitions.hash_of", poor)
    with pytest.raises(Ambiguous, match="other bounds"):
        transitions(parse_protocol("kip-320"), SMALL)
