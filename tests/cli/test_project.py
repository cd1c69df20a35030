"""`[tool.epochfuzz]` in pyproject.toml: the default protocols and configuration of a project."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from epochfuzz import Configuration, conformance_test, replication_machine
from epochfuzz.harness.cli.main import app
from epochfuzz.strategies.project import look_in, project

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Return a function that writes the project table, in the parent of the current directory."""
    (tmp_path / "tests").mkdir()
    monkeypatch.chdir(tmp_path / "tests")
    look_in(None)

    def write_table(text: str) -> Path:
        path = tmp_path / "pyproject.toml"
        path.write_text(f"[tool.epochfuzz]\n{text}\n", encoding="utf-8")
        return path

    return write_table


@pytest.fixture
def walked(epochfuzz: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a short random run. It returns the protocols and the configuration of the run."""

    def walk(*words: str) -> tuple[list[str], dict[str, Any]]:
        document = epochfuzz("fuzz", "--schedules", 1, "--seed", 1, "--json", *words).json
        return document["protocols"], document["configuration"]

    return walk


# A file that cannot be read.


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: os.mkfifo(path), "cannot be read: it is not a regular file; rename or remove it"),
        (lambda path: path.mkdir(), "cannot be read: it is not a regular file; rename or remove it"),
        (lambda path: path.symlink_to("/dev/zero"), "cannot be read: it is not a regular file; rename or remove it"),
        (lambda path: path.symlink_to(path), "cannot be read: Too many levels of symbolic links; rename or remove it"),
        (
            lambda path: path.write_text(f"x = {'[' * 5000}{']' * 5000}"),
            "cannot be read: its values are nested too deeply",
        ),
    ],
    ids=["a pipe", "a directory", "a device", "a loop of links", "5000 nested lists"],
)
def test_fuzz_stops_with_a_message_and_does_not_block_if_pyproject_toml_is_unreadable(
    write: Write, tmp_path: Path, epochfuzz: Callable[..., Any], make: Callable[[Path], Any], said: str
) -> None:
    path = tmp_path / "pyproject.toml"
    make(path)
    ended = epochfuzz("fuzz", "--schedules", 1)
    assert (ended.code, ended.out, ended.err) == (2, "", f"epochfuzz: {path}: {said}\n")


# The place of the table.


def test_the_project_table_is_found_above_a_pyproject_toml_without_the_table(write: Write, tmp_path: Path) -> None:
    write('protocols = ["hw"]')
    Path("pyproject.toml").write_text("[tool.ruff]\n", encoding="utf-8")
    assert [protocol.name for protocol in project().protocols] == ["hw"]


def test_a_project_without_the_table_has_no_protocols_and_the_default_configuration(write: Write) -> None:
    assert (project().protocols, project().settings) == ((), Configuration())


# Commands and tests that use the table.


def test_fuzz_uses_the_protocols_and_the_configuration_of_the_project_table(
    write: Write, walked: Callable[..., Any]
) -> None:
    write('protocols = ["kip-101", "kip-320"]\nconfig = {replicas = 3, acks = 1, power_loss = true}')
    assert walked() == (["kip-101", "kip-320"], {"replicas": 3, "acks": "1", "power_loss": True})


def test_an_option_of_fuzz_overrides_the_project_table(write: Write, walked: Callable[..., Any]) -> None:
    write('protocols = ["kip-101", "kip-320"]\nconfig = {replicas = 3, acks = "1", power_loss = true}')
    options = ("--protocol", "hw", "--replicas", "2", "--acks", "all", "--no-power-loss")
    assert walked(*options) == (["hw"], {"replicas": 2})


def test_the_reproduce_command_of_fuzz_has_the_options_that_override_the_project_table(
    write: Write, epochfuzz: Callable[..., Any]
) -> None:
    write('config = {replicas = 3, acks = "1", power_loss = true}')
    options = "--protocol hw --replicas 2 --acks all --no-power-loss --schedules 10 --seed 1"
    assert epochfuzz("fuzz", *options.split(), "--json").json["reproduce"] == f"epochfuzz fuzz {options}"


def test_ablate_ignores_the_protocols_of_the_project_table(write: Write, epochfuzz: Callable[..., Any]) -> None:
    write('protocols = ["hw"]')
    bounds = ("--records", 1, "--epochs", 1)
    ended = epochfuzz("fuzz", "--ablate", "kip-101", *bounds, "--schedules", 10, "--seed", 1, "--json")
    assert ended.json["protocols"][0] == "kip-101"


@pytest.mark.parametrize(("protocols", "code"), [('["kip-320"]', 0), ('["kip-320", "hw"]', 2)])
def test_explore_uses_the_project_table_only_if_the_table_has_a_single_protocol(
    write: Write, epochfuzz: Callable[..., Any], protocols: str, code: int
) -> None:
    write(f"protocols = {protocols}")
    assert epochfuzz("explore", "--records", 1, "--epochs", 1).code == code


def test_replay_uses_the_protocols_of_the_project_table_for_a_case_without_expectations(
    write: Write, epochfuzz: Callable[..., Any]
) -> None:
    write('protocols = ["kip-320", "hw"]')
    for name, more in (("silent", ""), ("speaking", "expect: {kip-101: {broken: []}}\n")):
        text = f"schema: 1\nid: {name}\nwhy: It shows which.\nevents: [produce A]\n{more}"
        Path(f"{name}.yaml").write_text(text, encoding="utf-8")
    silent, speaking = epochfuzz("replay", ".", "--json").json["cases"]
    assert (list(silent["protocols"]), list(speaking["protocols"])) == (["kip-320", "hw"], ["kip-101"])


def test_a_state_machine_takes_missing_arguments_from_the_project_table(write: Write) -> None:
    write('protocols = ["kip-101", "kip-320"]\nconfig = {replicas = 3}')
    told, not_told = replication_machine("hw", settings=Configuration(acks="1")), replication_machine()
    assert [protocol.name for protocol in not_told.protocols] == ["kip-101", "kip-320"]
    assert not_told.scout.settings == Configuration(replicas=3)
    assert [protocol.name for protocol in told.protocols] == ["hw"]
    assert told.scout.settings == Configuration(acks="1")


def test_a_conformance_test_takes_missing_arguments_from_the_project_table(write: Write) -> None:
    asked = []

    class MyLog:
        def reset(self, config: Any, protocol: str) -> list[str]:
            asked.append((protocol, config["replicas"], config["acks"]))
            return ["produce"]

        def apply(self, event: str) -> bool:
            return True

        def observe(self) -> Any:
            return {}

    write('protocols = ["kip-101"]\nconfig = {replicas = 3, acks = "1"}')
    for test in (conformance_test(MyLog, replicas=2), conformance_test(MyLog, protocol="hw", acks="all")):
        test("runTest").run()
    assert set(asked) == {("kip-101", 2, "1"), ("hw", 3, "all")}


# Invalid tables.


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ('protocol = ["hw"]', "tool.epochfuzz.protocol: unknown key; did you mean 'protocols'?"),
        ('protocols = "hw"', """tool.epochfuzz.protocols: a list of protocols, such as ["kip-320"]; got 'hw'"""),
        ('protocols = ["kip-330"]', "tool.epochfuzz.protocols: unknown protocol 'kip-330'; did you mean 'kip-320'?"),
        ("config = 3", "tool.epochfuzz.config: a table of settings, such as {replicas = 3}; got 3"),
        ("config = {replica = 3}", "tool.epochfuzz.config.replica: unknown key; did you mean 'replicas'?"),
        ("config = {replicas = 9}", "tool.epochfuzz.config.replicas: replicas must be from 2 to 5; got 9"),
        ("config = {power_loss = 1}", "tool.epochfuzz.config.power_loss: power_loss must be true or false; got 1"),
        ("config = [", "Invalid value (at end of document)"),
    ],
)
def test_the_message_for_an_invalid_project_table_names_the_file_and_the_problem(
    write: Write, epochfuzz: Callable[..., Any], table: str, complaint: str
) -> None:
    path = write(table)
    ended = epochfuzz("fuzz", "--schedules", 1)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"epochfuzz: {path}: {complaint}\n"


def test_shell_completion_ignores_an_invalid_project_table(write: Write) -> None:
    write("protocol = 1")
    words = {"_EPOCHFUZZ_COMPLETE": "complete_bash", "COMP_WORDS": "epochfuzz fuzz --protocol kip-3", "COMP_CWORD": "3"}
    assert CliRunner().invoke(app, [], prog_name="epochfuzz", env=words).output.split() == ["kip-320"]
