"""The plan of `conform --client`: its defaults and its cases, and the command that repeats the run."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("kio")

from epochfuzz.harness.cli.runs.conform_request import ConformRequest
from epochfuzz.harness.commands import conform
from epochfuzz.harness.conform.run.plan import Plan


@pytest.fixture
def planned(epochfuzz: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Plan, str]]:
    """Return a function that returns the plan of `conform --client`, and the command that repeats the run."""

    def plan_of(*words: str) -> tuple[Plan, str]:
        plans: list[tuple[Plan, str]] = []

        def note(asked: ConformRequest, plan: Plan) -> int:
            plans.append((plan, asked.again(plan)))
            return 0

        monkeypatch.setattr(conform, "_run", note)
        assert epochfuzz("conform", "--client", *words, "--", "my-client").code == 0
        return plans[-1]

    return plan_of


def test_a_client_process_runs_ten_schedules_by_default(planned: Any) -> None:
    plan, again = planned()
    assert (plan.processes_for, plan.schedules) == (10, 100)
    assert "--processes-for" not in again


def test_the_command_that_repeats_a_run_of_a_client_names_another_number_of_schedules_per_process(planned: Any) -> None:
    plan, again = planned("--processes-for", "50")
    assert plan.processes_for == 50
    assert "--processes-for 50" in again


def test_a_client_runs_the_installed_cases_that_it_can_play_under_the_protocol(planned: Any) -> None:
    plan, again = planned("--protocol", "kafka-2.6.1")
    names = {case.id for case in plan.cases}
    assert len(names) >= 40
    assert names > {"retry-and-read", "normal-replication"}
    assert "m1-loss" not in names
    assert "--corpus" not in again
    later, _ = planned("--protocol", "kip-320")
    assert {case.id for case in later.cases} < names


def test_option_corpus_replaces_the_installed_cases_for_clients(planned: Any) -> None:
    plan, again = planned("--corpus", "response-lost")
    assert [case.id for case in plan.cases] == ["response-lost"]
    assert "--corpus response-lost" in again
