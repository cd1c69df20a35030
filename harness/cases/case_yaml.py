"""Read and write the YAML of case files. Each Value (a node of a file) has the name and line for error messages.

Anchors, aliases, tags and merge keys are rejected, because no case needs them. Without aliases, a small file cannot
expand to a large document.
"""

import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from yaml.composer import Composer

from epochfuzz.harness.cases import bundled
from epochfuzz.harness.text import yaml_text
from epochfuzz.harness.text.printable import printable
from epochfuzz.model.kafka.vocabulary.names import nearest

MAX_BYTES = 1 << 20
STANDARD_INPUT = "-"  # instead of a file name
MAX_DEPTH = 8  # a case needs six levels
PROSE_WIDTH = 92  # a line may end with a word that crosses this column

_T = TypeVar("_T")

_TAG = "tag:yaml.org,2002:"
_WHOLES: dict[type[yaml.Node], str] = {yaml.SequenceNode: "a list", yaml.MappingNode: "a mapping"}
_WHOLE_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,19})")  # YAML 1.1 would also read 017 as 15 and 1:30 as 90


class CaseError(Exception):
    """A file is not a valid case or cannot be read. The message is one line: `FILE:LINE: what is wrong; what to do`."""

    def __init__(self, file: Path, line: int | None, message: str) -> None:
        place = str(file) if line is None else f"{file}:{line}"
        super().__init__(printable(f"{place}: {textwrap.shorten(message, 500, placeholder=' ...')}"))


@dataclass(frozen=True)
class Value:
    """A value of a YAML file, with the name and the line that error messages show."""

    file: Path
    name: str
    node: yaml.Node

    def error(self, message: str) -> CaseError:
        """Return an error about this value. The caller raises it."""
        return CaseError(self.file, _line(self.node.start_mark), message)

    def expected(self, what: str) -> CaseError:
        """Return an error with the expected value, described by `what`, and the actual value. The caller raises it."""
        got = "nothing" if self._is("null") else _WHOLES.get(type(self.node)) or repr(self.node.value)
        return self.error(f"{self.name} must be {what}; got {got}")

    def entries(self) -> Iterator[tuple["Value", "Value"]]:
        """Yield the (key, value) pairs of a mapping. Raises CaseError for another value, or if a key is repeated."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.expected("a mapping, 'key: value'")
        seen = set()
        for key, value in self.node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise Value(self.file, f"a key of {self.name}", key).expected("a single word")
            if key.value in seen:
                raise Value(self.file, key.value, key).error(f"key {key.value!r} comes twice in {self.name}; keep one")
            seen.add(key.value)
            yield Value(self.file, key.value, key), Value(self.file, key.value, value)

    def fields(self, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, "Value"]:
        """Return the values of a mapping by key. Raises CaseError for an unknown key or a missing required key."""
        allowed = (*required, *optional)
        found = {}
        for key, value in self.entries():
            if key.name not in allowed:
                raise key.error(f"unknown key {key.name!r} in {self.name}; {nearest(key.name, allowed)}")
            found[key.name] = value
        for name in required:
            if name not in found:
                raise self.error(f"{self.name} has no {name!r}; add it")
        return found

    def items(self, name: str) -> list["Value"]:
        """Return the items of a list. Error messages call each item `name`. Raises CaseError for another value."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.expected("a list")
        return [Value(self.file, name, item) for item in self.node.value]

    def scalar(self) -> str | int | bool | None:
        """Return a single value: a whole number, a truth value, None or text. Raises CaseError for a list or mapping.

        Numbers in any other form, such as 1.5 or 017, stay text.
        """
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.expected("a single value")
        text = str(self.node.value)
        if self._is("null"):
            return None
        if self._is("bool"):
            return text.lower() in ("true", "yes", "on")
        return int(text) if self._is("int") and _WHOLE_NUMBER.fullmatch(text) else text

    def text(self) -> str:
        """Return the value as printable text, with one space in place of each run of white space. Raises CaseError."""
        if not self._is("str"):
            raise self.expected("text (in quotes if it looks like a number, a date or yes and no)")
        text = " ".join(self.node.value.split())
        if not text.isprintable():
            raise self.expected("printable text")
        return text

    def whole_number(self, low: int = 0, high: int | None = None) -> int:
        """Return the value as a whole number from `low` to `high` (None: no upper bound). Raises CaseError."""
        number = self.scalar()
        if (
            isinstance(number, bool)
            or not isinstance(number, int)
            or number < low
            or (high is not None and number > high)
        ):
            raise self.expected(f"a whole number from {low}" + ("" if high is None else f" to {high}"))
        return number

    def flag(self) -> bool:
        """Return the value as True or False. Raises CaseError."""
        flag = self.scalar()
        if not isinstance(flag, bool):
            raise self.expected("true or false")
        return flag

    def parsed(self, parse: Callable[[str], _T]) -> _T:
        """Return `parse(text)` for the value's text. A ValueError becomes a CaseError with the same message."""
        try:
            return parse(self.text())
        except ValueError as error:
            raise self.error(str(error)) from None

    def _is(self, kind: str) -> bool:
        return bool(self.node.tag == _TAG + kind)


def read(file: Path) -> Value:
    """Return the content of a YAML file, which must hold a single document. Raises CaseError."""
    text = _text_of(file)
    with suppress(yaml.YAMLError, ValueError, OverflowError):
        if (node := _FastLoader(text, file).get_single_node()) is not None:
            return Value(file, "the case", node)
    try:
        loader = _StrictLoader(text, file)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        line = _line(error.problem_mark or error.context_mark)
        problem = ", ".join(filter(None, (error.context, error.problem)))
        raise CaseError(file, line, f"not YAML: {problem}; check indents and quotes") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise CaseError(file, line, f"not text: it has the control character {error.character!r}; remove it") from None
    except (ValueError, OverflowError):  # PyYAML raises them for escapes and versions with numbers that are too large
        raise CaseError(
            file, loader.line + 1, "not YAML: a number is out of range; check escapes such as \\U"
        ) from None
    if node is None:
        raise CaseError(file, 1, "the file is empty; a case has at least schema, id, why and events")
    return Value(file, "the case", node)


def write(content: dict[str, Any]) -> str:
    """Return the content as YAML text, in block style except for `Flow` and `Folded` values."""
    return yaml.dump(
        content, Dumper=_Layout, sort_keys=False, default_flow_style=False, width=MAX_BYTES, allow_unicode=True
    )


class Flow(dict[str, Any]):
    """A mapping that `write` puts on one line, including its values."""


class Folded(str):
    """Prose that `write` puts into an indented paragraph."""


class _Strict(Composer):
    """Composes YAML nodes, and raises CaseError for YAML features that no case needs."""

    file: Path
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[attr-defined]  # a method of the parser
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise self.refusal(event, "anchors and aliases are not allowed; write the value out")
        if event.tag is not None:
            raise self.refusal(event, f"tags such as {event.tag!r} are not allowed; remove the tag")
        if self.depth == MAX_DEPTH:
            raise self.refusal(event, f"nested more than {MAX_DEPTH} deep; no part of a case is")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        if node is not None and node.tag == _TAG + "merge":
            raise self.refusal(event, "merge keys (<<) are not allowed; write the keys out")
        return node

    def refusal(self, event: yaml.Event, message: str) -> CaseError:
        return CaseError(self.file, _line(event.start_mark), message)


class _StrictLoader(_Strict, yaml.SafeLoader):
    def __init__(self, text: str, file: Path) -> None:
        yaml.SafeLoader.__init__(self, text)
        self.file = file


class _FastLoader(_Strict, yaml_text.LOADER):  # type: ignore[misc, valid-type]  # chosen at import
    """A loader that uses libyaml. It takes a fifth of _StrictLoader's time, but its error messages are less clear."""

    def __init__(self, text: str, file: Path) -> None:
        yaml_text.LOADER.__init__(self, text)
        Composer.__init__(self)
        self.file = file


class _Layout(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)  # indent a list below its key

    def write_folded(self, text: str) -> None:
        unlimited, self.best_width = self.best_width, PROSE_WIDTH
        super().write_folded(text)
        self.best_width = unlimited


_Layout.add_representer(Flow, lambda dumper, data: dumper.represent_mapping(_TAG + "map", data, flow_style=True))
_Layout.add_representer(Folded, lambda dumper, data: dumper.represent_scalar(_TAG + "str", data, style=">"))


def _line(mark: Any) -> int | None:
    return mark.line + 1 if mark else None


def _text_of(file: Path) -> str:
    data = _bytes_of(file)
    if len(data) > MAX_BYTES:
        raise CaseError(file, 1, "the file is over 1 MiB; a case has a few hundred events at most")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CaseError(file, line, "the file is not UTF-8 text; save it as UTF-8") from None


def _bytes_of(file: Path) -> bytes:
    if str(file) == STANDARD_INPUT:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    place = bundled.located(file)
    try:
        if place.is_dir():
            raise CaseError(file, None, "this is a directory; name a case file")
        if not place.is_file():  # a read from a pipe would block
            raise CaseError(file, None, bundled.missing(file))
        with place.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise CaseError(file, None, f"the file cannot be read ({error.strerror}); check path and permissions") from None
