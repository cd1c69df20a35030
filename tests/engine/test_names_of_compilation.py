"""Numba's inlining is chosen by the names of modules and functions, so a name without an owner changes speed in
silence."""

import ast
from pathlib import Path

import pytest

from epochfuzz.harness.engine.runtime import compilation
from epochfuzz.model.kafka import programs
from epochfuzz.model.kafka.vocabulary.configuration import Configuration

KAFKA = Path(programs.__file__).parent
ENGINE = Path(compilation.__file__).parents[1]


def functions_below(folder: Path) -> set[str]:
    trees = [ast.parse(file.read_text()) for file in folder.rglob("*.py")]
    return {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", programs._CALLED_MODULES)
def test_exactly_one_module_of_the_rules_has_each_name_in_called_modules(name: str) -> None:
    assert len(list(KAFKA.rglob(f"{name}.py"))) == 1


@pytest.mark.parametrize("name", programs._CALLED)
def test_a_rule_exists_for_each_name_in_called(name: str) -> None:
    assert name in functions_below(KAFKA)


@pytest.mark.parametrize("name", programs._SELDOM)
def test_a_setting_exists_for_each_name_in_seldom(name: str) -> None:
    assert name in Configuration().numbers()


@pytest.mark.parametrize("name", compilation._MODULES)
def test_the_engine_has_each_module_that_compilation_lists(name: str) -> None:
    assert (ENGINE / f"{name.replace('.', '/')}.py").is_file()


@pytest.mark.parametrize("name", compilation._ALLOCATING)
def test_a_kernel_part_exists_for_each_name_in_allocating(name: str) -> None:
    assert name in functions_below(ENGINE)
