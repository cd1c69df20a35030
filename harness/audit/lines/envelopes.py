"""Envelopes: JSON documents of log collectors. A document contains a line of a log, its time and its origin.

The line may be at any depth of the document. A line of text may have several documents, and other text between them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from epochfuzz.harness.audit.lines import origins, times

_TIMES: Final = (
    *("@timestamp", "timestamp", "time", "instant", "timeMillis", "ts", "_time", "date", "datetime", "eventTime"),
    *("__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP", "t", "asctime", "timeUnixNano"),
)
_ORIGINS: Final = frozenset(
    (
        *("container_name", "container", "pod_name", "pod", "podName", "containerName", "host", "hostname", "service"),
        *(
            "logStream",
            "logStreamName",
            "log_stream",
            "_HOSTNAME",
            "CONTAINER_NAME",
            "node",
            "instance",
            "tag",
            "source",
        ),
        *("k8s.pod.name", "host.name", "service.name", "container.name", "kubernetes.pod_name", "statefulset"),
    )
)
_NAMED: Final = frozenset(("name",))  # keys of an origin within an object whose own key is in _ORIGINS
_UNIQUE = re.compile(r"\d{5}|[0-9a-fA-F]{12}")  # an identifier of a single document
_OF_TIMES = re.compile(r"time|date|(?:^|_)ts", re.IGNORECASE)
_START = re.compile(r'[{\[]\s*[{\["]')
_LONGEST = 1 << 16  # characters
_TRIES = 4
_BEFORE = 500  # number of characters before a document in which its time and origin may stand
_KEYS = 80
_COMPARED = 16  # number of lines of a document that are compared with each other
_LONGEST_TIME = 64
_LONGEST_ORIGIN = 120
_LONGEST_ORIGINS = 400
_DEPTH = 12
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Inner:
    """A log line from a JSON document. `keys` is the path of keys to the line, such as `json log message`.

    `time` (in milliseconds) and `origin` are None if the document has none. `before` is the text between the previous
    document and this document.
    """

    line: str
    keys: str
    time: int | None
    origin: str | None
    before: str = ""


def opened(text: str, needles: Sequence[str]) -> tuple[list[Inner], list[str]]:
    """Return the log lines in the JSON documents of a text, and the texts outside of these documents.

    `needles` are fixed words of Kafka's messages. Both lists hold only lines and texts that contain a needle. If no
    line in a document contains a needle, both lists are empty, and the caller reads the text as it is.
    """
    found: list[Inner] = []
    rest: list[str] = []
    if not needles or len(text) > _LONGEST:
        return found, rest
    at = until = failures = 0  # `until` is the end of the last document that held a line
    while failures < _TRIES and (start := _START.search(text, at)) is not None:
        at = start.start()
        try:
            said, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            failures += 1
            at += 1
            continue
        lines = list(_lines(said, needles, "json", None, None, _DEPTH))
        if lines:
            before, until = text[until:at], end
            found += [replace(each, before=before[-_BEFORE:]) for each in lines]
            rest.append(before)
        at = end
    rest.append(text[until:])
    return found, [each for each in rest if _has(each, needles)] if found else []


def _lines(
    said: Any, needles: Sequence[str], keys: str, time: int | None, origin: str | None, depth: int
) -> Iterator[Inner]:
    if depth == 0:
        return
    if isinstance(said, list):
        own = {each for each in said if isinstance(each, str) and _has(each, needles)}
        if own:
            others = [each for each in said if not (isinstance(each, str) and each in own)]
            time = next((at for each in others if (at := times.of_value(each)) is not None), time)
            origin = "; ".join(names_in(others)) or origin
        for each in said:
            if isinstance(each, str) and each in own:
                yield Inner(each, keys, time, origin)
            elif isinstance(each, (dict, list)):
                yield from _lines(each, needles, keys, time, origin, depth - 1)
    elif isinstance(said, dict):
        time = _time(said, needles) or time
        lines = _without_copies([each for each in said.values() if isinstance(each, str) and _has(each, needles)])
        origin = joined([origin, *_origins(said, needles, depth)])
        inside: list[Inner] = []
        for key, each in said.items():
            if isinstance(each, (dict, list)):
                inside += _lines(each, needles, f"{keys} {key}"[:_KEYS], time, origin, depth - 1)
        # A document may hold a line under two keys, and also in a text of an inner document.
        longer = [inner.line for inner in inside[:_COMPARED]]
        kept = [line for line in lines if not _is_copy(line, longer)]
        left = set(kept)
        for key, each in said.items():
            if isinstance(each, str) and each in left:
                left.remove(each)
                yield Inner(each, f"{keys} {key}"[:_KEYS], time, origin)
        yield from (inner for inner in inside if not _is_copy(inner.line, kept))


def joined(origins: Iterable[str | None]) -> str | None:
    """Return several origins as one text, each origin once. None if there are none."""
    return "; ".join(dict.fromkeys(each for each in origins if each))[:_LONGEST_ORIGINS] or None


def _has(text: str, needles: Sequence[str]) -> bool:
    return any(needle in text for needle in needles)


def _without_copies(lines: list[str]) -> list[str]:
    """Return the lines that no other line contains. Leaves out, for example, GELF's short copy of a message."""
    if len(lines) < 2:
        return lines
    kept: list[str] = []
    for line in sorted(dict.fromkeys(lines), key=len, reverse=True):
        if not _is_copy(line, kept):
            kept.append(line)
    return kept


def _is_copy(line: str, lines: Sequence[str]) -> bool:
    return any(line.rstrip(".… \n") in each for each in lines[:_COMPARED])


def _time(said: dict[str, Any], needles: Sequence[str]) -> int | None:
    """Return the time that a JSON object holds, or None. A key in _TIMES takes precedence over other fields."""
    for key in _TIMES:
        if key in said and (at := times.of_value(said[key])) is not None:
            return at
    for key, each in said.items():
        is_text = isinstance(each, str) and len(each) <= _LONGEST_TIME
        if is_text or (isinstance(each, (int, float)) and _OF_TIMES.search(key) is not None):
            at = times.of_value(each)
            if at is not None and times.is_dated(at) and not (is_text and _has(each, needles)):
                return at
    return None


def _origins(said: dict[str, Any], needles: Sequence[str], depth: int, in_origin: bool = False) -> Iterator[str]:
    """Yield the names in a JSON object: first the texts of keys in _ORIGINS, then the names in all other texts."""
    if depth == 0:
        return
    others = []
    for key, each in said.items():
        is_origin = key in _ORIGINS or (in_origin and key in _NAMED)
        if isinstance(each, str) and is_origin and len(each) <= 200 and "\n" not in each:
            yield each
        elif isinstance(each, dict):
            yield from _origins(each, needles, depth - 1, is_origin)
        elif isinstance(each, list):
            yield from _attributes(each)
        elif isinstance(each, str) and not _has(each, needles):
            others.append(each)
    yield from names_in(others)


def _attributes(said: list[Any]) -> Iterator[str]:
    """Yield the names in a list of attributes as OpenTelemetry writes them: {"key": ..., "value": {...}}."""
    for each in said:
        if isinstance(each, dict) and isinstance(each.get("key"), str) and isinstance(each.get("value"), dict):
            yield from names_in(list(each["value"].values()))


def names_in(said: Sequence[Any]) -> Iterator[str]:
    """Yield the names in each short text, joined by spaces. Leaves out names with long numbers, such as request ids."""
    for each in said:
        if isinstance(each, str) and len(each) <= _LONGEST_ORIGIN and "\n" not in each:
            words = [word for word in origins.words_of(each) if _UNIQUE.search(word) is None]
            if words:
                yield " ".join(words)
