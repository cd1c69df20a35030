"""Read the source of rules: their syntax trees, and the names that they use."""

import ast
import pickle
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

Rule = Callable[..., Any]

_PACKAGE = f"{__package__.rpartition('.')[0]}."


def definition(function: Rule) -> ast.FunctionDef:
    """Return the syntax tree of a function's definition. The caller may change it."""
    node: ast.FunctionDef = pickle.loads(_pickled(function.__code__))
    return node


def body(written: ast.FunctionDef) -> list[ast.stmt]:
    """Return the statements of a definition without its docstring."""
    return written.body[ast.get_docstring(written) is not None :]


@cache
def only_answers(function: Rule) -> bool:
    """Return whether a function is a rule of the model and consists only of `if` and `return` statements.

    Such a rule only computes a value. Returns False for a rule that calls a function from a table.
    """
    return function.__module__.startswith(_PACKAGE) and not any(
        (isinstance(each, ast.stmt) and not isinstance(each, ast.If | ast.Return))
        or (isinstance(each, ast.Call) and isinstance(each.func, ast.Subscript))
        for statement in body(_written(function.__code__))
        for each in ast.walk(statement)
    )


@cache
def names_in(code: CodeType) -> tuple[str, ...]:
    """Return the global names and attributes that a function's code uses, such as the fields of a state."""
    inner = (name for each in code.co_consts if isinstance(each, CodeType) for name in names_in(each))
    return tuple(dict.fromkeys([*code.co_names, *inner]))


@cache
def rules_in(function: Rule) -> frozenset[Rule]:
    """Return the functions that a function's code names, directly or as attributes of a module of the model."""
    names = names_in(function.__code__)
    named = [function.__globals__.get(name) for name in names]
    modules = [each for each in named if isinstance(each, ModuleType) and each.__name__.startswith(_PACKAGE)]
    named += [getattr(module, name, None) for module in modules for name in names]
    return frozenset(each for each in named if isinstance(each, FunctionType))


@cache
def _pickled(code: CodeType) -> bytes:
    return pickle.dumps(_written(code))  # with copy.deepcopy, the copies would take most of the linking time


def _written(code: CodeType) -> ast.FunctionDef:
    return _definitions(code.co_filename)[code.co_firstlineno]


@cache
def _definitions(file: str) -> dict[int, ast.FunctionDef]:
    """Return the functions of a file, by the line number where each function, or its first decorator, begins."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"), file)
    return {min([node.lineno, *(each.lineno for each in node.decorator_list)]): node for node in _functions(tree)}


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """Yield the functions in a syntax tree, at any depth.

    `ast.walk` would be slower, because it also visits every expression.
    """
    if isinstance(node, ast.FunctionDef):
        yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from _functions(child)
