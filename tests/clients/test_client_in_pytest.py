"""pytest runs each case on the client of `epochfuzz_client`, and reports pass, fail or skip, also as JUnit XML."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("kio")

import epochfuzz.harness.plugin.on_client  # noqa: F401 - pytester forgets the modules that its runs import
from epochfuzz.harness.cases.bundled import FOR_CLIENTS
from epochfuzz.harness.environment import extras
from tests.clients.fake import FAKE
from tests.plugin.test_pytest_plugin import run

pytest_plugins = ["pytester"]

INVENTS = FAKE % 'report["acked"] = ["m0"]'
UNABLE = FAKE % 'report["error"] = "no acks=all"'


@pytest.fixture(autouse=True)
def not_in_continuous_integration(monkeypatch: pytest.MonkeyPatch) -> None:
    """In continuous integration, pytest repeats each failure in full in its summary."""
    monkeypatch.delenv("CI", raising=False)


def with_client(project: pytest.Pytester, *command: str, case: str = "retry-and-read") -> None:
    """Fill the project with a case, and with an ini file that names the command of a client."""
    (project.path / "corpus").mkdir()
    (project.path / "corpus" / "case.yaml").write_text((FOR_CLIENTS / f"{case}.yaml").read_text())
    words = " ".join(f'"{word}"' for word in command)
    project.makeini(f"[pytest]\nepochfuzz_corpus = corpus\nepochfuzz_client = {words}\n")


def with_program(project: pytest.Pytester, program: str) -> None:
    (project.path / "client.py").write_text(program)
    with_client(project, sys.executable, "client.py")


def test_a_client_that_breaks_a_guarantee_fails_its_case_with_the_guarantee_and_a_command(
    pytester: pytest.Pytester,
) -> None:
    with_program(pytester, INVENTS)
    result = run(pytester, "--junitxml=junit.xml")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "retry-and-read under kafka-2.6.1 fails on the client:",
            "after 1 events: promise: no-acked-loss is broken: *",
            "epochfuzz conform --client --protocol kafka-2.6.1 --corpus corpus/case.yaml --schedules 0 -- * client.py",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    junit = ElementTree.parse(pytester.path / "junit.xml")
    failed = [case.get("name") for case in junit.iter("testcase") if case.find("failure") is not None]
    assert failed == ["retry-and-read[kafka-2.6.1, client]"]


def test_a_case_that_the_client_cannot_run_is_skipped_with_the_reason(pytester: pytest.Pytester) -> None:
    with_program(pytester, UNABLE)
    result = run(pytester, "-rs")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*retry-and-read under kafka-2.6.1 tests nothing: no acks=all"])


def test_pytest_ends_the_process_of_the_client(pytester: pytest.Pytester) -> None:
    with_program(pytester, "import os; open('pid', 'w').write(str(os.getpid()))\n" + UNABLE)
    run(pytester)
    pid = (pytester.path / "pid").read_text()
    assert not Path("/proc", pid).exists()


def test_a_client_that_keeps_its_guarantees_passes_its_case(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("confluent_kafka")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    with_client(pytester, sys.executable, "-m", "tests.clients.librdkafka")
    run(pytester).assert_outcomes(passed=2)


@pytest.mark.thorough
def test_a_known_bug_of_the_protocol_does_not_fail_the_case_of_a_client(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("confluent_kafka")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    command = [sys.executable, "-m", "tests.clients.librdkafka"]
    with_client(pytester, *command, case="kip-320-end-of-an-older-epoch")
    run(pytester).assert_outcomes(passed=2)


def test_pytest_runs_the_installed_cases_for_clients_if_the_ini_file_names_no_corpus(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeini("[pytest]\nepochfuzz_client = ./missing\n")
    collected = run(pytester, "--collect-only", "-q").outlines
    assert sum(line.endswith(", client]") for line in collected) >= len([*FOR_CLIENTS.glob("*.yaml")]) > 30


def test_a_client_that_does_not_start_fails_and_the_setting_is_named(pytester: pytest.Pytester) -> None:
    with_client(pytester, "./missing")
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["epochfuzz_client: *missing*"])


def test_pytest_names_the_extra_that_a_client_needs(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    with_program(pytester, UNABLE)
    monkeypatch.setitem(extras.EXTRAS, "client", ("this speaks Kafka's protocol to clients", ("no_such_module",)))
    result = run(pytester)
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*epochfuzz_client: *pip install 'epochfuzz[[]client]'*"])
