"""The pytest plugin: the files that it collects, its failure reports, and its cost."""

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.trace.replay import replay
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
M1_LOSS = ROOT / "corpus" / "documents" / "m1-loss.yaml"

INSTALLED = any(entry.name == "epochfuzz" for entry in importlib.metadata.entry_points(group="pytest11"))
WITH_PLUGIN = () if INSTALLED else ("-p", "epochfuzz.harness.plugin.hooks")

# The shortest loss under hw: isr-complete breaks after event 8, no-committed-loss and no-acked-loss after event 9.
SHORTEST_LOSS = """\
schema: 1
id: shortest-loss
why: B truncates m0, which A has committed, and is elected.
events: [produce A, fetch B, receive B, fetch B, crash B, restart B, elect B, notify B, notify B, produce B]
expect:
  hw: {broken: [no-committed-loss], at: 9}
  kip-101: {broken: []}
provenance: {seed: 7, schedule: 12}
"""

# Packages that the plugin must not import before a test needs them.
HEAVY = {"hypothesis", "numba", "pyspark", "rich"}


@pytest.fixture(autouse=True)
def not_in_continuous_integration(monkeypatch: pytest.MonkeyPatch) -> None:
    """In continuous integration, pytest repeats each failure in full in its summary."""
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with one case in its corpus."""
    pytester.makeini("[pytest]\nepochfuzz_corpus = corpus\n")
    write(pytester, "corpus/shortest-loss.yaml", SHORTEST_LOSS)
    return pytester


def write(pytester: pytest.Pytester, name: str, text: str) -> Path:
    path = pytester.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest(*WITH_PLUGIN, "-p", "no:cacheprovider", *arguments)


def run_elsewhere(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a separate process that finds our packages, but not the configuration of this repository."""
    paths = filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTEST_ADDOPTS": "", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *WITH_PLUGIN, *arguments],
        cwd=directory, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def steps_drawn(result: pytest.RunResult) -> list[str]:
    """The number and event of each step of the timeline in the output."""
    found = (re.match(r"\s*(\d+)\s+(\w+ [A-E])\b", line) for line in result.stdout.lines)
    return [f"{step[1]} {step[2]}" for step in found if step]


# Collection.


def test_each_protocol_of_a_case_is_a_test(project: pytest.Pytester) -> None:
    result = run(project, "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "corpus/shortest-loss.yaml::shortest-loss[[]hw] PASSED*",
            "corpus/shortest-loss.yaml::shortest-loss[[]kip-101] PASSED*",
        ]
    )


def test_the_corpus_is_collected_in_addition_to_testpaths(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nepochfuzz_corpus = corpus\ntestpaths = tests\n")
    write(project, "tests/test_own.py", "def test_own(): pass\n")
    run(project).assert_outcomes(passed=3)
    run(project, "tests").assert_outcomes(passed=1)


def test_pytest_collects_every_yaml_file_of_the_corpus_and_no_other_yaml_file(project: pytest.Pytester) -> None:
    write(project, "corpus/deep/below.yaml", SHORTEST_LOSS)
    write(project, "data/elsewhere.yaml", SHORTEST_LOSS)
    write(project, "data/notes.yaml", "some: notes\n")
    run(project).assert_outcomes(passed=4)


def test_a_case_outside_the_corpus_is_collected_if_named_on_the_command_line(project: pytest.Pytester) -> None:
    write(project, "data/elsewhere.yaml", SHORTEST_LOSS)
    run(project, "data/elsewhere.yaml").assert_outcomes(passed=2)


def test_pytest_collects_files_that_look_like_cases_if_there_is_no_corpus(pytester: pytest.Pytester) -> None:
    write(pytester, "shortest-loss.yaml", SHORTEST_LOSS)
    write(pytester, "notes.yaml", "schema: 1\nid: no-case\n")
    run(pytester).assert_outcomes(passed=2)


@pytest.mark.parametrize(
    "text",
    [
        "schema: 1\nid: clicks\nevents: [login, logout]\n",
        "schema: 2\nid: tracking\nevents:\n  - {name: click, at: 3}\n",
        "schema: http://example.com/v1\nid: order\nevents: []\n",
        "schema: 2\nid: other\nevents: [produce A]\n",
        "schema: 1\nid: grades\nevents:\n  - Exam A\n  - grade B\n",
    ],
)
def test_a_yaml_file_of_another_tool_is_not_collected(pytester: pytest.Pytester, text: str) -> None:
    write(pytester, "data.yaml", text)
    write(pytester, "test_own.py", "def test_own(): pass\n")
    result = run(pytester)
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.OK


@pytest.mark.parametrize("events", ["[produce A]", "\n  - produce A  # first\n  - fetchh B", '["produce A"]'])
def test_a_case_with_a_mistake_is_an_error_and_not_skipped(pytester: pytest.Pytester, events: str) -> None:
    write(pytester, "case.yaml", f"schema: 1  # of epochfuzz\nid: x\nwhy: because\nevents: {events}\nexpects: 3\n")
    run(pytester).assert_outcomes(errors=1)


def test_an_invalid_case_is_a_collection_error_with_file_and_line(project: pytest.Pytester) -> None:
    path = write(project, "corpus/shortest-loss.yaml", SHORTEST_LOSS.replace("expect:", "expects:"))
    result = run(project)
    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([f"{path}:5: unknown key 'expects' in the case; did you mean 'expect'?"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*Error: *")


def test_a_case_without_an_expectation_is_a_collection_error(project: pytest.Pytester) -> None:
    write(project, "corpus/shortest-loss.yaml", "{schema: 1, id: x, why: because, events: [produce A]}")
    result = run(project)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the case expects nothing of any protocol*"])


def test_a_missing_corpus_directory_is_a_usage_error(project: pytest.Pytester) -> None:
    result = run(project, "-o", "epochfuzz_corpus=korpus")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: epochfuzz_corpus: there is no directory {project.path}/korpus; *"])


@pytest.mark.parametrize("corpus", ['[["corpus"]]', "[1]", "[{at = 'corpus'}]"])
def test_a_corpus_that_is_not_a_list_of_directories_is_a_usage_error(pytester: pytest.Pytester, corpus: str) -> None:
    write(pytester, "pyproject.toml", f"[tool.pytest.ini_options]\nepochfuzz_corpus = {corpus}\n")
    result = run(pytester)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "INTERNALERROR" not in result.stderr.str() + result.stdout.str()
    assert "epochfuzz_corpus" in result.stderr.str()


# The system under test.

SUBJECT = (
    "import json, os, sys\n"
    f"sys.path.insert(0, {str(ROOT)!r})\n"
    "from tests.conform.reference import Reference, serve\n"
    "class Mine(Reference):\n"
    "    def reset(self, config, protocol):\n"
    "        print(protocol, file=open('resets.txt', 'a'))\n"
    "        return super().reset(config, OTHER.get(protocol, protocol))\n"
    "serve(Mine())\n"
)


def with_subject(project: pytest.Pytester, other: dict[str, str]) -> None:
    """Add an adapter to the project. The adapter runs the protocol `other[name]` in place of `name`."""
    write(project, "subject.py", SUBJECT.replace("OTHER", repr(other)))
    write(project, "run", f"#!/bin/sh\nexec {sys.executable} {project.path}/subject.py\n").chmod(0o755)
    project.makeini("[pytest]\nepochfuzz_corpus = corpus\nepochfuzz_subject = ./run --now\n")


def test_a_case_is_also_replayed_on_the_system_under_test(project: pytest.Pytester) -> None:
    with_subject(project, {})
    result = run(project, "-v")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*::shortest-loss[[]hw, system under test] PASSED*"])
    assert (project.path / "resets.txt").read_text().split() == ["hw", "kip-101"]


def test_a_system_under_test_with_another_verdict_fails_with_both_verdicts(project: pytest.Pytester) -> None:
    with_subject(project, {"kip-101": "hw"})
    result = run(project)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        [
            "shortest-loss under kip-101 is not the same on the system under test:",
            "it breaks *no-committed-loss* (after event 9), and the model breaks nothing",
            "after event 8: replicas.B.leo is 0, and 1 in the model",
            "epochfuzz replay corpus/shortest-loss.yaml --protocol kip-101 --subject *",
            "play: http://127.0.0.1:8320/[?]case=shortest-loss&protocol=kip-101&*&step=8 *",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_case_that_the_system_under_test_cannot_run_is_skipped(project: pytest.Pytester) -> None:
    with_subject(project, {})
    text = (project.path / "subject.py").read_text().replace("return super()", "return ['produce'] if 1 else super()")
    write(project, "subject.py", text)
    result = run(project, "-rs")
    result.assert_outcomes(passed=2, skipped=2)
    result.stdout.fnmatch_lines(["*the system under test cannot run shortest-loss under hw: it has no crash, *"])


def test_a_system_under_test_that_does_not_start_fails_and_is_named(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nepochfuzz_corpus = corpus\nepochfuzz_subject = ./missing\n")
    result = run(project)
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["epochfuzz_subject: *missing*"])


# Verdicts.


def test_a_failing_case_shows_sentences_and_a_timeline_without_a_traceback(project: pytest.Pytester) -> None:
    write(project, "corpus/shortest-loss.yaml", SHORTEST_LOSS.replace("at: 9", "at: 10"))
    result = run(project)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "shortest-loss under hw is not as expected:",
            "the first break was expected after event 10 (produce B), but came after event 9 (notify B)",
            "epochfuzz replay corpus/shortest-loss.yaml --protocol hw --trace",
            "play: http://127.0.0.1:8320/[?]case=shortest-loss&protocol=hw&*&step=9 *",
            "*no-committed-loss at step 9*",
            "*m0 is lost*",
        ]
    )
    assert steps_drawn(result)[-1] == "9 notify B"
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*.py:*")


@pytest.mark.parametrize(
    ("part", "replacement", "last_step"),
    [
        ("hw: {broken: [no-committed-loss], at: 9}", "hw: {broken: []}", 9),
        ("at: 9", "at: 3", 3),
        ("no-committed-loss], at: 9", "no-divergence], at: 2", 10),
        ("no-committed-loss], at: 9", "no-divergence]", 10),
        ("provenance", "states: [{after: 5, protocol: hw, A: {hw: 0}}]\nprovenance", 5),
    ],
    ids=["unexpected violation", "violation too late", "no violation at the event", "no violation", "another state"],
)
def test_the_timeline_of_a_failing_case_ends_at_the_first_unexpected_step(
    project: pytest.Pytester, part: str, replacement: str, last_step: int
) -> None:
    write(project, "corpus/shortest-loss.yaml", SHORTEST_LOSS.replace(part, replacement))
    assert len(steps_drawn(run(project))) == last_step


def test_a_replay_that_differs_from_the_recorded_fingerprint_fails(project: pytest.Pytester) -> None:
    recorded = SHORTEST_LOSS.replace("seed: 7", "fingerprint: {hw: 0123456789abcdef}, seed: 7")
    write(project, "corpus/shortest-loss.yaml", recorded)
    result = run(project)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*but 0123456789abcdef was recorded"])


def test_a_protocol_on_the_command_line_replaces_the_protocols_of_the_case(project: pytest.Pytester) -> None:
    result = run(project, "-v", "--epochfuzz-protocol", "kip-320", "--epochfuzz-protocol", "hw")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*shortest-loss[[]kip-320] PASSED*", "*shortest-loss[[]hw] PASSED*"])


def test_a_protocol_without_an_expectation_must_hold_the_guarantees_of_its_design(
    project: pytest.Pytester,
) -> None:
    cutting = "kip-320:truncation=high_watermark,registration=resume"
    result = run(project, "--epochfuzz-protocol", cutting)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [f"the case has no expectation for {cutting}, which must hold no-committed-loss, but broke it after event 9"]
    )


def test_a_known_bug_of_a_protocol_without_an_expectation_is_no_failure(project: pytest.Pytester) -> None:
    silent = SHORTEST_LOSS.replace("  hw: {broken: [no-committed-loss], at: 9}\n", "")
    write(project, "corpus/shortest-loss.yaml", silent)
    run(project, "--epochfuzz-protocol", "hw").assert_outcomes(passed=1)


def test_an_unknown_protocol_is_a_usage_error(project: pytest.Pytester) -> None:
    result = run(project, "--epochfuzz-protocol", "kip-999")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --epochfuzz-protocol: unknown protocol 'kip-999'; *"])


# Rewriting.


def test_rewriting_replaces_the_expectation_of_a_case_with_the_verdict_of_replay(project: pytest.Pytester) -> None:
    path = write(project, "corpus/shortest-loss.yaml", SHORTEST_LOSS.replace("at: 9", "at: 3"))
    run(project, "--epochfuzz-rewrite").assert_outcomes(passed=2)
    expected = load_case(path).expect["hw"]
    assert "isr-complete" in expected.broken
    assert expected.at == 9
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    run(project).assert_outcomes(passed=2)


def test_rewriting_keeps_a_symbolic_link_and_changes_the_linked_file(project: pytest.Pytester, tmp_path: Path) -> None:
    path = write(project, "corpus/shortest-loss.yaml", SHORTEST_LOSS.replace("at: 9", "at: 3"))
    file = path.rename(tmp_path / "elsewhere.yaml")
    path.symlink_to(file)
    run(project, "--epochfuzz-rewrite").assert_outcomes(passed=2)
    assert path.is_symlink()
    assert load_case(file).expect["hw"].at == 9


def test_a_case_file_is_unchanged_without_rewriting(project: pytest.Pytester) -> None:
    wrong = SHORTEST_LOSS.replace("at: 9", "at: 3")
    path = write(project, "corpus/shortest-loss.yaml", wrong)
    run(project)
    assert path.read_text(encoding="utf-8") == wrong


def test_the_error_names_a_case_file_that_cannot_be_rewritten(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(project, "corpus/shortest-loss.yaml", SHORTEST_LOSS.replace("at: 9", "at: 3"))

    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    result = run(project, "--epochfuzz-rewrite", "-k", "hw")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines([f"{path}: cannot be rewritten: Permission denied"])


# Reports.


def test_the_junit_report_of_a_case_has_seed_fingerprint_and_reproduce_line(project: pytest.Pytester) -> None:
    run(project, "--junitxml=junit.xml")
    properties = {
        test.attrib["name"]: {entry.attrib["name"]: entry.attrib["value"] for entry in test.iter("property")}
        for test in ElementTree.parse(project.path / "junit.xml").iter("testcase")
    }
    case = load_case(project.path / "corpus/shortest-loss.yaml")
    assert properties == {
        f"shortest-loss[{protocol}]": {
            "seed": "7",
            "fingerprint": replay(case.events, parse_protocol(protocol), case.settings).fingerprint,
            "reproduce": f"epochfuzz replay corpus/shortest-loss.yaml --protocol {protocol} --trace",
        }
        for protocol in ("hw", "kip-101")
    }


def test_the_junit_report_of_a_failing_case_has_seed_fingerprint_and_reproduce_line(project: pytest.Pytester) -> None:
    write(project, "corpus/shortest-loss.yaml", SHORTEST_LOSS.replace("at: 9", "at: 3"))
    run(project, "--junitxml=junit.xml")
    failed = [test for test in ElementTree.parse(project.path / "junit.xml").iter("testcase") if len(test) == 2]
    assert [entry.attrib["name"] for entry in failed[0].iter("property")] == ["seed", "fingerprint", "reproduce"]


@pytest.mark.thorough
def test_xdist_workers_share_the_cases(project: pytest.Pytester) -> None:
    write(project, "corpus/other.yaml", SHORTEST_LOSS.replace("at: 9", "at: 3"))
    result = run(project, "-n2")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["the first break was expected after event 3 *"])


@pytest.mark.thorough
def test_two_xdist_workers_can_rewrite_a_case_at_once(project: pytest.Pytester) -> None:
    path = write(project, "corpus/shortest-loss.yaml", SHORTEST_LOSS.replace("at: 9", "at: 3"))
    run(project, "-n2", "--epochfuzz-rewrite").assert_outcomes(passed=2)
    assert load_case(path).expect["hw"].at == 9


# Cost, and life outside this repository.


def test_importing_the_plugin_imports_no_heavy_package() -> None:
    heavy = f"{HEAVY} | {{'numpy', 'yaml', 'epochfuzz.model'}}"
    code = f"import sys, epochfuzz.harness.plugin.hooks; print(({heavy}) & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"


@pytest.mark.thorough
def test_replaying_an_expected_case_imports_no_heavy_package(tmp_path: Path) -> None:
    (tmp_path / "shortest-loss.yaml").write_text(SHORTEST_LOSS, encoding="utf-8")
    (tmp_path / "test_light.py").write_text(f"import sys\ndef test_light(): assert not {HEAVY} & set(sys.modules)\n")
    result = run_elsewhere(tmp_path)
    assert "3 passed" in result.stdout, result.stdout + result.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(("own_profile", "examples"), [(None, 10_000), (9, 9)], ids=["ours", "the project's own"])
def test_hypothesis_profiles_of_epochfuzz_are_available_unless_the_project_defines_them(
    tmp_path: Path, own_profile: int | None, examples: int
) -> None:
    if own_profile:
        (tmp_path / "conftest.py").write_text(
            f"from hypothesis import settings\nsettings.register_profile('nightly', max_examples={own_profile})\n"
        )
    (tmp_path / "test_profile.py").write_text(
        f"from hypothesis import settings\ndef test_profile(): assert settings().max_examples == {examples}\n"
    )
    result = run_elsewhere(tmp_path, "--hypothesis-profile=nightly")
    assert result.returncode == 0, result.stdout + result.stderr


def test_pytest_runs_a_single_case_in_an_empty_directory(tmp_path: Path) -> None:
    (tmp_path / M1_LOSS.name).write_bytes(M1_LOSS.read_bytes())
    result = run_elsewhere(tmp_path)
    assert f"{len(load_case(M1_LOSS).protocols)} passed" in result.stdout, result.stdout + result.stderr


# The project's defaults.


def test_a_case_without_protocols_runs_under_the_protocols_of_the_project(pytester: pytest.Pytester) -> None:
    write(pytester, "pyproject.toml", '[tool.epochfuzz]\nprotocols = ["kip-320", "kip-101"]\n[tool.pytest]\n')
    write(pytester, "silent.yaml", "schema: 1\nid: silent\nwhy: because\nevents: [produce A]\n")
    write(pytester, "shortest-loss.yaml", SHORTEST_LOSS)
    result = run(pytester, "-v")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines_random(["*::silent[[]kip-320] *", "*::silent[[]kip-101] *", "*::shortest-loss[[]hw] *"])


def test_the_project_table_is_read_from_the_rootdir_and_not_the_current_directory(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "pyproject.toml").write_text('[tool.epochfuzz]\nprotocols = ["hw"]\n[tool.pytest]\n')
    (tmp_path / "project" / "test_machine.py").write_text(
        "from epochfuzz import replication_machine\n"
        "def test_machine(): assert [each.name for each in replication_machine().protocols] == ['hw']\n"
    )
    result = run_elsewhere(tmp_path, "project")
    assert "1 passed" in result.stdout, result.stdout + result.stderr


def test_a_mistake_in_the_table_of_the_project_is_a_usage_error(pytester: pytest.Pytester) -> None:
    path = write(pytester, "pyproject.toml", '[tool.epochfuzz]\nprotocols = ["kip-330"]\n[tool.pytest]\n')
    result = run(pytester)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {path}: tool.epochfuzz.protocols: unknown protocol 'kip-330'; *'kip-320'?"])
