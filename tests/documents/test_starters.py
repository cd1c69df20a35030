"""Each starter builds, conforms, and passes its own test, unless its replica has a mistake."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from epochfuzz.harness.starters.starter import COMMANDS, STAND_INS, Language, Starter, parse_events
from tests.documents.pages import ROOT, named

# By language: the tool that builds or runs the starter, and a mistake: a fetch returns the log from its start.
MISTAKES = {
    Language.GO: ("go", "replica.go", "r.log.read(request.offset, ", "r.log.read(0, "),
    Language.RUST: ("cargo", "src/replica.rs", "self.log.read(request.offset, ", "self.log.read(0, "),
    Language.JAVA: ("javac", "src/main/java/Replica.java", "log.read(request.offset, ", "log.read(0, "),
    Language.PYTHON: ("python3", "replica.py", "self.log.read(offset, ", "self.log.read(0, "),
}
# Maven needs the network, so only a slow test runs it.
BUILDS = {language: commands.build for language, commands in COMMANDS.items()} | {
    Language.JAVA: "javac -Xlint:all -d target/classes src/main/java/*.java"
}


def make(language: Language, events: str, directory: Path, *, is_broken: bool = False) -> None:
    tool, broken, right, wrong = MISTAKES[language]
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    for path, text in Starter(language, parse_events(events)).files().items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text, encoding="utf-8")
    if is_broken:
        text = (directory / broken).read_text(encoding="utf-8")
        assert text.count(right) == 1
        (directory / broken).write_text(text.replace(right, wrong), encoding="utf-8")


def build(language: Language, directory: Path) -> None:
    built = run(BUILDS[language], directory)
    assert (built.returncode, "warning" in built.stdout.lower()) == (0, False), built.stdout


def run(command: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with this Python's epochfuzz; stdout has both streams."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-e", "-c", command],
        cwd=directory,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "CARGO_NET_OFFLINE": "true"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=500,
        check=False,
    )


@pytest.mark.thorough
@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize(("events", "is_broken"), [("", False), ("", True), ("all", False)])
def test_a_starter_conforms_to_kip_320_unless_its_replica_is_broken(
    language: Language, events: str, is_broken: bool, tmp_path: Path
) -> None:
    make(language, events, tmp_path, is_broken=is_broken)
    build(language, tmp_path)
    conform = COMMANDS[language].conform.replace("--schedules 100", "--schedules 30 --replicas 3 --seed 1 --certify 0")
    ended = run(conform, tmp_path)
    assert ended.returncode == (1 if is_broken else 0), ended.stdout
    said = "does NOT conform to kip-320" if is_broken else "The system under test conforms to kip-320"
    assert said in ended.stdout
    assert ("replicas.B.l" in ended.stdout or "replicas.C.l" in ended.stdout) == is_broken


@pytest.mark.thorough
@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("setting", ["--lag-time", "--delayed-fetch", "--retries", "--consumer", "--controllers 2"])
def test_a_starter_rejects_a_setting_that_it_does_not_support(language: Language, setting: str, tmp_path: Path) -> None:
    make(language, "", tmp_path)
    build(language, tmp_path)
    ended = run(COMMANDS[language].conform.replace("--schedules 100", f"--schedules 1 {setting}"), tmp_path)
    assert ended.returncode == 2, ended.stdout
    assert "the system under test cannot run this protocol and configuration" in ended.stdout


@pytest.mark.thorough
@pytest.mark.parametrize("language", [Language.GO, Language.RUST, Language.JAVA])
@pytest.mark.parametrize("events", ["drop,crash", "restart", "expand,notify"])
def test_a_starter_with_some_events_builds_without_a_warning(language: Language, events: str, tmp_path: Path) -> None:
    make(language, events, tmp_path)
    build(language, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("is_broken", [False, True])
def test_the_test_of_a_starter_passes_unless_the_starter_is_broken(
    language: Language, is_broken: bool, tmp_path: Path
) -> None:
    if language is Language.JAVA and shutil.which("mvn") is None:
        pytest.skip("mvn is not installed")
    make(language, "all", tmp_path, is_broken=is_broken)
    built = run(COMMANDS[language].build, tmp_path)
    assert built.returncode == 0, built.stdout
    ended = run(COMMANDS[language].test, tmp_path)
    assert (ended.returncode == 0) != is_broken, ended.stdout
    assert ("replicas.B.l" in ended.stdout) == is_broken, ended.stdout


def test_the_adapter_page_lists_the_commands_and_the_stand_ins_of_each_language() -> None:
    page = named("how-to/adapter.md").read_text(encoding="utf-8")
    for language, commands in COMMANDS.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{language}` |"))
        cells = [cell.strip(" `") for cell in row.strip("|").split("|")]
        assert cells == [language, commands.build, commands.test, "`, `".join(STAND_INS[language])]
