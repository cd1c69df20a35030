"""The mutants: the rules that they replace, and the shortest schedules that exhaustive search has proven."""

import ast
import inspect
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from epochfuzz.harness.engine.shrink.shrink import shrink
from epochfuzz.harness.engine.walk import generate
from epochfuzz.harness.lab.mutants import DEFECTS, PROTOCOL_DEFECTS
from epochfuzz.harness.lab.mutants import mutant as defect_module
from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.harness.lab.mutants.partition import membership
from epochfuzz.harness.lab.mutants.partition import wrong_truncation as truncation
from epochfuzz.harness.lab.mutants.proofs import broken_by, judged, proofs, prove, undetectable
from epochfuzz.harness.trace.replay import replay
from epochfuzz.model.core import specializer
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary import state
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS
from epochfuzz.model.kafka.vocabulary.state import State

DETECTABLE = [mutant for mutant in PROTOCOL_DEFECTS if mutant.name in proofs()]
EVERY_FAULT = Configuration(
    replicas=3, unclean_leader_election=True, power_loss=True, asynchronous_checkpoint=True, records_per_fetch=2
)
SCHEDULES = [generate.schedule(7, number, generate.deck_for(KAFKA, EVERY_FAULT)) for number in range(10)]
QUICKLY_SEARCHED = [mutant for mutant in DETECTABLE if len(proofs()[mutant.name].shortest) <= 3]


def names(defects):
    return [mutant.name for mutant in defects]


def test_every_mutant_is_proven_detectable_or_listed_as_undetectable():
    assert sorted([*proofs(), *undetectable()]) == sorted(names(PROTOCOL_DEFECTS))
    assert all(undetectable().values())


def test_at_least_40_mutants_are_detectable():
    assert len(DETECTABLE) >= 40


def test_no_two_mutants_have_the_same_name_or_the_same_change():
    assert len(set(names(DEFECTS))) == len(DEFECTS)
    codes = [(rule, wrong.__code__) for mutant in DEFECTS for rule, wrong in mutant.mistaken.items()]
    changes = {(rule, code.co_code, code.co_consts, code.co_names) for rule, code in codes}
    assert len(changes) == len(codes)


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", DETECTABLE, ids=lambda mutant: mutant.name)
def test_the_last_event_of_a_shortest_schedule_breaks_a_property_only_under_the_mutant(mutant):
    proof = proofs()[mutant.name]
    sound = replay(proof.shortest, mutant.sound_protocol, proof.settings)
    assert not judged(mutant, proof.settings) & properties.set_of(sound.broken)
    assert proof.property == broken_by(mutant, proof.settings, proof.shortest)[0]
    for end in range(len(proof.shortest)):
        assert broken_by(mutant, proof.settings, proof.shortest[:end]) == []


@pytest.mark.parametrize("mutant", DETECTABLE, ids=lambda mutant: mutant.name)
def test_every_event_of_the_shortest_schedule_is_enabled(mutant):
    proof = proofs()[mutant.name]
    execution = Execution(mutant.broken_protocol, proof.settings)
    assert all(execution.apply(event) for event in proof.shortest)


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", QUICKLY_SEARCHED, ids=lambda mutant: mutant.name)
def test_no_shorter_schedule_detects_the_mutant(mutant):
    proof = proofs()[mutant.name]
    alphabet = proof.settings.alphabet()
    shorter = [b""]
    for _ in range(len(proof.shortest) - 1):
        shorter = [schedule + bytes([event]) for schedule in shorter for event in alphabet]
        assert not any(broken_by(mutant, proof.settings, schedule) for schedule in shorter)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", PROTOCOL_DEFECTS, ids=lambda mutant: mutant.name)
def test_exhaustive_search_reproduces_the_recorded_proofs(mutant):
    found, written = prove(mutant), proofs().get(mutant.name)
    assert (found is None) == (written is None)
    if found is not None and written is not None:
        assert len(found.shortest) == len(written.shortest)
        assert (found.settings, found.property, found.unbounded) == (
            written.settings, written.property, written.unbounded,
        )  # fmt: skip


@pytest.mark.parametrize("mutant", DEFECTS, ids=lambda mutant: mutant.name)
def test_the_function_of_a_mutant_has_the_signature_of_the_rule(mutant):
    assert mutant.mistaken
    for rule, mistaken in mutant.mistaken.items():
        assert inspect.signature(mistaken) == inspect.signature(rule)


def test_a_mutant_has_the_name_of_its_function_and_lists_the_replaced_rules():
    assert membership.isr_joined_at_once.name == "isr-joined-at-once"
    assert membership.isr_joined_at_once.rules == ["model/kafka/partition/isr.py: why_not_caught_up"]
    assert membership.isr_joined_at_once.broken_protocol.name == "kip-320:defect=isr-joined-at-once"


def test_the_number_of_a_mutant_is_its_position_in_the_list():
    assert [mutant.number for mutant in DEFECTS] == [*range(1, len(DEFECTS) + 1)]


def run(step, p, schedule):
    """Run a schedule. Returns the result of each event, and the final state."""
    answers = [step(p, event) for event in schedule]
    return answers, [getattr(p, field.name) for field in state.VARIABLES]


def alone(protocol, schedule):
    return run(specializer.interpreted(protocol).step, state.initial(protocol, EVERY_FAULT), schedule)


def linked(root, constants=None, **options):
    """Return a function as the specializer links it."""
    namespace: dict[str, Any] = {}
    for each in specializer.specialize([root], constants or {}, **options):
        exec(compile(ast.Module([each.node], []), "<linked>", "exec"), namespace)
    return namespace[specializer.flat_name(root)]


@pytest.mark.slow
def test_the_program_with_all_mutants_runs_each_protocol_as_its_own_program_does():
    together = linked(step, with_defects=True)
    for protocol in [*GENERATIONS.values(), *(mutant.broken_protocol for mutant in DEFECTS)]:
        for schedule in SCHEDULES:
            assert run(together, state.initial(protocol, EVERY_FAULT), schedule) == alone(protocol, schedule)


@pytest.mark.parametrize("name", GENERATIONS)
def test_a_specialized_protocol_without_a_mutant_behaves_as_the_model(name):
    for schedule in SCHEDULES:
        sound = run(step, state.initial(GENERATIONS[name], EVERY_FAULT), schedule)
        assert alone(GENERATIONS[name], schedule) == sound


def texts(**constants):
    """Return the functions of a protocol's program, by name."""
    roots = (step, properties.broken_now, properties.non_convergence)
    return {each.name: ast.unparse(each.node) for each in specializer.specialize(roots, constants)}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "defects", [pytest.param(DEFECTS[::8], id="some"), pytest.param(DEFECTS, id="all", marks=pytest.mark.slow)]
)
def test_a_mutant_changes_only_the_rules_that_it_replaces(defects):
    sound = texts(defect=0)
    for mutant in defects:
        broken = texts(defect=mutant.number)
        changed = {name for name in sound.keys() & broken.keys() if sound[name] != broken[name]}
        assert changed == {specializer.flat_name(rule) for rule in mutant.mistaken}


def offset(p: State, r: int) -> int:
    """A rule."""
    return p.leo[r] + 1


def double(p: State, r: int) -> int:
    """Another rule."""
    return 2 * offset(p, r)


@pytest.fixture
def nothing_planted(monkeypatch):
    """Start without mutants, and forget the mutants of the test afterwards."""
    monkeypatch.setattr(specializer, "_planted", {})
    monkeypatch.setattr(defect_module, "_names", set())


def both_ways(root, mutant):
    """Return the result of a rule, linked for a protocol with the mutant, and linked for all protocols."""
    p = SimpleNamespace(leo=(10,), defect=mutant)
    return linked(root, {"defect": mutant})(p, 0), linked(root, with_defects=True)(p, 0)


@pytest.mark.usefixtures("nothing_planted")
def test_a_mutant_replaces_a_rule_only_in_its_own_protocol_and_may_call_the_rule():
    @in_place_of(offset, "it adds two")
    def adds_two(p: State, r: int) -> int:
        return offset(p, r) + 1

    @in_place_of(offset, "it adds nothing")
    def adds_nothing(p: State, r: int) -> int:
        return p.leo[r]

    adds_two.plant(4)
    adds_nothing.plant(9)
    assert [both_ways(double, mutant) for mutant in (0, 4, 9)] == [(22, 22), (24, 24), (20, 20)]
    assert double(SimpleNamespace(leo=(10,)), 0) == 22


@pytest.mark.usefixtures("nothing_planted")
def test_a_mutant_may_replace_two_rules():
    @in_place_of(offset, "it adds two, and three times that")
    def three_times_two(p: State, r: int) -> int:
        return offset(p, r) + 1

    @three_times_two.and_in_place_of(double)
    def _(p: State, r: int) -> int:
        return 3 * offset(p, r)

    three_times_two.plant(4)
    assert [both_ways(double, mutant) for mutant in (0, 4)] == [(22, 22), (36, 36)]
    assert [rule.partition(": ")[2] for rule in three_times_two.rules] == ["offset", "double"]


@pytest.mark.usefixtures("nothing_planted")
def test_declaring_a_mutant_with_another_signature_raises_an_error():
    with pytest.raises(TypeError, match=r"forgets\(p: Any\) -> int cannot stand for offset"):

        @in_place_of(offset, "it has no argument r")  # type: ignore[arg-type]
        def forgets(p: State) -> int:
            return 0


@pytest.mark.usefixtures("nothing_planted")
def test_a_mutant_needs_a_unique_name_and_replaces_a_rule_only_once():
    def adds_two(p: State, r: int) -> int:
        return offset(p, r) + 1

    declared = in_place_of(offset, "it adds two")(adds_two)
    with pytest.raises(ValueError, match="two defects are called adds-two"):
        in_place_of(double, "it adds two")(adds_two)
    with pytest.raises(ValueError, match="adds-two has two functions in place of offset"):
        declared.and_in_place_of(offset)(adds_two)


def test_specializing_a_protocol_with_an_unknown_mutant_raises_an_error():
    with pytest.raises(specializer.CannotSpecialize, match="no defect has the number 1000"):
        specializer.interpreted(replace(GENERATIONS["kip-320"], defect=1000))


# Adds a mechanism, as a developer would. Then checks some of the proofs, and the program with all mutants.
WITH_ONE_MORE_MECHANISM = """
from epochfuzz.model.kafka.vocabulary import mechanisms

class Leases(mechanisms.Choice):
    NONE = 0, "no leader has a lease"
    READ = 1, "a leader has one"

mechanisms.MECHANISMS["leases"] = Leases

from epochfuzz.harness.lab.mutants import DEFECTS, PROTOCOL_DEFECTS
from epochfuzz.harness.lab.mutants.proofs import broken_by, proofs
from epochfuzz.model.core import specializer
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.step import step

assert parse_protocol("kip-320:leases=read").choices[-1] == Leases.READ
for defect in PROTOCOL_DEFECTS[::5]:
    if proof := proofs().get(defect.name):
        assert broken_by(defect, proof.settings, proof.shortest)[0] == proof.property
names = {each.name for each in specializer.specialize([step, properties.broken_now], with_defects=True)}
for defect in DEFECTS:
    for rule in defect.mistaken:
        assert f"{specializer.flat_name(rule)}_with_defect_{defect.number}" in names
print("as before")
"""


@pytest.mark.thorough
def test_an_additional_mechanism_does_not_affect_the_mutants():
    ended = subprocess.run([sys.executable, "-c", WITH_ONE_MORE_MECHANISM], capture_output=True, text=True, timeout=300)
    assert (ended.stdout, ended.stderr) == ("as before\n", "")


def test_shrink_reduces_a_schedule_that_detects_a_mutant_to_the_shortest_length():
    mutant = truncation.no_truncation
    proof = proofs()[mutant.name]
    longer = parse_schedule(["fetch B", "receive B", "shrink B"]) + proof.shortest
    wanted = judged(mutant, proof.settings)
    shrunk = shrink(longer, mutant.broken_protocol, Configuration(), wanted)
    assert len(shrunk) == len(proof.shortest)
