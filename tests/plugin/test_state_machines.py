"""State machines of users extend the replication machine with rules and invariants."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule, run_state_machine_as_test

from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_event
from epochfuzz.strategies import private_hypothesis
from epochfuzz.strategies.machine import replication_machine

Machine: Any = replication_machine("kip-320", scouted=20)


def steps_to_failure(machine: Any, failure: type[Exception] = AssertionError, examples: int = 100) -> list[str]:
    """Return Hypothesis's steps to the failure of a machine in profile `ci`, without the invariants that hold."""
    ci = hypothesis_settings(
        hypothesis_settings.get_profile("ci"), max_examples=examples, suppress_health_check=list(HealthCheck)
    )
    with pytest.raises(failure) as failed:
        run_state_machine_as_test(machine, settings=ci)
    lines = [line.strip() for note in failed.value.__notes__ for line in note.splitlines()]
    steps = [line for line in lines if "state." in line]
    return [step for step in steps if step not in ("state.holds()", "state.teardown()")]


def passes(machine: Any, examples: int) -> None:
    run_state_machine_as_test(machine, settings=hypothesis_settings(machine.TestCase.settings, max_examples=examples))


@pytest.mark.thorough
def test_a_failure_is_a_list_of_verbs_with_replicas_and_the_broken_property() -> None:
    *verbs, broken = steps_to_failure(replication_machine("hw", judged=["isr-complete"]))
    assert broken == "state.isr_complete()"
    assert "state.produce(replica='A')" in verbs
    assert len(verbs) == 7
    assert all(re.fullmatch(r"state\.[a-z_]+\(replica='[AB]'\)", verb) for verb in verbs)


def test_a_machine_has_a_rule_for_each_verb_that_the_configuration_enables() -> None:
    rules = {each.function.__name__ for each in replication_machine("hw")().rules}
    durable = replication_machine("hw", settings=Configuration(power_loss=True))
    assert {"produce", "fetch", "crash", "elect"} <= rules
    assert {each.function.__name__ for each in durable().rules} - rules == {"power_loss", "flush"}


@pytest.mark.thorough
def test_a_users_invariant_fails_within_seconds_and_few_steps() -> None:
    class Short(replication_machine("kip-320")):  # type: ignore[misc]
        @invariant()
        def holds(self) -> None:
            assert self.executions[0].state.leo[1] < 2

    started = time.thread_time()
    steps = steps_to_failure(Short)
    assert time.thread_time() - started < 30  # 2 s on an idle machine; 58 s in an earlier version
    # A shortest failure has four steps: elect B, notify B, and two of produce B. Without an election there are six.
    assert 4 <= len(steps) <= 6


@pytest.mark.thorough
def test_a_failure_has_a_users_rule_only_as_often_as_necessary() -> None:
    class Counting(Machine):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        @rule()
        def own(self) -> None:
            self.count += 1

        @invariant()
        def holds(self) -> None:
            assert self.count < 3 or not self.executions[0].state.leo[1]

    steps = steps_to_failure(Counting)
    assert steps.count("state.own()") == 3
    assert len(steps) == 6  # B receives a record, or is elected and appends a record. Both take three events


def test_rules_of_users_get_a_fair_share_of_the_steps() -> None:
    class Owning(Machine):  # type: ignore[misc]
        owned = happenings = 0

        @rule()
        def own(self) -> None:
            Owning.owned += 1

        def happened(self, verb: str, replica: str) -> None:
            Owning.happenings += 1

    passes(Owning, 10)
    assert Owning.happenings / 10 < Owning.owned < Owning.happenings


def test_a_users_rule_can_use_bundles_and_replace_the_rule_of_a_verb() -> None:
    class Named(Machine):  # type: ignore[misc]
        topics = Bundle("topics")

        def __init__(self) -> None:
            super().__init__()
            self.used: list[str] = []

        @rule(target=topics, name=st.sampled_from("xy"))
        def topic(self, name: str) -> str:
            return name

        @rule(topic=consumes(topics), replica=st.sampled_from("AB"))
        def produce(self, topic: str, replica: str) -> None:
            self.happen(parse_event(f"produce {replica}"))
            self.used.append(topic)

        @invariant()
        def holds(self) -> None:
            assert not ("y" in self.used and self.executions[0].state.leo[0])

    assert steps_to_failure(Named) == [
        "topics_0 = state.topic(name='y')",
        "state.produce(replica='A', topic=topics_0)",
    ]


class Forgetful:
    """A user's log. It counts the records that each replica received, and a restart loses a record."""

    def __init__(self) -> None:
        self.records = {"A": 0, "B": 0}

    def apply(self, verb: str, replica: str) -> None:
        self.records[replica] += {"produce": 1, "restart": -1}.get(verb, 0)


def test_the_happened_hook_drives_a_users_object_along_with_the_model() -> None:
    class Driving(Machine):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.mine = Forgetful()

        def happened(self, verb: str, replica: str) -> None:
            self.mine.apply(verb, replica)

        @invariant()
        def holds(self) -> None:
            assert self.mine.records["A"] >= self.histories[0].count("produce A")

    assert sorted(steps_to_failure(Driving)) == ["state.crash(replica='A')", "state.restart(replica='A')"]


def test_each_step_of_a_machine_with_several_protocols_applies_an_event() -> None:
    class Noting(replication_machine("kip-279", "kip-320", settings=Configuration(epochs=1), scouted=20)):  # type: ignore[misc]
        happenings = 0

        def happen(self, event: int) -> None:
            before = [*map(len, self.histories)]
            super().happen(event)
            assert [*map(len, self.histories)] != before

        def happened(self, verb: str, replica: str) -> None:
            Noting.happenings += 1

    passes(Noting, 10)
    assert Noting.happenings > 300


@pytest.mark.thorough
def test_a_passing_machine_takes_less_than_a_minute_with_the_default_settings_of_hypothesis() -> None:
    started = time.thread_time()
    passes(replication_machine("kip-320"), hypothesis_settings.get_profile("default").max_examples)
    assert time.thread_time() - started < 60  # 5 s on an idle machine; 120 s in an earlier version


def drawn_rules(machine: Any, examples: int = 10) -> tuple[int, int]:
    """Return how many rules EventMachine drew in a run of a machine, and how many events happened."""
    drawn = happened = 0

    class Counting(machine):  # type: ignore[misc]
        def draw_rule(self, draw: Callable[..., Any]) -> Any:
            nonlocal drawn
            drawn += 1
            return super().draw_rule(draw)

        def happened(self, verb: str, replica: str) -> None:
            nonlocal happened
            happened += 1

    passes(Counting, examples)
    return drawn, happened


def test_this_version_of_hypothesis_lets_a_machine_draw_its_own_rules() -> None:
    """If this fails, Hypothesis no longer draws rules in the way that private_hypothesis.py needs."""
    drawn, happened = drawn_rules(Machine)
    assert drawn >= happened > 300


@pytest.mark.thorough
def test_a_machine_runs_without_steering_if_hypothesis_lacks_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    class Short(Machine):  # type: ignore[misc]
        @invariant()
        def holds(self) -> None:
            assert not self.executions[0].state.leo[1]

    monkeypatch.setattr(private_hypothesis, "can_steer", lambda machine: False)
    with pytest.warns(HypothesisWarning, match="cannot be steered"):
        drawn, happened = drawn_rules(Machine)
    assert drawn == 0 < happened
    with pytest.warns(HypothesisWarning, match="cannot be steered"):
        steps = steps_to_failure(Short)
    assert steps[-1] in ("state.receive(replica='B')", "state.produce(replica='B')")


@pytest.mark.parametrize("missing", ["_rules_strategy", "rules"])
def test_a_machine_without_the_hooks_of_hypothesis_is_not_steered(missing: str) -> None:
    class Plain(RuleBasedStateMachine):
        @rule()
        def nothing(self) -> None:
            pass

    machine = Plain()
    assert private_hypothesis.can_steer(machine)
    setattr(machine, missing, None if missing == "_rules_strategy" else [object()])
    assert not private_hypothesis.can_steer(machine)
