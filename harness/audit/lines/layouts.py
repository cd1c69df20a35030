"""Layouts of --layout: log4j's conversion patterns for lines whose time or message audit does not recognize."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from epochfuzz.harness.audit.errors import AuditError
from epochfuzz.harness.audit.lines import times

JSON = "json"

# Prefixes of container runtimes: docker compose writes `kafka-1  | `, Kubernetes a time and a stream (CRI).
_CONTAINER = r"(?:[\w.-]{1,100}\s{1,20}\| |\S{1,40} std(?:out|err) [FP] )?"
# The names of log4j's own time formats, as in %d{ISO8601_OFFSET_DATE_TIME_HH}. times.py recognizes these formats.
_NAMED_TIME = re.compile(r"(?:ISO8601|ABSOLUTE|COMPACT|DATE|DEFAULT|UNIX|US_)[A-Z0-9_]*")
_PARTS = {
    "d": r"(?P<time>[^\n]{4,40}?)",
    "p": r"(?P<level>[A-Za-z]{1,11})",  # `%.1p` prints one letter
    "m": r"(?P<message>.*)",
    "c": r"(?P<logger>[\w.$]{1,200})",
    "n": "",
}
_CONVERSION = re.compile(
    r"%-?[\d.]*(?P<name>[A-Za-z]+)(?:\{(?P<option>[^}]*)\})?(?:\{[^}]*\})*|(?P<space>\s+)|(?P<text>.)"
)
_NAMES = {"date": "d", "level": "p", "message": "m", "msg": "m", "logger": "c", "thread": "t"}
_ANYTHING = r"[^\n]{0,300}?"


@dataclass(frozen=True, slots=True)
class Framed:
    """A line that a layout has split: its time in milliseconds, its message, and the text before them."""

    time: int
    message: str
    before: str


Frame = Callable[[str], Framed | None]


def frames(asked: Sequence[str]) -> list[Frame]:
    """Return one function for each pattern of --layout except `json`. Raises AuditError for an invalid pattern.

    Each function splits a line into its time and message. It returns None for a line with another layout.
    """
    return [_framing(pattern) for pattern in asked if pattern != JSON]


def _framing(pattern: str) -> Frame:
    parts = list(_CONVERSION.finditer(pattern))
    names = [_NAMES.get(part["name"], part["name"]) for part in parts]
    for name in ("d", "m"):
        if names.count(name) != 1:
            has = f"has %{name} {names.count(name)} times" if name in names else f"has no %{name}"
            raise AuditError(
                f"--layout: {pattern!r} {has}; give log4j's conversion pattern with one %d and one %m, such as"
                f" '[%d] %p %m (%c)', or {JSON}"
            )
    date = parts[names.index("d")]["option"]
    has_own_date = bool(date) and _NAMED_TIME.fullmatch(date) is None
    seen: set[str] = set()
    expression = re.compile(
        _CONTAINER + "".join(_expression(part, name, seen) for part, name in zip(parts, names, strict=True)) + r"\s*"
    )

    def frame(line: str) -> Framed | None:
        found = expression.fullmatch(line)
        if found is None:
            return None
        at = times.of_fields(found.groupdict()) if has_own_date else times.of_value(found["time"])
        before = line[: min(found.start("time"), found.start("message"))]
        return None if at is None else Framed(at, found["message"], before)

    return frame


def _expression(part: "re.Match[str]", name: str | None, seen: set[str]) -> str:
    if part["space"]:
        return r"\s+"
    if part["text"]:
        return re.escape(part["text"])
    if name in seen or name not in _PARTS:  # %x, %t and the rest match anything
        return _ANYTHING
    seen.add(name)
    date = part["option"] if name == "d" else None
    return _date(date) if date and _NAMED_TIME.fullmatch(date) is None else _PARTS[name]


_DATE = re.compile(r"'(?P<quoted>[^']*)'|(?P<letters>(?P<letter>[A-Za-z])(?P=letter)*)|(?P<text>.)")
# The fields of times.of_fields by the letters of java.time.format.DateTimeFormatter.
_FIELDS = {"y": "year", "u": "year", "M": "month", "L": "month", "d": "day", "D": "days", "H": "hour", "h": "hour"}
_FIELDS |= {"m": "minute", "s": "second", "S": "part", "a": "half", "Z": "zone", "X": "zone", "x": "zone"}
_TEXTS = {
    "name": rf"(?P<name>(?i:{'|'.join(times.MONTHS)}))[\w.]*",
    "half": r"(?P<half>(?i:[ap]m))",
    "zone": r"(?P<zone>Z|[+-]\d\d:?\d\d)",
}


def _date(pattern: str) -> str:
    """Return the regular expression for a date in Java's notation, such as `yyyy.DDD HH'h'mm`.

    A letter without a field in _FIELDS matches any word.
    """
    made, seen = [], set()
    for part in _DATE.finditer(pattern):
        width = len(part["letters"] or "")
        field = _FIELDS.get(part["letter"])
        field = "name" if field == "month" and width > 2 else field
        if not width:
            made.append(re.escape(part["text"] or part["quoted"] or "'"))
        elif field is None or field in seen:
            made.append(r"\w{1,20}")
        else:
            made.append(_TEXTS.get(field) or rf"(?P<{field}>\d{{{_digits(field, width)}}})")
            seen.add(field)
    return f"(?P<time>{''.join(made)})"


def _digits(field: str, width: int) -> str:
    if field == "year":
        return "2" if width == 2 else "4"
    return f"{min(width, 9)}" if width > 1 else "1,3"
