"""The behaviour of a new verb and a new property, in a copy of the project that declares both.

test_declared_facts.py makes the copy. No other code of the copy mentions the new verb or the new property: all
behaviour that these tests check follows from the two declarations.
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


def test_random_runs_and_strategies_draw_the_new_verb():
    assert EVENT in SETTINGS.alphabet()
    deck = generate.deck_for(KAFKA, SETTINGS, [PROTOCOL])
    assert any(EVENT in generate.schedule(1, number, deck) for number in range(20))
    assert EVENT in in_order(SETTINGS.alphabet())
    assert hasattr(replication_machine("kip-320", settings=SETTINGS), VERB.text)


def test_a_timeline_and_explain_use_the_declared_meaning_of_the_new_verb():
    run = replay([EVENT], PROTOCOL, SETTINGS)
    assert VERB.meaning in run.scenes[1].sentence
    assert VERB.meaning.rstrip() in explain.find(VERB.text).means.lower()


def test_the_wire_protocol_and_its_schema_accept_the_new_verb():
    wire.check_verbs([VERB.text])
    assert VERB.text in json.dumps(wire.schema())


@pytest.mark.parametrize("judge", [LockStep, Promises])
def test_conform_does_not_send_the_new_verb_beyond_the_bound_on_epochs(judge):
    judging = judge(PROTOCOL, SETTINGS)
    model = Execution(PROTOCOL, SETTINGS)
    for _ in range(SETTINGS.epochs):
        assert judging.advance(EVENT)
        assert model.apply(EVENT)
        assert not [
            fault for fault in judging.judge(EVENT, True, comparable(model.state)) if fault.kind == "difference"
        ]
    assert not judging.advance(EVENT)


class RecordingAdapter:
    """An adapter that shows a healthy partition and records the events that it receives."""

    def __init__(self):
        self.model = Execution(PROTOCOL, SETTINGS)
        self.sent = []

    def apply(self, event):
        self.sent.append(event)
        return False

    def observe(self):
        return comparable(self.model.state)


def test_conform_sends_the_new_verb_after_all_faults_have_stopped():
    class Setting:
        settings = SETTINGS
        alphabet = SETTINGS.alphabet

    subject = RecordingAdapter()
    heal(cast(Any, subject), cast(Any, Setting), ["notify", "restart", VERB.text])
    assert subject.sent[:4] == ["restart A", "restart B", f"{VERB.text} A", f"{VERB.text} B"]


def test_replay_random_runs_search_and_state_machines_check_the_new_property():
    assert replay(WRITTEN, PROTOCOL, SETTINGS).first_broken == {PROPERTY.name: 1}
    tally = Walker([PROTOCOL], SETTINGS, 1).walk(0, 20)
    assert np.asarray(tally.failures)[0, PROPERTY.number].sum() > 0
    assert explore(PROTOCOL, SETTINGS, PROPERTY.bit, depth=2, jobs=1).shortest == WRITTEN
    assert PROPERTY.name in LASTING
    assert set(properties.NAMES) == {name for judged in _JUDGED for name in judged}


def test_the_declared_setting_permits_a_violation_of_the_new_property():
    assert PROPERTY.name in properties.permitted(Configuration(acks="1"))
    assert PROPERTY.name not in properties.permitted(Configuration())


def test_a_case_may_expect_a_violation_of_the_new_property(tmp_path: Path):
    file = tmp_path / "written.yaml"
    file.write_text(
        f"schema: 1\nid: written\nwhy: a record is written\nevents: [produce A]\n"
        f"expect: {{kip-320: {{broken: [{PROPERTY.name}], at: 1}}}}\n"
    )
    assert load_case(file).expect["kip-320"].broken == (PROPERTY.name,)


def test_conform_reports_whether_it_checks_the_new_property_and_which_fields_are_missing():
    plan = Plan(
        command=("none",), protocols=[PROTOCOL], settings=SETTINGS, schedules=1, seed=1, judged_by=JudgedBy.PROMISES
    )
    seen = Conformance()
    assert report.not_judged(seen, plan)[PROPERTY.name] == list(PROPERTY.seen_in)
    seen.shown.fields.update(FIELDS)
    assert PROPERTY.name in report.judged(seen, plan)


def test_promises_check_the_new_property_on_the_shown_state():
    judging = Promises(PROTOCOL, SETTINGS)
    (event,) = WRITTEN
    assert judging.advance(event)
    shown: Any = comparable(Execution(PROTOCOL, SETTINGS, WRITTEN).state)
    assert PROPERTY.name in [fault.field for fault in judging.judge(event, True, shown)]


def test_the_release_table_shows_the_new_property_as_unknown_before_a_survey():
    for name, verdicts in releases.surveyed().items():
        assert releases.cell(name, verdicts, PROPERTY.name) == "?", name
        assert PROPERTY.name not in releases.holding(name, verdicts), name


def test_decoding_the_event_of_the_new_verb_returns_the_verb():
    assert verb_of(EVENT) is VERB
