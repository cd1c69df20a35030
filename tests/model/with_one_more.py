"""What the project makes of a verb and a property that it does not have, run in a copy of it that declares both.

test_declared_facts.py makes the copy. Nothing here is written for either name: what is asked follows from what their
declarations say.
"""

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from epochfuzz.harness.campaign.machines.replication import _JUDGED
from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.conform.oracle.healing import heal
from epochfuzz.harness.conform.oracle.judge import FIELDS, JudgedBy
from epochfuzz.harness.conform.oracle.lockstep import LockStep, comparable
from epochfuzz.harness.conform.oracle.promises import Promises
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.engine.walk import generate
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.harness.reference import explain, releases
from epochfuzz.harness.trace.replay import replay
from epochfuzz.harness.views import conformance as report
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, in_order, parse_event, parse_schedule, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.strategies.machine import LASTING, replication_machine

PROTOCOL = parse_protocol("kip-320")
SETTINGS = Configuration(replicas=2, records=1, epochs=2)
VERB = [*Verb][-1]
PROPERTY = next(each for each in properties.PROPERTIES if each.name == "nothing-written")
EVENT = parse_event(f"{VERB.text} A")
WRITTEN = parse_schedule(["produce A"])


def test_the_verb_is_in_the_alphabet_and_is_drawn_by_the_walk_and_by_strategies():
    assert EVENT in SETTINGS.alphabet()
    deck = generate.deck_for(KAFKA, SETTINGS, [PROTOCOL])
    assert any(EVENT in generate.schedule(1, number, deck) for number in range(20))
    assert EVENT in in_order(SETTINGS.alphabet())
    assert hasattr(replication_machine("kip-320", settings=SETTINGS), VERB.text)


def test_its_step_is_told_in_the_words_of_its_declaration():
    run = replay([EVENT], PROTOCOL, SETTINGS)
    assert VERB.meaning in run.scenes[1].sentence
    assert VERB.meaning.rstrip() in explain.find(VERB.text).means.lower()


def test_subjects_may_name_it_and_its_schema_says_so():
    wire.check_verbs([VERB.text])
    assert VERB.text in json.dumps(wire.schema())


@pytest.mark.parametrize("judge", [LockStep, Promises])
def test_it_is_not_sent_beyond_the_bound_on_epochs_which_it_raises(judge):
    judging = judge(PROTOCOL, SETTINGS)
    model = Execution(PROTOCOL, SETTINGS)
    for _ in range(SETTINGS.epochs):
        assert judging.advance(EVENT)
        assert model.apply(EVENT)
        assert not [
            fault for fault in judging.judge(EVENT, True, comparable(model.state)) if fault.kind == "difference"
        ]
    assert not judging.advance(EVENT)


class Remembering:
    """A subject that shows a healthy partition, and remembers what it is sent."""

    def __init__(self):
        self.model = Execution(PROTOCOL, SETTINGS)
        self.sent = []

    def apply(self, event):
        self.sent.append(event)
        return False

    def observe(self):
        return comparable(self.model.state)


def test_healing_sends_it_when_its_declaration_says():
    class Setting:
        settings = SETTINGS
        alphabet = SETTINGS.alphabet

    subject = Remembering()
    heal(cast(Any, subject), cast(Any, Setting), ["notify", "restart", VERB.text])
    assert subject.sent[:4] == ["restart A", "restart B", f"{VERB.text} A", f"{VERB.text} B"]


def test_the_property_is_judged_by_replay_walk_complete_search_and_state_machines():
    assert replay(WRITTEN, PROTOCOL, SETTINGS).first_broken == {PROPERTY.name: 1}
    tally = Walker([PROTOCOL], SETTINGS, 1).walk(0, 20)
    assert np.asarray(tally.failures)[0, PROPERTY.number].sum() > 0
    assert explore(PROTOCOL, SETTINGS, PROPERTY.bit, depth=2, jobs=1).shortest == WRITTEN
    assert PROPERTY.name in LASTING
    assert set(properties.NAMES) == {name for judged in _JUDGED for name in judged}


def test_it_gives_way_as_its_declaration_says():
    assert PROPERTY.name in properties.permitted(Configuration(acks="1"))
    assert PROPERTY.name not in properties.permitted(Configuration())


def test_a_case_may_expect_it(tmp_path: Path):
    file = tmp_path / "written.yaml"
    file.write_text(
        f"schema: 1\nid: written\nwhy: a record is written\nevents: [produce A]\n"
        f"expect: {{kip-320: {{broken: [{PROPERTY.name}], at: 1}}}}\n"
    )
    assert load_case(file).expect["kip-320"].broken == (PROPERTY.name,)


def test_conform_says_whether_it_could_be_judged_and_for_want_of_which_fields():
    plan = Plan(("none",), [PROTOCOL], SETTINGS, 1, 1, judged_by=JudgedBy.PROMISES)
    seen = Conformance()
    assert report.not_judged(seen, plan)[PROPERTY.name] == list(PROPERTY.seen_in)
    seen.shown.fields.update(FIELDS)
    assert PROPERTY.name in report.judged(seen, plan)


def test_promises_judge_it_on_what_is_shown():
    judging = Promises(PROTOCOL, SETTINGS)
    (event,) = WRITTEN
    assert judging.advance(event)
    shown: Any = comparable(Execution(PROTOCOL, SETTINGS, WRITTEN).state)
    assert PROPERTY.name in [fault.field for fault in judging.judge(event, True, shown)]


def test_no_release_is_said_to_keep_it_before_it_was_surveyed():
    for name, verdicts in releases.surveyed().items():
        assert releases.cell(name, verdicts, PROPERTY.name) == "?", name
        assert PROPERTY.name not in releases.holding(name, verdicts), name


def test_the_verbs_number_is_one_byte_with_its_replica():
    assert verb_of(EVENT) is VERB
