"""The engine runs any model: nothing of it, and nothing of the model's core, imports Kafka's."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KAFKA = "epochfuzz.model.kafka"
FILES = sorted(each for folder in ("harness/engine", "model/core") for each in (ROOT / folder).rglob("*.py"))

# What still does.
STILL = {
    "harness/engine/coverage/coverage.py",
    "harness/engine/explore/certificates.py",
    "harness/engine/explore/distinguish.py",
    "harness/engine/explore/expansion.py",
    "harness/engine/explore/explore.py",
    "harness/engine/explore/retrace.py",
    "harness/engine/keys/packing.py",
    "harness/engine/keys/symmetry.py",
    "harness/engine/runtime/compilation.py",
    "harness/engine/runtime/interpreted.py",
    "harness/engine/shrink/canonical.py",
    "harness/engine/shrink/shrink.py",
    "harness/engine/walk/generate.py",
    "harness/engine/walk/hunt.py",
    "harness/engine/walk/walk.py",
    "model/core/execution.py",
    "model/core/program.py",
    "model/core/renaming.py",
}


def imported(file: Path) -> set[str]:
    """The modules that a file imports, and what it imports from them, wherever it does."""
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {
        f"{node.module}.{alias.name}" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_engine_imports_nothing_of_kafka(file: Path) -> None:
    of_kafka = {name for name in imported(file) if name.startswith(KAFKA)}
    assert bool(of_kafka) == (str(file.relative_to(ROOT)) in STILL), of_kafka
