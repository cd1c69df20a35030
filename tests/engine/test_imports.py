"""The engine runs any model: neither the engine nor the core imports Kafka's model or other code about Kafka."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ROOT / "harness" / "documents" / "parts.py"  # parts of JSON documents, such as the progress of a search
FILES = [PARTS, *sorted(each for folder in ("harness/engine", "model/core") for each in (ROOT / folder).rglob("*.py"))]

# The modules of the project that the engine and the core may import.
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
    """Return the modules that a file imports, and the names that it imports from them."""
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


def test_importing_the_engine_loads_no_module_of_kafkas_model() -> None:
    modules = [f"epochfuzz.{file.relative_to(ROOT).with_suffix('')}".replace("/", ".") for file in FILES]
    command = [sys.executable, "-c", LOADED, *(name.removesuffix(".__init__") for name in modules)]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300, check=True).stdout
    assert printed.split() == []
