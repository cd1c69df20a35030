"""Layouts: what stands around a message in a line of a log, by log4j's own conversion patterns, or as JSON."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from epochfuzz.harness.audit.errors import AuditError

JSON = "json"

# Kafka's own config/log4j.properties, and log4j2.yaml since 4.0 (KAFKA-9366), which most images keep; Strimzi's.
USUAL = ("[%d] %p %m (%c)", "%d %p %m (%c) [%t]")

# What container runtimes put before a line: `kafka-1  | ` by docker compose, CRI's time and stream in Kubernetes.
_CONTAINER = r"(?:[\w.-]+\s+\| |\S+ std(?:out|err) [FP] )?"
_PARTS = {
    "d": r"(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{3})\d*(?:Z|[+-]\d\d:?\d\d)?",
    "p": r"(?P<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL)",
    "m": r"(?P<message>.*)",
    "c": r"(?P<logger>[\w.$]+)",
    "t": r".*?",
    "n": "",
}
_CONVERSION = re.compile(r"%-?[\d.]*(?P<name>[A-Za-z]+)(?:\{[^}]*\})?|(?P<space>\s+)|(?P<text>.)")
_NAMES = {"date": "d", "level": "p", "message": "m", "msg": "m", "logger": "c", "thread": "t"}

# The same of JSON lines, by who writes them: log4j's JSONEventLayout and JsonTemplateLayout, log4j 2's JsonLayout.
_MESSAGES = ("message", "msg", "log")
_TIMES = ("@timestamp", "timestamp", "time", "instant", "timeMillis")


@dataclass(frozen=True, slots=True)
class Framed:
    """A line without what stands around it: when it was logged, in milliseconds of the broker's own clock, and what."""

    time: int
    message: str


Frame = Callable[[str], Framed | None]


def frames(asked: Sequence[str]) -> list[Frame]:
    """Return what takes lines apart: the layouts asked for, or the usual ones and JSON. Raises AuditError."""
    return [_json if pattern == JSON else _framing(pattern) for pattern in asked or (*USUAL, JSON)]


def _framing(pattern: str) -> Frame:
    expression = re.compile(
        _CONTAINER + "".join(_expression(found) for found in _CONVERSION.finditer(pattern)) + r"\s*"
    )
    if {"time", "message"} - expression.groupindex.keys():
        raise AuditError(
            f"--layout: {pattern!r} has no %d, or no %m: give log4j's conversion pattern, such as"
            f" {USUAL[0]!r}, or {JSON}"
        )

    def frame(line: str) -> Framed | None:
        found = expression.fullmatch(line)
        return None if found is None else _framed(found["time"], found["message"])

    return frame


def _expression(found: "re.Match[str]") -> str:
    if found["space"]:
        return r"\s+"
    if found["text"]:
        return re.escape(found["text"])
    name = _NAMES.get(found["name"], found["name"])
    return _PARTS.get(name, r".*?")


def _framed(time: str, message: str) -> Framed | None:
    try:
        at = datetime.fromisoformat(time.replace(",", ".")).replace(tzinfo=UTC)
    except ValueError:  # the 31st of a month that has none
        return None
    return Framed(round(at.timestamp() * 1000), message)


def _json(line: str) -> Framed | None:
    start = line.find("{")
    if start < 0:
        return None
    try:
        said = json.loads(line[start:])
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    message = next((said[key] for key in _MESSAGES if isinstance(said.get(key), str)), None)
    at = next((time for key in _TIMES if (time := _milliseconds(said.get(key))) is not None), None)
    return None if message is None or at is None else Framed(at, message)


def _milliseconds(said: Any) -> int | None:
    """Return a time as JSON lines have it: text, milliseconds or seconds, or log4j 2's instant."""
    if isinstance(said, dict):
        seconds, nano = said.get("epochSecond"), said.get("nanoOfSecond", 0)
        if isinstance(seconds, int) and isinstance(nano, int):
            return seconds * 1000 + nano // 1_000_000
        return None
    if isinstance(said, (int, float)) and not isinstance(said, bool):
        return round(said if said > 1e11 else said * 1000)  # whose seconds come to that in the year 5138
    if not isinstance(said, str):
        return None
    try:
        at = datetime.fromisoformat(said.replace(",", "."))
    except ValueError:
        return None
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
