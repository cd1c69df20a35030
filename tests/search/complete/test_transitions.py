"""The transitions of an exhaustive search, and the test sequences that cover them."""

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


def test_the_number_of_transitions_matches_the_count_by_hand() -> None:
    found = transitions(parse_protocol("kip-320"), Configuration(replicas=2, records=1, epochs=2))
    assert (found.states, len(found.events)) == (4012, 15940)


def test_the_page_every_transition_shows_the_current_counts() -> None:
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
        ("kip-966", {"epochs": 1, "controllers": 2}),  # not symmetric
    ],
)
def test_explore_and_transitions_count_equal_numbers_of_states_and_transitions(
    protocol: str, bounds: dict[str, Any]
) -> None:
    settings = Configuration(**{"replicas": 2, "records": 1, **bounds})
    found = transitions(parse_protocol(protocol), settings)
    searched = explore(parse_protocol(protocol), settings, wanted=0)
    assert (found.states, len(found.events)) == (searched.states, searched.transitions)


def class_of(p: Partition) -> bytes:
    """Return a value that is equal exactly for states that differ only in replica names."""
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
def test_each_event_of_a_test_sequence_applies_and_leads_to_the_planned_state(
    protocol: str, settings: Configuration
) -> None:
    found = of(protocol, settings)
    classes: dict[int, bytes] = {}
    played: set[int] = set()
    for number, tour in enumerate(found.tours(~nothing(found), nothing(found))):
        played |= set(tour.edges)
        if number % (found.size // 200):  # a test sequence takes some milliseconds
            continue
        execution = Execution(parse_protocol(protocol), settings)
        for event, edge in zip(tour.events, tour.edges, strict=True):
            assert execution.apply(event)
            reached = class_of(execution.state)
            assert classes.setdefault(int(found.edges.targets[edge]), reached) == reached
    assert len(set(classes.values())) == len(classes)
    assert len(played) == found.size


def test_the_graph_has_an_edge_for_each_state_and_event_that_is_not_enabled() -> None:
    found = of("kip-320", SMALL, refused=True)
    for tour in list(found.tours(found.refused, nothing(found)))[:50]:
        execution = Execution(parse_protocol("kip-320"), SMALL)
        assert tuple(execution.apply(event) for event in tour.events) == tour.applies
    states, alphabet = found.edges.nodes, Execution(parse_protocol("kip-320"), SMALL).alphabet()
    assert found.size == states * len(alphabet)


def test_no_test_sequence_needs_an_excluded_transition() -> None:
    found = of("kip-320", SMALL)
    from_the_start = found.edges.sources == 0
    without = from_the_start & (found.events != found.events[0])
    for tour in found.tours(~nothing(found), without):
        assert not without[list(tour.edges)].any()
    assert not found.reached(from_the_start).any()


def test_no_reached_transition_uses_a_verb_that_the_adapter_lacks() -> None:
    found = of("kip-320", SMALL, verbs=("produce", "fetch", "receive"))
    reached = found.reached(nothing(found))
    assert 0 < reached.sum() < 20
    assert {event >> 3 for event in found.events[reached].tolist()} == {0, 1, 2}


def test_a_test_sequence_covers_every_reachable_edge_and_takes_loops_first() -> None:
    edges = Edges(4, np.array([0, 0, 1, 1, 2, 3], np.int32), np.array([1, 2, 1, 0, 2, 3], np.int32))
    everything = np.ones(6, bool)
    tours = [tour.tolist() for tour in Reach(edges, everything).tours(everything)]
    assert tours == [[0, 2, 3, 1, 4]]


def test_a_long_path_is_split_into_several_test_sequences() -> None:
    nodes = 500
    edges = Edges(nodes, np.arange(nodes, dtype=np.int32), (np.arange(nodes, dtype=np.int32) + 1) % nodes)
    tours = list(Reach(edges, np.ones(nodes, bool)).tours(np.ones(nodes, bool)))
    assert [len(tour) for tour in tours] == [200, 400, 500]


def test_transitions_end_with_an_error_if_memory_runs_out() -> None:
    with pytest.raises(MemoryEnded, match="the search needs more"):
        transitions(parse_protocol("kip-320"), Configuration(replicas=3, records=1, epochs=1), memory=1 << 18)


def test_transitions_detect_two_states_with_equal_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    def poor(keys: Any, rows: Any) -> Any:
        return hash_of(keys, rows) & np.uint64(0xFF)

    monkeypatch.setattr("epochfuzz.harness.engine.explore.transitions.hash_of", poor)
    with pytest.raises(Ambiguous, match="other bounds"):
        transitions(parse_protocol("kip-320"), SMALL)
