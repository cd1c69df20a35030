"""The wheel claims one name, works next to packages with the names of our folders, and works without extras."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.distributions import distributions_needed, project_table
from tests.documents.pages import assert_printed, blocks, named

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
OWN_PACKAGES = ("model", "harness", "strategies")

CASE = """\
schema: 1
id: shortest-loss
why: B truncates m0, which A has committed, and is elected.
events: [produce A, fetch B, receive B, fetch B, crash B, restart B, elect B, notify B, notify B]
expect:
  hw: {broken: [no-committed-loss], at: 9}
"""
TEST = """\
from epochfuzz.harness.testing import run_schedule
from epochfuzz.strategies.machine import replication_machine
import harness, model, strategies

TestMachine = replication_machine("kip-320", scouted=1).TestCase
TestMachine.settings = type(TestMachine.settings)(TestMachine.settings, max_examples=1)

def test_packages_are_the_projects_own():
    assert [package.OWN for package in (model, harness, strategies)] == [True, True, True]

def test_epochfuzz_is_importable():
    assert run_schedule(["produce A"], "kip-320").broken == []
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    run("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", directory, ROOT)
    (made,) = directory.glob("*.whl")
    return made


def ended(*words: object, python: object = sys.executable, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a Python that imports only installed packages."""
    command = [str(python), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=clean_environment())


def clean_environment() -> dict[str, str]:
    """Return the environment without PYTHONPATH."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def run(*words: object, python: object = sys.executable, cwd: Path = ROOT) -> str:
    result = ended(*words, python=python, cwd=cwd)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the wheel installed, and with the packages of this Python."""
    environment = tmp_path_factory.mktemp("environment")
    run("-m", "venv", "--without-pip", environment)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    run("-m", "pip", "install", "--quiet", "--no-deps", "--target", packages, wheel)
    return environment / "bin" / "python"


@pytest.fixture(scope="module")
def bare_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the wheel and its dependencies, without extras, as after `pip install epochfuzz`."""
    environment = tmp_path_factory.mktemp("bare")
    run("-m", "venv", "--without-pip", environment)
    (packages,) = environment.glob("lib/python*/site-packages")
    for name in distributions_needed(project_table()["dependencies"]):
        files = importlib.metadata.files(name) or []
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            place = packages / top
            if not place.exists():
                place.symlink_to(Path(str(importlib.metadata.distribution(name).locate_file(top))))
    run("-m", "pip", "install", "--quiet", "--no-deps", "--target", packages, wheel)
    return environment / "bin" / "python"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with packages `model`, `harness` and `strategies` of its own, a case, and tests."""
    for name in OWN_PACKAGES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("OWN = True\n", encoding="utf-8")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "shortest-loss.yaml").write_text(CASE, encoding="utf-8")
    (tmp_path / "test_project.py").write_text(TEST, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nepochfuzz_corpus = corpus\npythonpath = .\n", encoding="utf-8")
    return tmp_path


def test_the_wheel_claims_only_the_name_epochfuzz(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"epochfuzz"}


def test_the_wheel_has_every_file_of_the_packages(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    kinds = {".py", ".yaml", ".css", ".js", ".html", ".svg", ".txt"}
    files = [path for folder in OWN_PACKAGES for path in (ROOT / folder).rglob("*") if path.suffix in kinds]
    assert {f"epochfuzz/{path.relative_to(ROOT)}" for path in files} <= names
    assert {"epochfuzz/__init__.py", "epochfuzz/py.typed"} <= names


@pytest.mark.parametrize("started", [["-m", "pytest"], ["-c", "import sys, pytest; sys.exit(pytest.main())"]])
def test_a_project_with_packages_of_equal_names_imports_its_own_and_epochfuzz(
    python: Path, project: Path, started: list[str]
) -> None:
    printed = run(*started, *(["-q"] if started[0] == "-m" else []), python=python, cwd=project)
    assert "4 passed" in printed


def test_commands_and_modules_are_found_with_only_the_wheel_installed(python: Path, project: Path) -> None:
    printed = run("-m", "epochfuzz", "replay", "corpus", "--json", python=python, cwd=project)
    assert '"as_expected": true' in printed
    assert "site-packages" in run(
        "-c", "import epochfuzz.model.kafka.step as s; print(s.__file__)", python=python, cwd=project
    )


def test_cases_and_machines_run_in_pytest_without_any_extra(bare_python: Path, project: Path) -> None:
    assert "4 passed" in run("-m", "pytest", "-q", python=bare_python, cwd=project)
    lacking = "from epochfuzz.harness.environment.extras import *; [require(extra) for extra in EXTRAS]"
    with pytest.raises(AssertionError, match="MissingExtra"):
        run("-c", lacking, python=bare_python, cwd=project)


def test_commands_that_need_no_extra_run_without_extras(bare_python: Path, project: Path) -> None:
    for words in (
        "fuzz --protocol hw --schedules 100 --seed 7",
        "replay corpus --trace",
        "report corpus --out cases.html",
        "shrink corpus/shortest-loss.yaml --protocol hw",
        "explore --protocol kip-320 --records 1 --epochs 1",
        "explain releases",
        "--version",
    ):
        run("-m", "epochfuzz", *words.split(), python=bare_python, cwd=project)


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        ("campaign run --out tonight", "spark"),
        ("campaign resume tonight", "spark"),
        ("campaign report tonight", "spark"),
        ("conform --campaign tonight -- true", "spark"),
        ("bench", "spark"),
        ("fuzz --report walk.html", "report"),
    ],
)
def test_the_error_about_a_missing_extra_has_the_command_that_installs_the_extra(
    bare_python: Path, project: Path, words: str, extra: str
) -> None:
    result = ended("-m", "epochfuzz", *words.split(), python=bare_python, cwd=project)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith(f"not installed: pip install 'epochfuzz[{extra}]'\n")
    assert result.stderr.count("\n") == 1
    assert not (project / "tonight").exists()


@pytest.mark.parametrize("page", ["quickstart", "tutorial"])
def test_a_page_that_asks_for_the_bare_wheel_can_be_followed_without_extras(
    bare_python: Path, tmp_path: Path, page: str
) -> None:
    for name in ("pytest", "epochfuzz"):
        script = bare_python.with_name(name)
        script.write_text(f'#!/bin/sh\nexec "{bare_python}" -m {name} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    environment = clean_environment() | {"PATH": f"{bare_python.parent}{os.pathsep}{os.environ['PATH']}"}
    for block in blocks(named(f"start/{page}.md")):
        if "file" in block.notes:
            place = tmp_path / block.notes["file"]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.text, encoding="utf-8")
        elif block.language == "sh" and not block.is_slow:
            command = ["sh", "-e", "-c", block.text]
            result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
            assert result.returncode == block.exit_code, f"{block.text}\n{result.stdout}{result.stderr}"
            assert_printed(result.stdout + result.stderr, block.promised)


@pytest.mark.slow
def test_the_ci_workflow_of_the_page_runs_as_written(wheel: Path, bare_python: Path, project: Path) -> None:
    (page,) = (block for block in blocks(named("how-to/ci.md"), "yaml") if block.notes["file"].startswith(".github/"))
    workflow = yaml.safe_load(page.text)
    assert set(workflow[True]) == {"push", "pull_request", "schedule"}  # YAML takes `on` for true
    (project / "wheels").mkdir()
    shutil.copy(wheel, project / "wheels")
    run("-m", "ensurepip", "--default-pip", python=bare_python)
    script = bare_python.with_name("pytest")
    script.write_text(f"#!{bare_python}\nimport sys, pytest\nsys.exit(pytest.main())\n", encoding="utf-8")
    script.chmod(0o755)
    starter = "new-adapter --language python --events all my-adapter"
    run("-m", "epochfuzz", *starter.split(), python=bare_python, cwd=project)
    environment = clean_environment() | {
        "PATH": f"{bare_python.parent}{os.pathsep}{os.environ['PATH']}",
        # The packages are installed already, and fewer schedules take seconds instead of ten minutes.
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_FORCE_REINSTALL": "1",
        "CI": "true",
    }
    for step in workflow["jobs"]["epochfuzz"]["steps"]:
        if "run" in step:
            command = ["bash", "-e", "-c", step["run"].replace("--schedules 20000", "--schedules 20")]
            result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=project, env=environment)
            assert result.returncode == 0, f"{step}\n{result.stdout}{result.stderr}"
        else:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])


def test_editors_and_type_checkers_find_a_development_installation() -> None:
    """An installation for development adds a directory to the path. It uses no import hook, which only Python knows."""
    places = [
        Path(line)
        for file in Path(sysconfig.get_path("purelib")).glob("*epochfuzz*.pth")
        for line in file.read_text().splitlines()
    ]
    if places:  # this one is an installation for development
        assert any((place / "epochfuzz" / "model" / "kafka" / "step.py").is_file() for place in places)
