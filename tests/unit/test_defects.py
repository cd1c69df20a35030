"""The broken set: every defect planted in a copy of the model, and what complete search has proven of it."""

import ast

import pytest

from epochfuzz.harness.defects import DEFECTS, PROTOCOL_DEFECTS, planted
from epochfuzz.harness.defects.defect import Defect
from epochfuzz.harness.defects.proofs import broken_by, judged, proofs, prove, undetectable
from epochfuzz.harness.search.walk import Walker
from epochfuzz.harness.witness.replay import replay
from epochfuzz.model import properties, state
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.events import parse_schedule
from epochfuzz.model.protocols import parse_protocol
from epochfuzz.model.step import step

DETECTABLE = [defect for defect in PROTOCOL_DEFECTS if defect.name in proofs()]
QUICKLY_SEARCHED = [defect for defect in DETECTABLE if len(proofs()[defect.name].shortest) <= 3]


def names(defects):
    return [defect.name for defect in defects]


def planted_start(text, settings):
    protocol = planted.module("model.protocols").parse_protocol(text)
    return planted.module("model.state").initial(protocol, settings)


def test_every_defect_is_proven_detectable_or_not():
    assert sorted([*proofs(), *undetectable()]) == sorted(names(PROTOCOL_DEFECTS))
    assert all(undetectable().values())


def test_at_least_forty_are_detectable():
    assert len(DETECTABLE) >= 40


def test_no_two_defects_have_one_name_or_one_change():
    assert len(set(names(DEFECTS))) == len(DEFECTS)
    assert len({(defect.module, defect.right, defect.wrong) for defect in DEFECTS}) == len(DEFECTS)


@pytest.mark.parametrize("defect", DETECTABLE, ids=lambda defect: defect.name)
def test_the_shortest_schedule_breaks_the_property_by_its_last_event_and_nothing_without_the_defect(defect):
    proof = proofs()[defect.name]
    run = replay(proof.shortest, parse_protocol(defect.protocol), proof.settings)
    assert not judged(defect, proof.settings) & sum(properties.named(name).bit for name in run.broken)
    assert proof.property == broken_by(defect, proof.settings, proof.shortest)[0]
    for end in range(len(proof.shortest)):
        assert broken_by(defect, proof.settings, proof.shortest[:end]) == []


@pytest.mark.parametrize("defect", DETECTABLE, ids=lambda defect: defect.name)
def test_every_event_of_the_shortest_schedule_is_enabled(defect):
    proof = proofs()[defect.name]
    p = planted_start(planted.protocol_text(defect), proof.settings)
    assert all(planted.module("model.step").step(p, event) for event in proof.shortest)


@pytest.mark.parametrize("defect", QUICKLY_SEARCHED, ids=lambda defect: defect.name)
def test_no_shorter_schedule_shows_the_defect(defect):
    proof = proofs()[defect.name]
    alphabet = proof.settings.alphabet()
    shorter = [b""]
    for _ in range(len(proof.shortest) - 1):
        shorter = [schedule + bytes([event]) for schedule in shorter for event in alphabet]
        assert not any(broken_by(defect, proof.settings, schedule) for schedule in shorter)


@pytest.mark.slow
@pytest.mark.parametrize("defect", PROTOCOL_DEFECTS, ids=lambda defect: defect.name)
def test_complete_search_proves_again_what_is_written_down(defect):
    found, written = prove(defect), proofs().get(defect.name)
    assert (found is None) == (written is None)
    if found is not None and written is not None:
        assert len(found.shortest) == len(written.shortest)
        assert (found.settings, found.property, found.unbounded) == (
            written.settings, written.property, written.unbounded,
        )  # fmt: skip


@pytest.mark.parametrize("name", ["hw", "kip-320"])
def test_the_planted_copy_without_a_defect_is_the_model(name):
    settings = Configuration(replicas=3, unclean_leader_election=True, power_loss=True, asynchronous_checkpoint=True)
    protocol = parse_protocol(name)
    copied_step = planted.module("model.step").step
    for number in range(20):
        p, copied = state.initial(protocol, settings), planted_start(name, settings)
        for event in Walker([protocol], settings, 7).schedule(number):
            assert step(p, event) == copied_step(copied, event)
        assert all(getattr(p, field.name) == getattr(copied, field.name) for field in state.FIELDS)


RULE = '''
def fetch(p, r):
    """A rule."""
    return p.leo[r] + 1

def other(p):
    return 0
'''


def planted_rule():
    off_by_two = Defect("off-by-two", "it adds two", "rule", "p.leo[r] + 1", "p.leo[r] + 2")
    forgets = Defect("forgets", "it adds nothing", "rule", "    return p.leo[r] + 1\n", "    return p.leo[r]\n")
    return planted.plant(RULE, [(4, off_by_two), (9, forgets)])


@pytest.mark.parametrize(("defect", "expected"), [(0, 11), (4, 12), (9, 10)])
def test_a_planted_rule_is_wrong_only_under_its_defect(defect, expected):
    class P:
        leo = (10,)

    p, rules = P(), {}
    p.defect = defect
    exec(planted_rule(), rules)
    assert rules["fetch"](p, 0) == expected


def test_a_rule_without_defects_is_left_as_it_was():
    functions = {node.name: ast.unparse(node) for node in ast.parse(planted_rule()).body}
    assert functions["other"] == "def other(p):\n    return 0"


def test_a_defect_whose_rule_is_gone_is_refused():
    gone = Defect("gone", "a rule of long ago", "isr", "a rule that is not there", "")
    with pytest.raises(ValueError, match=r"gone: model/isr\.py has no rule 'a rule that is not there'"):
        planted.plant(RULE, [(1, gone)])


def test_a_schedule_that_shows_a_defect_shrinks_within_the_planted_copy():
    defect = next(each for each in DETECTABLE if each.name == "no-truncation")
    proof = proofs()[defect.name]
    protocol = planted.protocol(defect)
    longer = parse_schedule(["fetch B", "receive B", "shrink B"]) + proof.shortest
    wanted = judged(defect, proof.settings)
    shrunk = planted.module("harness.search.shrink").shrink(longer, protocol, Configuration(), wanted)
    assert len(shrunk) == len(proof.shortest)
