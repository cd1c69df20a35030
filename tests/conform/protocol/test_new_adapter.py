"""`epochfuzz new-adapter` and `epochfuzz skill`: the files, the messages and the exit codes."""

import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from epochfuzz.harness.starters.starter import FIRST, Language, Starter, parse_events, possible
from epochfuzz.model.kafka.vocabulary.events import Verb

BUILD_FILES = {"go": "go.mod", "rust": "Cargo.toml", "java": "pom.xml", "python": "pyproject.toml"}
TESTS = {
    "go": "adapter_test.go",
    "rust": "tests/conformance.rs",
    "java": "src/test/java/AdapterTest.java",
    "python": "test_adapter.py",
}


@pytest.mark.parametrize("language", BUILD_FILES)
def test_a_starter_has_a_build_file_a_test_a_workflow_and_three_next_steps(epochfuzz: Any, language: str) -> None:
    ended = epochfuzz("new-adapter", "--language", language, "mine")
    assert ended.code == 0
    for path in (BUILD_FILES[language], TESTS[language], ".github/workflows/epochfuzz.yaml", "README.md"):
        assert (Path("mine") / path).is_file()
    assert [f"  {number}. " in ended.out for number in (1, 2, 3, 4)] == [True, True, True, False]


def test_the_json_of_new_adapter_has_the_files_the_commands_and_the_next_steps(epochfuzz: Any) -> None:
    ended = epochfuzz("new-adapter", "--language", "rust", "--events", "crash, drop", "mine", "--json")
    assert ended.json["events"] == ["produce", "fetch", "receive", "drop", "crash"]
    assert {Path(path) for path in ended.json["files"]} == {path for path in Path("mine").rglob("*") if path.is_file()}
    assert ended.json["build"] == "cargo build --release"
    assert len(ended.json["next_steps"]) == 3


def test_new_adapter_stops_at_an_existing_file_and_writes_nothing(epochfuzz: Any) -> None:
    Path("mine").mkdir()
    readme = Path("mine/README.md")
    readme.write_text("Mine.\n")
    ended = epochfuzz("new-adapter", "--language", "go", "mine")
    assert ended.code == 2
    assert ended.err.startswith("epochfuzz: mine/README.md: exists already, and new-adapter never replaces a file")
    assert [*Path("mine").iterdir()] == [readme]
    assert readme.read_text() == "Mine.\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--events", "crsh", "mine"), "--events: a starter has no event 'crsh'; did you mean 'crash'?"),
        (("--events", "flush", "mine"), "--events: a starter has no event 'flush'; its events are produce, "),
        (("file",), "file/.github/workflows/epochfuzz.yaml: cannot be written: Not a directory"),
    ],
)
def test_new_adapter_rejects_a_wrong_event_or_directory_with_exit_code_2(
    epochfuzz: Any, words: tuple[str, ...], message: str
) -> None:
    Path("file").touch()
    ended = epochfuzz("new-adapter", "--language", "python", *words)
    assert ended.code == 2
    assert ended.err.startswith(f"epochfuzz: {message}")
    assert [*Path().iterdir()] == [Path("file")]


def test_events_all_selects_the_events_of_kip_320_that_need_no_setting() -> None:
    events = parse_events("all")
    assert len(events) == 12
    assert {verb.setting for verb in events} == {None}
    assert not {Verb.ALTER, Verb.UNFENCE} & {*events}


@pytest.mark.parametrize("language", Language)
def test_a_starter_without_an_event_has_no_code_for_the_event(language: Language) -> None:
    least, most = ("".join(Starter(language, parse_events(events)).files().values()).lower() for events in ("", "all"))
    names = ("shrink(", "elect(", "start_epoch", "startepoch", "leader_epoch")
    assert [name in least for name in names] == [False] * 5
    assert sum(name in most for name in names) == 4  # of two spellings, each language has one


CASES = [*([verb] for verb in possible()), [Verb.RESTART, Verb.ELECT], [Verb.NOTIFY, Verb.ELECT, Verb.SHRINK]]


@pytest.mark.thorough
@pytest.mark.parametrize("verbs", [*CASES, possible()], ids=lambda verbs: ",".join(verb.text for verb in verbs))
def test_a_python_starter_with_any_events_conforms(epochfuzz: Any, verbs: list[Verb]) -> None:
    events = ",".join(verb.text for verb in verbs)
    assert epochfuzz("new-adapter", "--language", "python", "--events", events, "mine").code == 0
    words = ("--replicas", "3", "--schedules", "12", "--seed", "1", "--json")
    document = epochfuzz("conform", *words, "--", sys.executable, "mine/adapter.py").json
    assert document["findings"] == []
    lacking = {verb.text for verb in possible()} - {verb.text for verb in (*FIRST, *verbs)}
    assert lacking <= {*document["never_applied"]}


@pytest.mark.parametrize(
    "options",
    [("--min-insync-replicas", "2"), ("--unclean-leader-election", "--records-per-fetch", "2"), ("--acks", "1")],
    ids=" ".join,
)
def test_a_python_starter_with_all_events_conforms_in_other_configurations(
    epochfuzz: Any, options: tuple[str, ...]
) -> None:
    epochfuzz("new-adapter", "--language", "python", "--events", "all", "mine")
    words = ("--replicas", "3", *options, "--schedules", "12", "--seed", "1")
    assert epochfuzz("conform", *words, "--", sys.executable, "mine/adapter.py").code == 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--protocol", "kip-101"), "this adapter follows kip-320, not kip-101"),
        (("--asynchronous-checkpoint",), "this adapter does not support asynchronous_checkpoint"),
        (("--controllers", "2"), "this adapter does not support controllers"),
    ],
)
def test_a_starter_rejects_a_protocol_or_setting_that_it_does_not_have(
    epochfuzz: Any, options: tuple[str, ...], reason: str
) -> None:
    epochfuzz("new-adapter", "--language", "python", "--events", "all", "mine")
    ended = epochfuzz("conform", *options, "--schedules", "1", "--", sys.executable, "mine/adapter.py")
    assert ended.code == 2
    assert reason in ended.err


def test_conform_names_the_next_event_and_the_coverage_points_that_it_opens(epochfuzz: Any) -> None:
    epochfuzz("new-adapter", "--language", "python", "mine")
    words = ("conform", "--schedules", "3", "--seed", "1")
    command = ("--", sys.executable, "mine/adapter.py")
    opened = epochfuzz(*words, "--json", *command).json["next_event"]
    assert opened["event"] == "crash"
    assert {"transitions crash", "pairs produce, crash", "transitions produce refused: IS_DOWN"} <= {*opened["opens"]}
    said = f"Next event to support: crash, which opens {len(opened['opens'])} coverage points"
    assert said in epochfuzz(*words, *command).out.splitlines()


def test_conform_names_no_next_event_if_the_adapter_has_them_all(epochfuzz: Any) -> None:
    epochfuzz("new-adapter", "--language", "python", "--events", "all", "mine")
    ended = epochfuzz("conform", "--schedules", "5", "--seed", "1", "--json", "--", sys.executable, "mine/adapter.py")
    assert ended.json["next_event"] is None


def test_skill_prints_the_file_of_the_package(epochfuzz: Any) -> None:
    text = (files("epochfuzz.harness.starters") / "SKILL.md").read_text(encoding="utf-8")
    assert epochfuzz("skill").out == text
    assert epochfuzz("skill", "--json").json == {"skill": text}
    assert text.startswith("---\nname: epochfuzz\ndescription:")
