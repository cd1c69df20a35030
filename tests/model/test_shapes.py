"""Shapes of replicas: independent of replica names and of the number of records that all replicas have."""

from itertools import permutations

import pytest

from epochfuzz.harness.conform.run.selection import Selection, schedule
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.permutation import renamed
from epochfuzz.model.kafka.contract.replica_abstraction import shape
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.state import Partition

SETTINGS = Configuration(replicas=3)
REPLICATED = [
    "produce A",
    "fetch B",
    "fetch C",
    "receive B",
    "receive C",
    "fetch B",
    "fetch C",
    "receive B",
    "receive C",
]


def after(*events: str, protocol: str = "kip-320") -> Partition:
    state: Partition = Execution(parse_protocol(protocol), SETTINGS, parse_schedule(events)).state
    return state


def shapes(p: Partition) -> list[int]:
    return [shape(p, r) for r in range(p.replicas)]


@pytest.mark.parametrize("protocol", ["kip-320", "kafka-2.8.1", "kafka-4.1"])
def test_a_shape_is_independent_of_replica_names_and_fits_in_62_bits(protocol: str) -> None:
    execution = Execution(parse_protocol(protocol), SETTINGS)
    for event in schedule(Selection.RANDOM, parse_protocol(protocol), SETTINGS, 1, 2):
        if execution.apply(event):
            p = execution.state
            for names in permutations(range(3)):
                other = renamed(p, names)
                assert [shape(other, names[r]) for r in range(3)] == shapes(p)
            assert all(0 <= each < 1 << 62 for each in shapes(p))


def test_a_record_that_all_replicas_have_does_not_change_shapes() -> None:
    assert shapes(after(*REPLICATED)) == shapes(after(*REPLICATED, *REPLICATED))
    assert shapes(after(*REPLICATED)) != shapes(after(*REPLICATED[:-1]))


def test_a_shape_shows_how_a_replica_differs_from_the_others() -> None:
    state, behind = after(*REPLICATED), after(*REPLICATED, "produce A")
    led_by_b = after(*REPLICATED, "elect B")
    assert shape(state, 1) != shape(behind, 1)
    assert shape(state, 1) != shape(led_by_b, 1)
    assert shape(led_by_b, 0) != shape(led_by_b, 2)  # C does not consider itself the leader
