"""Campaigns run Hypothesis state machines: the replication machine and machines of users."""

import sys

import numpy as np
import pytest

from epochfuzz.harness.campaign.machines import replication
from epochfuzz.harness.campaign.machines.own import load_machine, run_user_machine
from epochfuzz.harness.campaign.machines.replication import ReplicationMachines
from epochfuzz.harness.campaign.spark.workers import files_of, zip_of_sources
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.findings import findings as fuzz
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.campaign.conftest import Quiet, parameters, start

pytestmark = pytest.mark.thorough

MACHINE = """
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

class Counter(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.count = 0

    @rule(by=st.integers(0, 5))
    def add(self, by):
        self.count += by

    @invariant()
    def is_small(self):
        if self.count > 9:
            raise OverflowError(f"{self.count} is too many")
"""

BUILT_ON_OURS = """
from hypothesis.stateful import invariant
from epochfuzz.strategies.machine import replication_machine

class Sending(replication_machine("kip-320", scouted=20)):
    @invariant()
    def is_small(self):
        sent = self.executions[0].state.leo[0]
        assert sent < 2, f"{sent} were sent"
"""


@pytest.fixture
def counter(tmp_path, monkeypatch):
    (tmp_path / "counting.py").write_text(MACHINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "counting:Counter"
    sys.modules.pop("counting", None)


@pytest.fixture(scope="module")
def machines():
    return ReplicationMachines([parse_protocol("hw"), parse_protocol("kip-320")], Configuration(), seed=5)


@pytest.fixture(scope="module")
def tally(machines):
    return machines.walk(1, 1)  # checks isr-complete, which breaks after the fewest events


def test_a_run_of_the_replication_machine_breaks_hw_and_not_kip_320(machines, tally):
    (breach,) = fuzz.breaches(machines.protocols, machines.settings, tally)
    assert (breach.protocol.name, breach.property, breach.seen) == ("hw", "isr-complete", 1)
    assert tally.schedules == 1
    assert tally.events.min() > 100
    assert tally.goals.sum() > 0


def test_an_error_of_the_model_ends_the_run_and_is_no_clean_result(monkeypatch):
    monkeypatch.setattr(replication, "run_machine", lambda *_: (7, [ZeroDivisionError("in a rule")]))
    with pytest.raises(ZeroDivisionError, match="in a rule"):
        ReplicationMachines([parse_protocol("hw")], Configuration(), seed=5).walk(1, 1)


def test_a_machine_failure_is_shrunk_to_a_proven_shortest_schedule(machines, tally):
    (breach,) = fuzz.breaches(machines.protocols, machines.settings, tally)
    (finding,) = fuzz.certified([fuzz.finding(machines, breach, candidates=1)], None)
    assert len(finding.reproducer.schedule) == 7
    assert finding.reproducer.certified_minimal


def test_two_machine_runs_of_equal_seed_have_equal_tallies(machines, tally):
    again = ReplicationMachines(machines.protocols, machines.settings, machines.seed).walk(1, 1)
    np.testing.assert_array_equal(again.failures, tally.failures)
    np.testing.assert_array_equal(again.shortest, tally.shortest)
    np.testing.assert_array_equal(again.events, tally.events)


def test_a_users_machine_fails_with_its_own_exception_and_steps(counter):
    steps, (failure, *others) = run_user_machine(counter, 1, 0, 2)
    assert steps > 20
    assert (failure.error, failure.message, failure.schedule) == ("OverflowError", "10 is too many", 0)
    assert [step for step in failure.steps if step != "is_small()"] == ["add(by=5)", "add(by=5)"]
    assert [other.schedule for other in others] == [1]


def test_a_subclass_of_the_replication_machine_reports_its_failure_as_verbs(tmp_path, monkeypatch):
    (tmp_path / "sending.py").write_text(BUILT_ON_OURS)
    monkeypatch.syspath_prepend(str(tmp_path))
    _, (failure,) = run_user_machine("sending:Sending", 1, 0, 1)
    assert failure.message.startswith("2 were sent")
    assert [step for step in failure.steps if step != "is_small()"] == 2 * ["produce(replica='A')"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("counting", "must be module:Name, such as"),
        ("nowhere:Counter", "cannot be imported in .*: No module named 'nowhere'"),
        ("counting:Other", "has no attribute 'Other'"),
        ("counting:st", "is not a state machine; name a RuleBasedStateMachine"),
    ],
)
def test_load_machine_reports_names_that_it_cannot_load(counter, name, complaint):
    with pytest.raises(CampaignError, match=complaint):
        load_machine(name)


def test_load_machine_accepts_the_test_case_of_a_machine(counter):
    machine = load_machine(counter)
    vars(sys.modules["counting"])["Case"] = machine.TestCase
    assert load_machine("counting:Case") is machine


def test_the_zip_for_remote_workers_includes_the_module_of_a_machine(counter):
    assert list(files_of("counting")) == ["counting.py"]
    assert "hypothesis/stateful.py" in files_of("hypothesis.stateful")
    assert zip_of_sources("counting") != zip_of_sources()


def test_a_campaign_records_the_errors_of_a_users_machine(spark, tmp_path, counter):
    asked = parameters(protocols=(), schedules=3, engine="hypothesis", machine=counter, block=1)
    outcome = start(spark, tmp_path / "c", asked).run(Quiet())
    (error,) = outcome.errors
    assert (error["protocol"], error["property"], error["seen"]) == (counter, "OverflowError", 3)
    assert error["message"] == "10 is too many"
    assert outcome.steps > 30
