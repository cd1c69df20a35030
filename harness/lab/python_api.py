"""Generate the page about the Python API, from the signatures and docstrings of the names that `epochfuzz` exports."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import epochfuzz
from epochfuzz.harness.reference import markdown

_INDENTED = 4  # columns of indentation that mark code in a docstring

_MOST_FIELDS = 10  # Configuration has more fields, and the page of case files describes them

# Public members that the page leaves out: only epochfuzz itself needs them, or another section describes them.
_INTERNAL = {
    "CommandSubject": "is_running, reset, apply, apply_each, observe, finish",
    "Configuration": "changed, alphabet, bounds, least_bounds, within, bounded_by, text, words, numbers",
    "ReplicationMachine": "protocols, scout, database_key, happen, refuse, teardown, is_possible, schedule",
    "Run": "start, shown_at, ends_broken, scenes, ending, schedule",
}


def sections() -> Iterator[str]:
    """Yield the paragraphs of the page: a heading, the signature, the docstring and the members of each public name."""
    for name in epochfuzz.__all__:
        if name.startswith("__"):
            continue
        declared = _declaration(getattr(epochfuzz, name))
        yield f"## {name}"
        if isinstance(declared, ast.FunctionDef):
            yield f"```python\n{_broken_after_parameters(_signature(declared))}\n```"
        yield from _paragraphs(declared)
        if isinstance(declared, ast.ClassDef):
            yield from _members(declared)


def _declaration(thing: Any) -> ast.FunctionDef | ast.ClassDef:
    """Return the syntax tree of a function or class.

    A class without source, such as `Config`, has only its docstring in the tree.
    """
    try:
        text = textwrap.dedent(inspect.getsource(thing))
    except OSError:
        text = f'class {thing.__name__}:\n    """{thing.__doc__}"""'
    declared = ast.parse(text).body[0]
    assert isinstance(declared, ast.FunctionDef | ast.ClassDef)
    return declared


def _signature(function: ast.FunctionDef) -> str:
    """Return the signature of a function or method as text, without `self`."""
    returned = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    arguments = ast.unparse(function.args).removeprefix("self").removeprefix(", ")
    return f"{function.name}({arguments}){returned}"


def _broken_after_parameters(signature: str) -> str:
    """Return a signature in lines of at most 100 columns. A line ends after a parameter, not inside it."""
    tied = re.sub(r"(?<!,) ", "\0", signature)
    return markdown.wrapped(tied, "    ", 100).replace("\0", " ")


def _paragraphs(declared: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    for paragraph in (ast.get_docstring(declared) or "").split("\n\n"):
        if paragraph.startswith(" " * _INDENTED):
            yield f"```python\n{textwrap.dedent(paragraph)}\n```"
        elif paragraph:
            yield paragraph


def _members(declared: ast.ClassDef) -> Iterator[str]:
    """Yield a line with the fields of a class, and a Markdown list of its methods with their summary lines."""
    internal = _INTERNAL.get(declared.name, "").split(", ")
    fields = [
        f"`{each.target.id}: {ast.unparse(each.annotation)}`"
        for each in declared.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.target.id not in internal
    ]
    methods = [
        _method(each)
        for each in declared.body
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_") and each.name not in internal
    ]
    if 0 < len(fields) <= _MOST_FIELDS:
        yield markdown.wrapped(f"Fields: {', '.join(fields)}.")
    if methods:
        yield "\n".join(methods)


def _method(method: ast.FunctionDef) -> str:
    is_property = any("property" in ast.unparse(by) for by in method.decorator_list)
    summary = (ast.get_docstring(method) or "").partition("\n\n")[0].replace("\n", " ")
    return markdown.wrapped(f"* `{method.name if is_property else _signature(method)}`: {summary}", "  ")
