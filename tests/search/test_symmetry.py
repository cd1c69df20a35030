"""Replicas are interchangeable: searches rely on it, so every protocol is held to it, event by event."""

from collections.abc import Iterator
from itertools import permutations
from random import Random

import numpy as np
import pytest

from epochfuzz.harness.engine.explore import expansion
from epochfuzz.harness.engine.explore.explore import Exploration, explore
from epochfuzz.harness.engine.keys import packing, symmetry
from epochfuzz.harness.engine.walk import generate
from epochfuzz.harness.lab.mutants import DEFECTS
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.permutation import renamed
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.controller.controller import forget_superseded
from epochfuzz.model.kafka.kafka_model import KAFKA, is_symmetric
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import renamed_event
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, NAMED, Protocol, parse_protocol
from epochfuzz.model.kafka.vocabulary.state import VARIABLES, Partition


@pytest.fixture(autouse=True)
def parts_of_kernels_run_as_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "MODEL", KAFKA)


LOSS = properties.named("no-committed-loss").bit


def settings_of(draw: Random) -> Configuration:
    replicas = draw.choice((2, 3, 3, 4))
    return Configuration(
        replicas=replicas,
        acks=draw.choice(("1", "all", "all")),
        min_insync_replicas=draw.randint(1, replicas),
        power_loss=draw.random() < 0.5,
        asynchronous_checkpoint=draw.random() < 0.5,
        unclean_leader_election=draw.random() < 0.5,
        lag_time=draw.random() < 0.5,
        delayed_fetch=draw.random() < 0.5,
        records_per_fetch=draw.choice((1, 1, 2)),
    )


def executions(protocol: Protocol, how_many: int) -> Iterator[tuple[Execution, tuple[int, ...]]]:
    """States that schedules lead to, each with other names for its replicas."""
    draw = Random(protocol.name)
    for number in range(how_many):
        settings = settings_of(draw)
        schedule = generate.schedule(number, 0, generate.deck_for(KAFKA, settings, [protocol]))
        execution = Execution(protocol, settings, schedule[: draw.randrange(100)])
        forget_superseded(execution.state)
        yield execution, tuple(draw.sample(range(settings.replicas), settings.replicas))


def values(p: Partition) -> dict[str, object]:
    return {field.name: getattr(p, field.name) for field in VARIABLES}


def check_replicas_are_alike(protocol: Protocol, how_many: int) -> None:
    for execution, names in executions(protocol, how_many):
        other = execution.copy()
        other.state = renamed(execution.state, names)
        assert other.broken() == execution.broken()
        for event in execution.alphabet():
            after, other_after = execution.copy(), other.copy()
            assert after.apply(event) == other_after.apply(renamed_event(event, names)), event
            assert values(other_after.state) == values(renamed(after.state, names)), event


@pytest.mark.thorough
@pytest.mark.parametrize("protocol", [pytest.param(each, id=each.name) for each in NAMED.values()])
def test_what_an_event_does_it_does_to_renamed_replicas(protocol: Protocol) -> None:
    check_replicas_are_alike(protocol, 15)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(30))
def test_it_does_so_whatever_mechanisms_a_protocol_has(seed: int) -> None:
    draw = Random(seed)
    choices = tuple(draw.randrange(len(choices)) for choices in MECHANISMS.values())
    check_replicas_are_alike(Protocol(f"protocol {seed}", choices), 2)


def test_a_mistake_that_treats_replicas_unlike_is_noticed_and_defects_are_searched_without_symmetry() -> None:
    (defect,) = (defect for defect in DEFECTS if defect.name == "preferred-replica-elected-outside-isr")
    with pytest.raises(AssertionError):
        check_replicas_are_alike(defect.broken_protocol, 50)
    assert not any(is_symmetric(LOSS, [defect.broken_protocol], Configuration()) for defect in DEFECTS)
    assert not is_symmetric(LOSS, [GENERATIONS["hw"]], Configuration(controllers=2))
    assert all(is_symmetric(LOSS, [protocol], Configuration()) for protocol in NAMED.values())


def test_renamed_back_a_state_is_what_it_was() -> None:
    for execution, names in executions(GENERATIONS["kip-320"], 50):
        back = tuple(names.index(r) for r in range(len(names)))
        assert values(renamed(renamed(execution.state, names), back)) == values(execution.state)


def class_key(p: Partition) -> tuple[int, ...]:
    """The canonical key of a state, by the parts of the kernel, run as they are written."""
    layout = packing.layout_for([p])
    tables = symmetry.renaming_for(layout, p.replicas, True).tables
    record, key = p.to_record().reshape(1), np.zeros(layout.words, np.int64)
    views = (record.view(np.int8), record.view(np.int64))
    packing_tables = (layout.words, layout.bytes_table, layout.words_table)
    assert expansion.pack(views, 0, packing_tables, tables, symmetry.room(tables, layout.words), key) == 0
    return tuple(key.tolist())


@pytest.mark.thorough
@pytest.mark.parametrize("protocol", [pytest.param(each, id=each.name) for each in GENERATIONS.values()])
def test_states_have_one_key_where_they_differ_in_names_only(protocol: Protocol) -> None:
    for execution, _ in executions(protocol, 8):
        p = execution.state
        assert {class_key(renamed(p, names)) for names in permutations(range(p.replicas))} == {class_key(p)}


def test_the_key_of_a_class_is_that_of_a_state_of_it() -> None:
    for execution, _ in executions(GENERATIONS["kip-320"], 20):
        p = execution.state
        layout = packing.layout_for([p])
        record = p.to_record().reshape(1)
        key = np.array(class_key(p), np.int64)
        for kind, table in ((np.int8, layout.bytes_table), (np.int64, layout.words_table)):
            packing.unpack_part(key, 0, table, layout.words, record.view(kind), 0)
        read = [field.name for field in VARIABLES if field.read(p)]
        stands_for_it = values(Partition.from_record(record[0]))
        same = [renamed(p, names) for names in permutations(range(p.replicas))]
        assert any(all(stands_for_it[name] == values(each)[name] for name in read) for each in same)


def verdict(found: Exploration) -> tuple[bool, int | None]:
    return found.complete, None if found.shortest is None else len(found.shortest)


@pytest.mark.thorough
@pytest.mark.parametrize("property_", ["no-committed-loss", "no-divergence", "isr-complete"])
@pytest.mark.parametrize(
    ("protocol", "settings", "depth"),
    [
        ("hw", Configuration(replicas=2, records=2, epochs=2), None),
        ("kip-101", Configuration(replicas=2, records=2, epochs=3), None),
        ("kip-320", Configuration(replicas=2, records=2, epochs=2), None),
        ("hw", Configuration(replicas=3, records=1, epochs=1), None),
        ("kip-320:isr_expansion=high_watermark", Configuration(replicas=3, records=1, epochs=2), 12),
        ("kip-320", Configuration(replicas=4, records=1, epochs=1), 9),
    ],
)
def test_a_search_of_classes_comes_to_the_same(
    protocol: str, settings: Configuration, depth: int | None, property_: str
) -> None:
    wanted = properties.named(property_).bit
    found = explore(parse_protocol(protocol), settings, wanted, depth)
    whole = explore(parse_protocol(protocol), settings, wanted, depth, symmetric=False)
    assert verdict(found) == verdict(whole)
    assert found.states < whole.states or settings.replicas == 2


def test_convergence_is_sought_without_symmetry_for_healing_prefers_the_first_replica() -> None:
    settings = Configuration(replicas=3, records=1, epochs=1)
    convergence = properties.named("convergence").bit
    found = explore(GENERATIONS["kip-320"], settings, convergence, depth=8)
    whole = explore(GENERATIONS["kip-320"], settings, convergence, depth=8, symmetric=False)
    assert (found.states, found.transitions) == (whole.states, whole.transitions)


@pytest.mark.thorough
@pytest.mark.parametrize("symmetric", [True, False])
def test_threads_change_nothing_that_a_search_finds(symmetric: bool) -> None:
    for protocol, wanted in (("hw", LOSS), ("kip-101", 0)):
        settings = Configuration(replicas=3, records=1, epochs=2)
        alone, *others = (
            explore(GENERATIONS[protocol], settings, wanted, 11, jobs=jobs, symmetric=symmetric) for jobs in (1, 2, 5)
        )
        assert [alone, alone] == others
