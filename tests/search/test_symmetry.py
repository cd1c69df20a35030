"""Replicas are interchangeable: searches rely on this, so these tests check every protocol event by event."""

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
    """Yield states that random schedules reach, each with new names for its replicas."""
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
def test_a_renaming_of_replicas_commutes_with_events_under_each_named_protocol(protocol: Protocol) -> None:
    check_replicas_are_alike(protocol, 15)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(30))
def test_a_renaming_of_replicas_commutes_with_events_under_any_mechanisms(seed: int) -> None:
    draw = Random(seed)
    choices = tuple(draw.randrange(len(choices)) for choices in MECHANISMS.values())
    check_replicas_are_alike(Protocol(f"protocol {seed}", choices), 2)


def test_an_asymmetric_mutant_is_detected_and_mutants_are_searched_without_symmetry() -> None:
    (defect,) = (defect for defect in DEFECTS if defect.name == "preferred-replica-elected-outside-isr")
    with pytest.raises(AssertionError):
        check_replicas_are_alike(defect.broken_protocol, 50)
    assert not any(is_symmetric(LOSS, [defect.broken_protocol], Configuration()) for defect in DEFECTS)
    assert not is_symmetric(LOSS, [GENERATIONS["hw"]], Configuration(controllers=2))
    assert all(is_symmetric(LOSS, [protocol], Configuration()) for protocol in NAMED.values())


def test_renaming_a_state_and_back_restores_the_state() -> None:
    for execution, names in executions(GENERATIONS["kip-320"], 50):
        back = tuple(names.index(r) for r in range(len(names)))
        assert values(renamed(renamed(execution.state, names), back)) == values(execution.state)


def class_key(p: Partition) -> tuple[int, ...]:
    """Return the canonical key of a state, from the interpreted parts of the kernel."""
    layout = packing.layout_for([p])
    tables = symmetry.renaming_for(layout, p.replicas, True).tables
    record, key = p.to_record().reshape(1), np.zeros(layout.words, np.int64)
    views = (record.view(np.int8), record.view(np.int64))
    packing_tables = (layout.words, layout.bytes_table, layout.words_table)
    assert expansion.pack(views, 0, packing_tables, tables, symmetry.room(tables, layout.words), key) == 0
    return tuple(key.tolist())


@pytest.mark.thorough
@pytest.mark.parametrize("protocol", [pytest.param(each, id=each.name) for each in GENERATIONS.values()])
def test_states_that_differ_only_in_replica_names_have_one_key(protocol: Protocol) -> None:
    for execution, _ in executions(protocol, 8):
        p = execution.state
        assert {class_key(renamed(p, names)) for names in permutations(range(p.replicas))} == {class_key(p)}


def test_the_key_of_a_class_is_the_key_of_a_state_in_that_class() -> None:
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
def test_a_search_with_symmetry_reaches_the_verdict_of_a_search_without_symmetry(
    protocol: str, settings: Configuration, depth: int | None, property_: str
) -> None:
    wanted = properties.named(property_).bit
    found = explore(parse_protocol(protocol), settings, wanted, depth)
    whole = explore(parse_protocol(protocol), settings, wanted, depth, symmetric=False)
    assert verdict(found) == verdict(whole)
    assert found.states < whole.states or settings.replicas == 2


def test_a_search_for_convergence_uses_no_symmetry() -> None:
    """After all faults have stopped, the model prefers the first replica, so replicas are not interchangeable."""
    settings = Configuration(replicas=3, records=1, epochs=1)
    convergence = properties.named("convergence").bit
    found = explore(GENERATIONS["kip-320"], settings, convergence, depth=8)
    whole = explore(GENERATIONS["kip-320"], settings, convergence, depth=8, symmetric=False)
    assert (found.states, found.transitions) == (whole.states, whole.transitions)


@pytest.mark.thorough
@pytest.mark.parametrize("symmetric", [True, False])
def test_the_result_of_a_search_does_not_depend_on_the_number_of_threads(symmetric: bool) -> None:
    for protocol, wanted in (("hw", LOSS), ("kip-101", 0)):
        settings = Configuration(replicas=3, records=1, epochs=2)
        alone, *others = (
            explore(GENERATIONS[protocol], settings, wanted, 11, jobs=jobs, symmetric=symmetric) for jobs in (1, 2, 5)
        )
        assert [alone, alone] == others
