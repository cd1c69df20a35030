"""Layouts that --layout gives, as log4j's conversion patterns, for lines that are not recognised by their message."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from epochfuzz.harness.audit.errors import AuditError
from epochfuzz.harness.audit.lines import times

JSON = "json"

# What container runtimes put before a line: `kafka-1  | ` by docker compose, CRI's time and stream in Kubernetes.
_CONTAINER = r"(?:[\w.-]{1,100}\s{1,20}\| |\S{1,40} std(?:out|err) [FP] )?"
_PARTS = {
    "d": r"(?P<time>[^\n]{4,40}?)",
    "p": r"(?P<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL)",
    "m": r"(?P<message>.*)",
    "c": r"(?P<logger>[\w.$]{1,200})",
    "n": "",
}
_CONVERSION = re.compile(r"%-?[\d.]*(?P<name>[A-Za-z]+)(?:\{[^}]*\})?|(?P<space>\s+)|(?P<text>.)")
_NAMES = {"date": "d", "level": "p", "message": "m", "msg": "m", "logger": "c", "thread": "t"}
_ANYTHING = r"[^\n]{0,300}?"


@dataclass(frozen=True, slots=True)
class Framed:
    """A line without its layout: when it was logged, and the message."""

    time: int
    message: str


Frame = Callable[[str], Framed | None]


def frames(asked: Sequence[str]) -> list[Frame]:
    """Return a function for each pattern, which takes a line apart. Raises AuditError."""
    return [_framing(pattern) for pattern in asked if pattern != JSON]


def _framing(pattern: str) -> Frame:
    parts = list(_CONVERSION.finditer(pattern))
    names = [_NAMES.get(part["name"], part["name"]) for part in parts]
    for name in ("d", "m"):
        if names.count(name) != 1:
            has = f"has %{name} {names.count(name)} times" if name in names else "has no %d, or no %m"
            raise AuditError(
                f"--layout: {pattern!r} {has}: give log4j's conversion pattern with one %d and one %m, such as"
                f" '[%d] %p %m (%c)', or {JSON}"
            )
    seen: set[str] = set()
    expression = re.compile(
        _CONTAINER + "".join(_expression(part, name, seen) for part, name in zip(parts, names, strict=True)) + r"\s*"
    )

    def frame(line: str) -> Framed | None:
        found = expression.fullmatch(line)
        at = None if found is None else times.of_value(found["time"])
        return None if found is None or at is None else Framed(at, found["message"])

    return frame


def _expression(part: "re.Match[str]", name: str | None, seen: set[str]) -> str:
    if part["space"]:
        return r"\s+"
    if part["text"]:
        return re.escape(part["text"])
    if name in seen or name not in _PARTS:  # %x, %t and the rest match anything
        return _ANYTHING
    seen.add(name)
    return _PARTS[name]
