"""Generate the page about the Python API, from the signatures and docstrings of the names that `epochfuzz` exports."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any, get_type_hints

import epochfuzz

_INDENTED = 4  # columns of indentation that mark code in a docstring


def sections() -> Iterator[str]:
    """Yield the paragraphs of the page: a heading, the signature, the docstring and the members of each public name."""
    for name in epochfuzz.__all__:
        if name.startswith("__"):
            continue
        declared = _declaration(getattr(epochfuzz, name))
        yield f"## {name}"
        if isinstance(declared, ast.FunctionDef):
            yield f"```python\n{_signature(declared)}\n```"
        yield from _paragraphs(declared)
        if isinstance(declared, ast.ClassDef):
            yield from _members(declared)


def _declaration(thing: Any) -> ast.FunctionDef | ast.ClassDef:
    """Return the syntax tree of a function or class.

    A class without source, such as `Config`, gets an equivalent declaration from its fields.
    """
    try:
        text = textwrap.dedent(inspect.getsource(thing))
    except OSError:
        fields = "".join(f"\n    {key}: {kind.__name__}" for key, kind in get_type_hints(thing).items())
        text = f'class {thing.__name__}:\n    """{thing.__doc__}"""{fields}'
    declared = ast.parse(text).body[0]
    assert isinstance(declared, ast.FunctionDef | ast.ClassDef)
    return declared


def _signature(function: ast.FunctionDef) -> str:
    """Return the signature of a function as text. A long signature has one line for each parameter."""
    returned = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    arguments = ast.unparse(function.args).removeprefix("self").removeprefix(", ")
    line = f"{function.name}({arguments}){returned}"
    if len(line) <= 100:
        return line
    parts = ",\n    ".join(_parts(arguments))
    return f"{function.name}(\n    {parts},\n){returned}"


def _parts(arguments: str) -> Iterator[str]:
    """Yield the parameters of a parameter list, given as text. A comma inside brackets does not separate parameters."""
    depth, begun = 0, 0
    for place, letter in enumerate(arguments):
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            yield arguments[begun:place].strip()
            begun = place + 1
    yield arguments[begun:].strip()


def _paragraphs(declared: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    for paragraph in (ast.get_docstring(declared) or "").split("\n\n"):
        if paragraph.startswith(" " * _INDENTED):
            yield f"```python\n{textwrap.dedent(paragraph)}\n```"
        elif paragraph:
            yield paragraph


def _members(declared: ast.ClassDef) -> Iterator[str]:
    """Yield a Markdown list of a class's fields and methods. A method has its signature and the summary line."""
    lines = [line for each in declared.body for line in _member(each)]
    if lines:
        yield "\n".join(lines)


def _member(each: ast.stmt) -> Iterator[str]:
    if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and not each.target.id.startswith("_"):
        yield f"* `{each.target.id}: {ast.unparse(each.annotation)}`"
    if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
        is_property = any(isinstance(by, ast.Name) and by.id == "property" for by in each.decorator_list)
        summary = (ast.get_docstring(each) or "").partition("\n\n")[0].replace("\n", " ")
        yield textwrap.fill(
            f"* `{each.name if is_property else _signature(each)}`: {summary}",
            120,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
