"""The engine runs any model: neither it nor the core imports Kafka's, or what in the harness knows of Kafka."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ROOT / "harness" / "documents" / "parts.py"  # of JSON documents, which say of a search how far it came
FILES = [PARTS, *sorted(each for folder in ("harness/engine", "model/core") for each in (ROOT / folder).rglob("*.py"))]

# What else of the project they may know.
OWN = (
    "epochfuzz.model.core",
    "epochfuzz.harness.engine",
    "epochfuzz.harness.documents.parts",
    "epochfuzz.harness.documents.records",
    "epochfuzz.strategies.delta_debugging",
    "epochfuzz.strategies.private_hypothesis",
    "epochfuzz.strategies.profiles",
)


def imported(file: Path) -> set[str]:
    """The modules that a file imports, and what it imports from them, wherever it does."""
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {
        f"{node.module}.{alias.name}" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_engine_imports_nothing_of_kafka(file: Path) -> None:
    of_the_project = {name for name in imported(file) if name.startswith("epochfuzz")}
    assert {name for name in of_the_project if not name.startswith(OWN)} == set()


LOADED = """
import sys
from importlib import import_module
for name in sys.argv[1:]:
    import_module(name)
print(*(name for name in sys.modules if name.startswith("epochfuzz.model.kafka")))
"""


def test_nothing_of_kafka_is_loaded_where_the_engine_is() -> None:
    modules = [f"epochfuzz.{file.relative_to(ROOT).with_suffix('')}".replace("/", ".") for file in FILES]
    command = [sys.executable, "-c", LOADED, *(name.removesuffix(".__init__") for name in modules)]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300, check=True).stdout
    assert printed.split() == []
