"""Origins: the names that a log collector puts around a line, such as a container, a pod or a host.

An origin is a text of one or several names. attribution.py finds the broker that a name stands for.
"""

import re
from functools import lru_cache

LEVEL = r"(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|SEVERE|FINER?|FINEST|CONFIG|NOTICE)"
LEVELS = re.compile(rf"\b{LEVEL}\b", re.IGNORECASE)
NAME = re.compile(r"(?<![\w%])[A-Za-z][\w./@-]{1,80}")  # a single letter is a level, a stream or a zone
_NAMES = re.compile(rf"{NAME.pattern}|(?<![\w.])\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![\w.])", re.ASCII)
_STREAMS = frozenset(("stdout", "stderr", "log", "utc"))
# Names of Kafka's classes and threads. The lines of every broker have them.
_OF_KAFKA = re.compile(r"(?:kafka|org\.apache|state\.change)\.|.*(?:thread|handler|scheduler|executor)", re.IGNORECASE)
_BRACKETS = re.compile(r"\[[^\]\[]{0,200}\]|(?<![\w.$])[\w.$]{1,200}:\d")
_COLUMN = re.compile(r'"\s*[,;]|\t|\|')  # ends the column of a table in which a message stands
_LONGEST = 240  # characters of an origin


def words_of(text: str) -> list[str]:
    """Return the names and the IP addresses in a log collector's text."""
    return [word for word in _NAMES.findall(text) if word.lower() not in _STREAMS and not LEVELS.fullmatch(word)]


def words_in(text: str) -> str | None:
    """Return the names and the IP addresses in a log collector's text, joined by spaces. None if there are none."""
    return " ".join(words_of(text))[:_LONGEST] or None


def origin_of(head: str, found: list[tuple[int, int, int]], behind: str) -> str | None:
    """Return the origin of a line: the names around its message, joined by spaces. None if there are none.

    `head` is the text before the message, `found` are the times in `head`, and `behind` is the text after the message.
    The names stand before the last time, between the last time and the message, or in a later column of a table.
    """
    ends = [0, *(end for _, end, _ in found)]
    before = "".join(head[end:start] for end, (start, _, _) in zip(ends, found, strict=False))
    if not found and "|" in head:
        before = head.partition("|")[0]
    column = _COLUMN.search(behind)
    return _origin_of(before, head[ends[-1] :], "" if column is None else behind[column.end() :])


@lru_cache(4096)  # nearly all lines of a file have the same text here
def _origin_of(before: str, between: str, later: str) -> str | None:
    words = [*words_of(before), *_without_kafkas(between), *_without_kafkas(later)]
    return " ".join(words)[:_LONGEST] or None


def _without_kafkas(text: str) -> list[str]:
    return [word for word in words_of(_BRACKETS.sub(" ", text)) if _OF_KAFKA.match(word) is None]
