"""A failing state machine or conformance test shows a timeline and a case in addition to Hypothesis's steps."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from epochfuzz.harness.cases.case import Case, load_case
from epochfuzz.harness.cases.verdict import judge
from epochfuzz.model.kafka.vocabulary.events import VERBS

pytestmark = pytest.mark.thorough

SUITE = """\
from hypothesis.stateful import invariant
from epochfuzz import conformance_test, replication_machine

TestTooMuch = replication_machine("hw", "kip-101", judged=["isr-complete"]).TestCase


class Forgetful(replication_machine("kip-320", scouted=5)):
    forgot = False

    def happened(self, verb, replica):
        self.forgot |= (verb, replica) == ("restart", "A")

    @invariant()
    def remembers(self):
        assert not self.forgot, "forgot \\x1b[31m"


TestForgetful = Forgetful.TestCase


class MostlyRight:
    def reset(self, config, protocol):
        self.appended = 0
        return ["produce"]

    def apply(self, event):
        self.appended += event == "produce A"
        return event == "produce A"

    def observe(self):
        return {"replicas": {"A": {"leo": min(1, self.appended)}}}


class Dies(MostlyRight):
    def apply(self, event):
        raise RuntimeError("no more")


TestMostlyRight = conformance_test(MostlyRight, records=3)
TestDies = conformance_test(Dies)


def test_without_a_machine():
    assert False
"""
CASES = {
    "TestTooMuch": "hw-isr-complete",
    "TestForgetful": "forgetful",
    "TestMostlyRight": "kip-320-difference-replicas-a-leo-",
    "TestDies": "kip-320-runtimeerror",
}


def run_suite(directory: Path, *arguments: str) -> str:
    (directory / "test_suite.py").write_text(SUITE, encoding="utf-8")
    (directory / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=short", *arguments]
    environment = os.environ | {"PYTEST_ADDOPTS": "", "NO_COLOR": "1", "CI": ""}
    ended = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    return ended.stdout


def sections(report: str) -> dict[str, str]:
    """Return the text of each section of epochfuzz in the report of a failure, by its title."""
    parts = re.split(r"^-+ epochfuzz: (.+?) -+$", report, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


class Ran:
    """A run of the suite that saved cases."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.printed = run_suite(directory, "--epochfuzz-save", "--junitxml=junit.xml")
        reports = re.split(
            r"^_{3,} (\w+?)(?:\.runTest)? _{3,}$", self.printed.partition("= short test")[0], flags=re.MULTILINE
        )
        self.sections = {name: sections(text) for name, text in zip(reports[1::2], reports[2::2], strict=True)}

    @property
    def cases(self) -> dict[str, Case]:
        return {path.stem: load_case(path) for path in (self.directory / "epochfuzz-cases").iterdir()}

    def case(self, test: str) -> Case:
        (case,) = (case for name, case in self.cases.items() if name.startswith(CASES[test]))
        return case


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return Ran(tmp_path_factory.mktemp("suite"))


@pytest.mark.parametrize("test", CASES)
def test_a_failure_shows_the_timeline_and_the_saved_case(ran: Ran, test: str) -> None:
    case = ran.case(test)
    happened, shown = ran.sections[test].values()
    assert list(ran.sections[test]) == ["what happened", f"the case, saved as epochfuzz-cases/{case.id}.yaml"]
    steps = re.findall(r"^(\d+) +(\w+ [A-E])\b", happened, re.MULTILINE)
    assert [int(number) for number, _ in steps] == list(range(1, len(case.events) + 1))
    assert f"play: http://127.0.0.1:8320/?case={case.id}&" in happened
    assert f"&step={len(case.events)} " in happened
    assert case.path is not None
    assert shown.strip() == case.path.read_text(encoding="utf-8").strip()


@pytest.mark.parametrize("test", CASES)
def test_the_saved_case_of_a_failure_replays_as_expected(ran: Ran, test: str) -> None:
    judged = judge(ran.case(test))
    assert judged.verdicts
    assert judged.as_expected


def test_the_case_of_a_broken_property_names_every_protocol_of_the_machine(ran: Ran) -> None:
    case = ran.case("TestTooMuch")
    assert {name: each.broken for name, each in case.expect.items()} == {"hw": ("isr-complete",), "kip-101": ()}
    assert (len(case.events), case.expect["hw"].at) == (7, 7)
    assert "BROKEN: isr-complete" in ran.sections["TestTooMuch"]["what happened"]
    assert "They part at step 7" in ran.sections["TestTooMuch"]["what happened"]


def test_the_case_of_a_users_subclass_has_its_exception_and_events(ran: Ran) -> None:
    case = ran.case("TestForgetful")
    assert case.why.startswith("The state machine Forgetful failed: AssertionError: forgot ")
    assert "\x1b" not in ran.sections["TestForgetful"][f"the case, saved as epochfuzz-cases/{case.id}.yaml"]
    assert len(case.events) == 2


@pytest.mark.parametrize("test", CASES)
def test_a_failure_shows_no_stack_frame_of_epochfuzz_and_only_events_as_steps(ran: Ran, test: str) -> None:
    report = ran.printed.partition(f" {test}.runTest ")[2].partition("epochfuzz: what happened")[0]
    assert "/harness/" not in report
    assert "/strategies/" not in report
    steps = re.findall(r"state\.(\w+)\(", report)
    assert set(steps) <= {*VERBS, "step", "teardown", "isr_complete", "remembers"}


def test_an_exception_of_the_adapter_shows_the_line_in_the_adapter(ran: Ran) -> None:
    report = ran.printed.partition(" TestDies.runTest ")[2].partition("epochfuzz: what happened")[0]
    assert re.search(r"^test_suite\.py:\d+: in apply$", report, re.MULTILINE)


def test_a_conformance_failure_shows_the_values_of_the_adapter_and_the_model(ran: Ran) -> None:
    assert re.search(r"replicas\.A\.leo +│ 2 +│ 1 ", ran.sections["TestMostlyRight"]["what happened"])


def test_a_failure_without_a_schedule_has_no_epochfuzz_section(ran: Ran) -> None:
    assert ran.sections["test_without_a_machine"] == {}
    assert len(ran.cases) == len(CASES)


def test_the_junit_report_has_the_timeline_and_the_case_of_each_failure(ran: Ran) -> None:
    failures = [each.text or "" for each in ElementTree.parse(ran.directory / "junit.xml").iter("failure")]
    assert sum("epochfuzz: what happened" in text and "schema: 1" in text for text in failures) == len(CASES)


def test_pytest_saves_no_case_without_epochfuzz_save(tmp_path: Path) -> None:
    printed = run_suite(tmp_path, "-k", "MostlyRight")
    assert list(sections(printed)) == ["what happened", "the case; --epochfuzz-save saves it"]
    assert not (tmp_path / "epochfuzz-cases").exists()


def test_a_case_is_saved_once_and_does_not_replace_a_case_of_equal_name(ran: Ran, tmp_path: Path) -> None:
    path = ran.case("TestMostlyRight").path
    assert path is not None
    (tmp_path / "epochfuzz-cases").mkdir()
    path = Path(shutil.copy(path, tmp_path / "epochfuzz-cases"))
    printed = run_suite(tmp_path, "-k", "MostlyRight", "--epochfuzz-save")
    assert f"saved as epochfuzz-cases/{path.name}" in printed
    assert list(path.parent.iterdir()) == [path]
    text = path.read_text(encoding="utf-8").partition("states:")[0]
    other = text.replace("events:\n", "events:\n  - produce B\n")
    path.write_text(other, encoding="utf-8")
    printed = run_suite(tmp_path, "-k", "MostlyRight", "--epochfuzz-save")
    assert f"saved as epochfuzz-cases/{path.stem}-2.yaml" in printed
    assert path.read_text(encoding="utf-8") == other


def test_a_failure_names_the_reason_why_its_case_cannot_be_saved(tmp_path: Path) -> None:
    (tmp_path / "epochfuzz-cases").touch()
    printed = run_suite(tmp_path, "-k", "MostlyRight", "--epochfuzz-save")
    assert "epochfuzz: the case, which cannot be saved: " in printed
    assert "INTERNALERROR" not in printed
