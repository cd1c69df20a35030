"""Envelopes: JSON documents of log collectors. A document contains a line of a log, its time and its origin.

The line may be at any depth of the document.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from epochfuzz.harness.audit.lines import times

# The keys that may hold a line in the documents of Docker, Logstash, Loki, Google Cloud, Splunk, journald and Elastic.
LINES: Final = ("log", "message", "msg", "line", "textPayload", "_raw", "event.original", "MESSAGE", "body", "original")
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
_NAMED: Final = frozenset(("name",))  # of what stands in an object called as one of _ORIGINS
_START = re.compile(r'[{\[]\s*[{\["]')
_LONGEST = 1 << 16  # characters
_TRIES = 4
_DEPTH = 12
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Inner:
    """A line from an envelope. `keys` is the path of keys to the line. Time and origin are None if there are none."""

    line: str
    keys: str
    time: int | None
    origin: str | None


def opened(text: str, needles: Sequence[str]) -> list[Inner]:
    """Return the lines with a needle that the JSON in a text holds. The list is empty if the text has no JSON."""
    if len(text) > _LONGEST:
        return []
    at = 0
    for _ in range(_TRIES):
        start = _START.search(text, at)
        if start is None:
            return []
        at = start.start()
        try:
            said, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        found = list(_lines(said, needles, "json", None, None, _DEPTH))
        if found:
            return found
        at = max(at + 1, end)
    return []


def _lines(
    said: Any, needles: Sequence[str], keys: str, time: int | None, origin: str | None, depth: int
) -> Iterator[Inner]:
    if depth == 0:
        return
    if isinstance(said, list):
        time = next((at for each in said if (at := _time_beside(each, needles)) is not None), time)
        for each in said:
            if isinstance(each, str) and _has(each, needles):
                yield Inner(each, keys, time, origin)
            elif isinstance(each, (dict, list)):
                yield from _lines(each, needles, keys, time, origin, depth - 1)
    elif isinstance(said, dict):
        time = next((at for key in _TIMES if (at := times.of_value(said.get(key))) is not None), time)
        origin = "; ".join(dict.fromkeys(_origins(said, depth))) or origin
        own = [key for key in (*LINES, *said) if isinstance(said.get(key), str) and _has(said[key], needles)]
        if own:
            yield Inner(said[own[0]], f"{keys} {own[0]}", time, origin)
            return
        for key, each in said.items():
            if isinstance(each, (dict, list)):
                yield from _lines(each, needles, f"{keys} {key}"[:80], time, origin, depth - 1)


def _has(text: str, needles: Sequence[str]) -> bool:
    return any(needle in text for needle in needles)


def _time_beside(each: Any, needles: Sequence[str]) -> int | None:
    """Return the time that an element of a list holds, if it is not a line. Loki puts both into one list."""
    return None if isinstance(each, str) and _has(each, needles) else times.of_value(each)


def _origins(said: dict[str, Any], depth: int, in_origin: bool = False) -> Iterator[str]:
    if depth == 0:
        return
    for key, each in said.items():
        is_origin = key in _ORIGINS or (in_origin and key in _NAMED)
        if isinstance(each, str) and is_origin and len(each) <= 200 and "\n" not in each:
            yield each
        elif isinstance(each, dict):
            yield from _origins(each, depth - 1, is_origin)
