"""Hypothesis saves the failures of each test separately, and a passing test deletes no failure of another test."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from epochfuzz.harness.conform import conformance_test
from epochfuzz.strategies.machine import replication_machine
from tests.conform.reference import Reference

ROOT = Path(__file__).parents[2]
SUITE = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from epochfuzz import conformance_test, replication_machine
from tests.conform.reference import Reference


def adapter(shift):
    class Mine(Reference):
        def observe(self):
            observation = super().observe()
            observation["replicas"]["B"]["leo"] += shift * (self.execution.state.leo[1] > 1)
            return observation

    return Mine


def machine(most):
    class Mine(replication_machine("kip-320", scouted=1)):
        def happened(self, verb, replica):
            assert self.executions[0].state.leo[1] < most

    return Mine


TestFails, TestPasses = (conformance_test(adapter(shift)) for shift in (1, 0))
TestMachineFails, TestMachinePasses = (machine(most).TestCase for most in (2, 99))
"""


def pytest_on(directory: Path, name: str, profile: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--hypothesis-profile={profile}"]
    outside_ci = {name: value for name, value in os.environ.items() if name != "CI"}  # in CI Hypothesis saves nothing
    return subprocess.run([*command, f"test_suite.py::{name}"], cwd=directory, env=outside_ci, check=False).returncode


@pytest.mark.thorough
@pytest.mark.parametrize("test", ["Test", "TestMachine"])
def test_a_passing_test_keeps_the_saved_failures_of_another_test(tmp_path: Path, test: str) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(
        "from hypothesis import settings\n"
        "settings.register_profile('some', max_examples=20)\n"
        "settings.register_profile('few', max_examples=5)\n"
        "settings.register_profile('one', max_examples=1)\n"
    )
    assert pytest_on(tmp_path, f"{test}Fails", "some") == pytest.ExitCode.TESTS_FAILED
    for _ in range(2):
        assert pytest_on(tmp_path, f"{test}Passes", "few") == pytest.ExitCode.OK
    assert pytest_on(tmp_path, f"{test}Fails", "one") == pytest.ExitCode.TESTS_FAILED


def test_tests_with_other_adapters_settings_or_protocols_have_different_database_keys() -> None:
    class Other(Reference):
        pass

    def key_of(test: type) -> object:
        return test.runTest._hypothesis_state_machine_class._hypothesis_internal_add_digest  # type: ignore[attr-defined]

    tests = [
        conformance_test(Reference),
        conformance_test(Other),
        conformance_test(Reference, replicas=3),
        conformance_test(Reference, protocol="hw"),
        conformance_test(lambda: Reference()),
        conformance_test(lambda: Other()),
        replication_machine("kip-320").TestCase,
        replication_machine("kip-320", scouted=3).TestCase,
        replication_machine("hw").TestCase,
    ]
    assert len({key_of(test) for test in tests}) == len(tests)
