"""The rules of the repository that a reviewer would otherwise have to remember."""

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from epochfuzz.harness.environment.extras import EXTRAS
from tests.distributions import distributions_needed, project_table, required_by_extras
from tests.project.sources import ROOT, python_files

# Each layer may import itself and those after it.
LAYERS = ("harness", "strategies", "model")
MODEL_MAY_IMPORT = {"epochfuzz.model", "numba", "numpy", *sys.stdlib_module_names}

LONGEST_FILE = 500
LONGEST_FUNCTION = 60
MOST_BY_POSITION = 5  # fields of a dataclass
MOST_FILES = 16  # in a folder
PIN = re.compile(r"([A-Za-z0-9][\w.-]*)==[0-9][\w.!+-]*")
MACHINE_PATH = re.compile(r"(?<![\w.-])/(?:home|mnt|opt|root|Users|work|workspace)/")


def tracked_files() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listing.stdout.split("\0") if (ROOT / name).is_file()]


def code_files() -> list[Path]:
    """Return the tracked code files, except those whose name a tool requires."""
    return [
        file
        for file in tracked_files()
        if file.suffix in {".py", ".java"} and file.name not in {"__init__.py", "__main__.py", "conftest.py"}
    ]


def searched_with(file: Path) -> tuple[str, ...]:
    """Return the folders in which a person searches for a file.

    These are the model with the engine, a package of harness or tests, or a tested system. Java files of two Kafka
    releases may have the same name, because the newer file replaces the older file.
    """
    if file.parts[0] == "model" or file.parts[:2] == ("harness", "engine"):
        return ("model", "harness/engine")
    overlays = tuple(part for part in file.parts if part.startswith("since-"))
    package = file.parts[: 3 if file.parts[:2] in (("tests", "systems"), ("harness", "lab")) else 2]
    return (*(part for part in package if part != file.name), *overlays)


def imported_packages(path: Path) -> set[str]:
    """Return the top-level packages that a file imports anywhere; for epochfuzz, also the package below."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {".".join(name.split(".")[: 2 if name.startswith("epochfuzz.") else 1]) for name in names}


@pytest.mark.parametrize(
    "command", ["ruff check .", "ruff format --check .", "mypy"], ids=["ruff check", "ruff format", "mypy strict"]
)
def test_ruff_and_mypy_report_nothing(command: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("layer", LAYERS)
def test_no_layer_imports_a_layer_above(layer: str) -> None:
    layers_above = set(LAYERS[: LAYERS.index(layer)])
    upward = {
        f"{path.relative_to(ROOT)} imports {package}"
        for path in python_files(layer)
        for package in imported_packages(path) & {f"epochfuzz.{above}" for above in layers_above}
    }
    assert upward == set()


def package_of(module: str) -> str:
    """Return the package of a module below epochfuzz, such as `harness.views` or `model.kafka.partition`."""
    return ".".join(module.split(".")[: 3 if module.startswith("model.kafka.") else 2])


def imported_names(path: Path) -> set[str]:
    """Return the names below epochfuzz that a file imports, also within functions and under TYPE_CHECKING."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    froms = (node for node in nodes if isinstance(node, ast.ImportFrom))
    names = (f"{node.module}.{each.name}" for node in froms for each in node.names)
    return {name.removeprefix("epochfuzz.") for name in names if name.startswith("epochfuzz.")}


def test_packages_have_no_import_cycle() -> None:
    imported: dict[str, set[str]] = defaultdict(set)
    for path in python_files(*LAYERS):
        package = package_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
        imported[package] |= {package_of(name) for name in imported_names(path)} - {package}
    assert len([*TopologicalSorter(imported).static_order()]) > 30


def test_only_bench_and_selftest_import_harness_lab() -> None:
    entry_points = {"harness/commands/bench.py", "harness/commands/selftest.py"}
    importing = {
        str(path.relative_to(ROOT))
        for path in python_files(*LAYERS)
        if any(name.startswith("harness.lab") for name in imported_names(path))
    }
    assert {name for name in importing if not name.startswith("harness/lab/")} <= entry_points


def test_harness_documents_imports_no_other_package_of_epochfuzz() -> None:
    above = {name for path in python_files("harness/documents") for name in imported_names(path)}
    assert {name for name in above if not name.startswith("harness.documents")} == set()


def test_no_two_public_classes_of_harness_have_the_same_name() -> None:
    places: dict[str, set[str]] = defaultdict(set)
    for path in python_files("harness"):
        if path.is_relative_to(ROOT / "harness" / "documents"):
            continue  # the types of JSON documents have the names of the classes that they describe
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].add(str(path.relative_to(ROOT)))
    assert {name: sorted(files) for name, files in places.items() if len(files) > 1} == {}


# A file name with its folder. A name without a folder, or a case in `corpus/`, may be a file of a user.
FILE_IN_PROSE = re.compile(r"(?<![\w/.-])(?!corpus/)(?:[a-z_]+/)+[a-z_]+\.(?:py|yaml|md|java|pml)\b")


def docstrings_and_comments(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""
    yield from (line for line in text.splitlines() if line.lstrip().startswith("#"))


def test_every_path_in_a_docstring_or_comment_exists() -> None:
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in python_files(*LAYERS)
        for text in docstrings_and_comments(path)
        for name in FILE_IN_PROSE.findall(text)
        if not any((folder / name).is_file() for folder in (ROOT, *path.relative_to(ROOT).parents, *path.parents))
    }
    assert missing == set()


def test_the_model_imports_only_numpy_numba_and_the_standard_library() -> None:
    foreign = {
        f"{path.relative_to(ROOT)} imports {package}"
        for path in python_files("model")
        for package in imported_packages(path) - MODEL_MAY_IMPORT
    }
    assert foreign == set()


def test_no_python_file_exceeds_the_maximum_length() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(*LAYERS, "tests")
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_function_of_harness_is_longer_than_a_screen() -> None:
    lengths = {
        f"{path.relative_to(ROOT)}: {function.name}": function.end_lineno - function.lineno + 1
        for path in python_files("harness")
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef) and function.end_lineno is not None
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION} == {}


def fields_by_position(node: ast.ClassDef) -> list[str]:
    """Return the names of the fields that the constructor of a dataclass takes by position, if the class is one."""
    decorator = next((ast.unparse(each) for each in node.decorator_list if "dataclass" in ast.unparse(each)), "kw_only")
    annotated = [
        (each.target.id, ast.unparse(each.annotation))
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]
    names = [name for name, kind in annotated if not kind.startswith("ClassVar")]
    end = next((number for number, (_, kind) in enumerate(annotated) if kind == "KW_ONLY"), len(names))
    return [] if "kw_only" in decorator else names[:end]


# epochfuzz creates an event for each line of a broker's log. With keywords, that takes longer.
FROM_COLUMNS = {"harness/audit/lines/events.py: Event"}


def test_dataclasses_with_many_fields_take_them_by_keyword() -> None:
    positional = {
        f"{path.relative_to(ROOT)}: {node.name}": fields_by_position(node)
        for path in python_files(*LAYERS)
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }
    assert {name for name, fields in positional.items() if len(fields) > MOST_BY_POSITION} == FROM_COLUMNS


def test_no_folder_has_too_many_code_files() -> None:
    files = Counter(file.parent.relative_to(ROOT).as_posix() for file in code_files())
    assert {folder: count for folder, count in files.items() if count > MOST_FILES} == {}


def test_no_two_code_files_of_a_package_have_the_same_name() -> None:
    names = Counter((searched_with(file.relative_to(ROOT)), file.name) for file in code_files())
    assert [name for name, count in names.items() if count > 1] == []


def test_constraints_contain_only_names_and_versions() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not PIN.fullmatch(line)] == []


def test_constraints_pin_exactly_the_needed_distributions() -> None:
    project = project_table()
    extras = required_by_extras(*project["optional-dependencies"])
    needed = distributions_needed([*project["dependencies"], *extras])
    pins = PIN.findall((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    assert {canonicalize_name(name) for name in pins} == needed | {"pip", "setuptools"}


def test_the_table_of_extras_lists_the_packages_that_pip_installs_for_each_extra() -> None:
    declared = project_table()["optional-dependencies"]
    modules = {extra: {Requirement(text).name for text in declared[extra]} for extra in EXTRAS}
    assert {extra: set(names) for extra, (_, names) in EXTRAS.items()} == modules


def test_the_development_environment_includes_every_extra() -> None:
    requirements = map(Requirement, project_table()["optional-dependencies"]["development"])
    assert [each.extras for each in requirements if each.name == "epochfuzz"] == [set(EXTRAS)]


def test_no_tracked_file_has_an_absolute_path_of_a_developer_machine() -> None:
    named = {
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in tracked_files()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
        if MACHINE_PATH.search(line)
    }
    assert named == set()
