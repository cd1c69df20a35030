"""Hypothesis's statistics show the goals and verbs of a state machine and of a conformance test."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import run_state_machine_as_test

from epochfuzz.model.kafka.vocabulary.events import parse_schedule, verb_of
from epochfuzz.strategies.machine import replication_machine
from epochfuzz.strategies.statistics import met

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
SUITE = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from epochfuzz import conformance_test, replication_machine
from tests.conform.reference import Reference

TestMachine = replication_machine("kip-320", scouted=20).TestCase
TestSideBySide = replication_machine("kip-595", "kip-320", scouted=5).TestCase
TestConforms = conformance_test(Reference)
TestPromises = conformance_test(Reference, judge="promises")
"""


@pytest.fixture(scope="module")
def statistics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    """The percentage of examples, by test and event."""
    directory = tmp_path_factory.mktemp("suite")
    (directory / "test_suite.py").write_text(SUITE, encoding="utf-8")
    (directory / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--hypothesis-show-statistics",
        "--hypothesis-profile=dev",
        "--hypothesis-seed=1",
    ]
    environment = os.environ | {"PYTEST_ADDOPTS": "", "NO_COLOR": "1", "CI": ""}
    ended = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    parts = re.split(r"^test_suite\.py::(\w+)::runTest:$", ended.stdout, flags=re.MULTILINE)
    return {
        name: {event: float(share) for share, event in re.findall(r"\* ([\d.]+)%, (.+)$", text, re.MULTILINE)}
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }


@pytest.mark.parametrize("test", ["TestMachine", "TestConforms", "TestPromises"])
def test_the_statistics_show_goals_and_verbs_by_name_with_their_shares(
    statistics: dict[str, dict[str, float]], test: str
) -> None:
    shares = statistics[test]
    for event in ("goal met: high watermark advanced", "goal met: ISR shrank", "verb: expand", "verb: produce"):
        assert 0 < shares[event] <= 100
    assert max(map(len, shares)) < 100  # an event that Hypothesis made of all rules had 4,290 characters


def test_the_statistics_of_several_protocols_name_the_protocol(statistics: dict[str, dict[str, float]]) -> None:
    shares = statistics["TestSideBySide"]
    for name in ("kip-595", "kip-320"):
        assert shares[f"goal met under {name}: log truncated"] > 0


def test_a_fetch_that_the_leader_fences_counts_as_a_goal() -> None:
    goals: set[str] = set()

    class Fenced(replication_machine("kip-320", scouted=1)):  # type: ignore[misc]
        def schedule(self, seed: int) -> bytes:
            return parse_schedule(["expire B", "notify A", "fetch B"])

        def happened(self, verb: str, replica: str) -> None:
            goals.update(met(self.executions[0].state.goals))

    examples = hypothesis_settings(Fenced.TestCase.settings, max_examples=5, derandomize=True, database=None)
    run_state_machine_as_test(Fenced, settings=examples)
    assert "fetch fenced" in goals


def test_every_verb_has_at_least_a_hundredth_of_the_steps_of_a_passing_machine() -> None:
    counts: Counter[str] = Counter()

    class Counting(replication_machine("kip-320", scouted=5)):  # type: ignore[misc]
        def happened(self, verb: str, replica: str) -> None:
            counts[verb] += 1

    ci = hypothesis_settings.get_profile("ci")
    run_state_machine_as_test(Counting, settings=hypothesis_settings(ci, suppress_health_check=list(HealthCheck)))
    possible = {verb_of(event).text for event in Counting.alphabet}
    assert set(counts) == possible
    assert min(counts.values()) >= counts.total() / 100, counts
    assert counts["crash"] + counts["restart"] < counts.total() / 4  # 38 % in an earlier version
