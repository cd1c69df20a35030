"""The system check of `make`, on systems that consist of stub commands and may lack Python or Java."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / ".ci" / "system-check"
SHELL = shutil.which("sh") or "sh"


@dataclass(frozen=True)
class System:
    """A system whose only commands are the stubs added to it."""

    commands: Path

    def add_python(self, command: str, version: str, *, venv: bool = True) -> Path:
        return self._add(
            self.commands / command, f'case "$2" in *ensurepip*) {"" if venv else "false"} ;; *) echo {version} ;; esac'
        )

    def add_java(self, banner: str, *, home: Path | None = None) -> Path:
        command = home / "bin" / "java" if home else self.commands / "java"
        return self._add(command, f"echo '{banner}' >&2")

    def check(self, **environment: object) -> subprocess.CompletedProcess[str]:
        variables = {"PATH": str(self.commands)} | {name: str(value) for name, value in environment.items()}
        return subprocess.run([SHELL, CHECK], env=variables, capture_output=True, text=True, timeout=60, check=False)

    @staticmethod
    def _add(path: Path, script: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{SHELL}\n{script}\n")
        path.chmod(0o755)
        return path


@pytest.fixture
def bare(tmp_path: Path) -> System:
    """A system with neither Python nor Java."""
    commands = tmp_path / "commands"
    commands.mkdir()
    return System(commands)


@pytest.fixture
def with_java(bare: System) -> System:
    bare.add_java('openjdk version "17.0.15" 2025-04-15')
    return bare


@pytest.fixture
def with_python(bare: System) -> System:
    bare.add_python("python3", "3.11")
    return bare


def assert_refused(result: subprocess.CompletedProcess[str], *messages: str) -> None:
    assert result.returncode == 1
    complaints = [line for line in result.stderr.splitlines() if line.startswith("epochfuzz: ")]
    assert len(complaints) == 1, result.stderr
    for message in messages:
        assert message in result.stderr


def test_a_complete_system_passes_and_its_python_is_printed(with_java: System) -> None:
    python = with_java.add_python("python3", "3.11")
    result = with_java.check()
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{python}\n", "")


def test_the_system_check_asks_for_a_missing_python_and_a_missing_java_at_once(bare: System) -> None:
    result = bare.check()
    assert result.returncode == 1
    assert "needs Python 3.11 to 3.14; python3 was not found" in result.stderr
    assert "sudo apt-get install python3 python3-venv" in result.stderr
    assert "needs Java 17 or newer; java was not found" in result.stderr
    assert "sudo apt-get install openjdk-17-jre-headless" in result.stderr


@pytest.mark.parametrize("version", ["2.7", "3.9", "3.10", "3.15"])
def test_an_unsupported_python_is_named_with_its_version(with_java: System, version: str) -> None:
    with_java.add_python("python3", version)
    assert_refused(with_java.check(), f"python3 is Python {version}", "sudo apt-get install python3.11 python3.11-venv")


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_system_check_uses_a_supported_python_next_to_an_old_python3(with_java: System, version: str) -> None:
    with_java.add_python("python3", "3.9")
    python = with_java.add_python(f"python{version}", version)
    result = with_java.check()
    assert (result.returncode, result.stdout) == (0, f"{python}\n")


def test_the_system_check_names_the_package_of_a_missing_venv_module(with_java: System) -> None:
    with_java.add_python("python3", "3.12", venv=False)
    assert_refused(
        with_java.check(), "the venv module of Python 3.12 is missing", "sudo apt-get install python3.12-venv"
    )


def test_the_system_check_prefers_a_python_with_the_venv_module(with_java: System) -> None:
    with_java.add_python("python3", "3.12", venv=False)
    python = with_java.add_python("python3.11", "3.11")
    result = with_java.check()
    assert (result.returncode, result.stdout) == (0, f"{python}\n")


def test_a_python_that_does_not_run_counts_as_missing(with_java: System) -> None:
    with_java.add_python("python3", "''")
    assert_refused(with_java.check(), "python3 was not found or does not run")


def test_the_python_named_by_the_user_is_used(with_java: System, tmp_path: Path) -> None:
    with_java.add_python("python3", "3.11")
    chosen = System(tmp_path / "a directory").add_python("python", "3.13")
    result = with_java.check(PYTHON=chosen)
    assert (result.returncode, result.stdout) == (0, f"{chosen}\n")


def test_the_python_named_by_the_user_is_not_replaced_by_another(with_java: System) -> None:
    with_java.add_python("python3", "3.11")
    old = with_java.add_python("old", "3.8")
    assert_refused(with_java.check(PYTHON=old), f"{old} is Python 3.8")


@pytest.mark.parametrize(
    ("banner", "version"),
    [
        ('java version "1.8.0_402"', "1.8.0_402"),
        ('openjdk version "11.0.22" 2024-01-16', "11.0.22"),
        ('openjdk version "16" 2021-03-16', "16"),
    ],
)
def test_an_old_java_is_named_with_its_version(with_python: System, banner: str, version: str) -> None:
    with_python.add_java(banner)
    assert_refused(with_python.check(), f"java is Java {version}\n", "sudo apt-get install openjdk-17-jre-headless")


@pytest.mark.parametrize(
    "banner",
    [
        'openjdk version "17.0.15" 2025-04-15',
        'openjdk version "21" 2023-09-19',
        'openjdk version "25-ea" 2025-09-16',
        'Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "17.0.15" 2025-04-15',
    ],
)
def test_java_17_and_newer_pass_with_any_version_banner(with_python: System, banner: str) -> None:
    with_python.add_java(banner)
    assert with_python.check().returncode == 0


def test_a_java_that_announces_no_version_counts_as_missing(with_python: System) -> None:
    with_python.add_java("Unable to locate a Java Runtime.")
    assert_refused(with_python.check(), "java was not found or does not run")


def test_java_home_is_used_without_a_java_on_the_path(with_python: System, tmp_path: Path) -> None:
    with_python.add_java('openjdk version "21.0.2" 2024-01-16', home=tmp_path / "jdk 21")
    assert with_python.check(JAVA_HOME=tmp_path / "jdk 21").returncode == 0


def test_an_old_java_home_is_an_error_even_if_the_path_has_a_new_java(with_python: System, tmp_path: Path) -> None:
    with_python.add_java('openjdk version "17.0.15" 2025-04-15')
    with_python.add_java('openjdk version "11.0.22" 2024-01-16', home=tmp_path)
    assert_refused(with_python.check(JAVA_HOME=tmp_path), "is Java 11.0.22", "point JAVA_HOME to another")


def test_the_error_for_a_java_home_without_java_names_the_missing_file(with_python: System, tmp_path: Path) -> None:
    assert_refused(
        with_python.check(JAVA_HOME=tmp_path), f"{tmp_path}{os.sep}bin/java was not found", "point JAVA_HOME to another"
    )
