"""The plan of `conform --client`: its defaults, and the command that repeats the run."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("kio")

from epochfuzz.harness.commands import conform
from epochfuzz.harness.conform.run.plan import Plan


@pytest.fixture
def planned(epochfuzz: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Plan, str]]:
    """Return a function that returns the plan of `conform --client`, and the command that repeats the run."""

    def plan_of(*words: str) -> tuple[Plan, str]:
        plans: list[tuple[Plan, str]] = []
        monkeypatch.setattr(conform, "_run", lambda asked, plan: plans.append((plan, asked.again(plan))) or 0)
        assert epochfuzz("conform", "--client", *words, "--", "my-client").code == 0
        return plans[0]

    return plan_of


def test_a_client_process_runs_ten_schedules_by_default(planned: Any) -> None:
    plan, again = planned()
    assert (plan.processes_for, plan.schedules) == (10, 100)
    assert "--processes-for" not in again


def test_the_command_that_repeats_a_run_of_a_client_names_another_number_of_schedules_per_process(planned: Any) -> None:
    plan, again = planned("--processes-for", "50")
    assert plan.processes_for == 50
    assert "--processes-for 50" in again
