"""Find Kafka's messages in a log line, with the time and the origin of each message.

The text of a layout or a log collector may surround a message. matching.py finds the message by its fixed words. The
time of a message is the last time in the text before it. A time with a date is preferred, even if that time is in the
JSON around the line (envelopes.py). The origin is a name that a collector has put around the message: a container, a
pod or a host.
"""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from epochfuzz.harness.audit.lines import envelopes, times
from epochfuzz.harness.audit.lines.cleaning import COLOURS
from epochfuzz.harness.audit.lines.matching import MatchedMessage, messages_in
from epochfuzz.harness.audit.lines.origins import LEVEL, LEVELS, NAME, origin_of

_HEAD = 500  # number of characters that are read before a message
_TAIL = 300  # number of characters that are read after a message
_NESTED = 4  # greatest depth of nested envelopes
_COLUMNS = 2_000  # number of characters after a message in which its origin may stand

_ESCAPES = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "", "b": "", "f": ""}

_USUAL = re.compile(rf"\[?(\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)[.,](\d{{3}})\]? {LEVEL}\s{{1,2}}", re.ASCII)
_LOGGER = re.compile(r"\s*\(([\w.$-]{1,200})\)")
_LAST_LOGGER = re.compile(r"\(([\w.$-]{1,200})\)\s*(?:\[[^\]\n]{0,200}\])?\s*$")
_OURS = re.compile(r"kafka\b|org\.apache\.kafka\b|state\.change\b|\w\.|[\w$-]+$")
# The text that may follow a number that is complete, and the text that may follow any other complete message.
_AFTER_A_VALUE = re.compile(
    r"\s*(?:$|[^\w\s.]|[\w.-]{1,60}=|kafka\.|org\.apache\.kafka\.|state\.change\.)|\.(?:\s|$)|\\"
)
_AFTER_A_STOP = re.compile(r"(?!\w)")


@dataclass(slots=True, kw_only=True)
class MessageSighting:
    """A message in a line, with its time in milliseconds and its origin.

    `is_closed` is true if more text of the line follows the message.
    """

    message: MatchedMessage
    time: int | None
    origin: str | None
    logger: str | None
    is_closed: bool
    around: tuple[str, str, str] = ("", "", "")  # JSON keys around the line, text before the message, text after it

    @property
    def layout(self) -> str:
        """The layout of the line in the style of log4j's conversion patterns, such as `[%d] %p %m (%c)`."""
        outside, head, follows = self.around
        layout = outside + _layout(head, times.times_in(head), follows)
        return layout if self.logger is None or "(%c)" in layout else layout.replace("%m", "%m (%c)", 1)

    @property
    def is_doubtful(self) -> bool:
        """Return whether the line ends with a number that may have been cut."""
        return self.message.ends_with_a_value and not self.is_closed

    @property
    def is_foreign(self) -> bool:
        """Return whether the line's logger is of another program, which only quotes a broker's message."""
        return self.logger is not None and not _is_ours(self.logger)


@lru_cache(1024)  # there are few loggers
def _is_ours(logger: str) -> bool:
    return _OURS.match(logger) is not None


Seen = tuple[list[MessageSighting], int]


def seen_in(text: str, needles: Sequence[str], before: Callable[[], str]) -> Seen:
    """Return the messages of a line, and the number of places that look like a message but could not be read.

    `needles` are the fixed words of messages that the line contains. `before` returns the previous line. A message
    without a time gets the last time of the previous line.
    """
    found, failed = _seen(text.rstrip(), needles, None, None, "", _NESTED)
    if None in [each.time for each in found]:
        earlier = times.times_in(before()[-_HEAD:])
        if earlier:
            found = [_at(each, earlier[-1][2]) for each in found]
    return found, failed


def _at(sighting: MessageSighting, time: int) -> MessageSighting:
    if sighting.time is not None:
        return sighting
    outside, head, follows = sighting.around
    return replace(sighting, time=time, around=(f"%d%n{outside}", head, follows))


def _seen(text: str, needles: Sequence[str], time: int | None, origin: str | None, keys: str, depth: int) -> Seen:
    if depth and ("{" in text or '["' in text):
        inside, outside = envelopes.opened(text, needles)
        if inside:
            return _seen_inside(inside, outside, needles, time, origin, keys, depth)
    if "\x1b" in text:
        text = COLOURS.sub("", text)
    if "\\" in text:
        text = _ESCAPES.sub(_unescaped, text)
    if "&" in text:
        text = html.unescape(text)
    messages, failed = messages_in(text, needles)
    found = []
    floor = 0
    for i, message in enumerate(messages):
        until = messages[i + 1].start if i + 1 < len(messages) else len(text)
        follows = text[message.end : min(until, message.end + _TAIL)]
        if message.is_open:
            logger = _LAST_LOGGER.search(text, max(message.end, until - _HEAD), until)
        else:
            logger = _LOGGER.match(follows)
            if logger is None and _is_cut(message, follows):
                failed += 1
                continue
        head = text[max(floor, message.start - _HEAD) : message.start]
        sighting = _usual_sighting(head, message, follows, logger[1] if logger else None, keys)
        if sighting is None:
            behind = text[message.end : min(until, message.end + _COLUMNS)]
            sighting = _sighting(head, message, follows, behind, logger[1] if logger else None, keys)
        found.append(sighting)
        floor = message.end
    if time is not None or origin is not None:
        found = [with_context(each, time, origin) for each in found]
    return found, failed


def _seen_inside(
    inside: list[envelopes.Inner],
    outside: list[str],
    needles: Sequence[str],
    time: int | None,
    origin: str | None,
    keys: str,
    depth: int,
) -> Seen:
    """Return the messages in JSON documents and in the texts outside of the documents, and the number of failures.

    If a document has no time or no origin, the text before the document supplies the missing value. The origin of an
    inner document contains the origin of the outer document, such as the pod in `{"pod": "kafka-1", "line": "{...}"}`.
    A failure is a place that looks like a message but could not be read.
    """
    found: list[MessageSighting] = []
    failed = 0
    for each in inside:
        before = times.times_in(each.before)
        at = each.time if each.time is not None else before[-1][2] if before else time
        whose = envelopes.joined([origin, each.origin or origin_of(each.before, before, "")])
        for line in each.line.split("\n"):
            of_line, not_read = _seen(line.rstrip(), needles, at, whose, f"{keys}{each.keys} > ", depth - 1)
            found += of_line
            failed += not_read
    for text in outside:
        of_text, not_read = _seen(text, needles, time, origin, keys, 0)
        found += of_text
        failed += not_read
    return found, failed


def _is_cut(message: MatchedMessage, follows: str) -> bool:
    """Return whether the last value or word of a message continues after the matched text, so that it is incomplete."""
    whole = _AFTER_A_VALUE if message.ends_with_a_value else _AFTER_A_STOP
    return whole.match(follows) is None


def _unescaped(match: "re.Match[str]") -> str:
    if match[1]:
        code = int(match[1], 16)
        return chr(code) if not 0xD800 <= code < 0xE000 else "?"
    return _ESCAPED.get(match[2], match[2])


def _usual_sighting(
    head: str, message: MatchedMessage, follows: str, logger: str | None, keys: str
) -> MessageSighting | None:
    """Return a message if its line has the layout of Kafka's default configuration, or None.

    A line of this layout has no origin.
    """
    usual = _USUAL.fullmatch(head)
    time = None if usual is None else times.of_usual(usual[1], usual[2])
    if time is None:
        return None
    return MessageSighting(
        message=message,
        time=time,
        origin=None,
        logger=logger,
        is_closed=bool(follows) and not follows.isspace(),
        around=(keys, head, follows),
    )


def _sighting(
    head: str, message: MatchedMessage, follows: str, behind: str, logger: str | None, keys: str
) -> MessageSighting:
    found = times.times_in(head)
    time = found[0][2] if len(found) == 1 else _nearest([at for _, _, at in found])
    is_closed = bool(follows) and not follows.isspace()
    if time is None and is_closed and not message.is_open:
        time = _nearest([at for _, _, at in times.times_in(follows)][:1])
    return MessageSighting(
        message=message,
        time=time,
        origin=origin_of(head, found, behind),
        logger=logger,
        is_closed=is_closed,
        around=(keys, head, follows),
    )


def _nearest(found: list[int]) -> int | None:
    """Return the last time with a date and a year, or else the last time with a date, or else the last time.

    Returns None if there are no times.
    """
    for is_enough in (times.is_dated, lambda at: at >= times.DAY, lambda at: True):
        for at in reversed(found):
            if is_enough(at):
                return at
    return None


def with_context(sighting: MessageSighting, time: int | None, origin: str | None) -> MessageSighting:
    """Return a sighting with the time and the origin of the document around its line.

    The sighting gets the time of the document if the line has no time of its own, or if the line's time lacks the date
    or the year and the document's time has both. The origin of the document is put before the line's own origin.
    """
    own = sighting.time
    own = time if own is None or (time is not None and times.is_dated(time) and not times.is_dated(own)) else own
    whose = "; ".join(filter(None, (origin, sighting.origin))) or None
    return replace(sighting, time=own, origin=whose)


_THREAD: Final = re.compile(r"\[[^\]\[]{1,200}\]")
_CLASS: Final = re.compile(r"(?<![\w%])[\w.$]*[A-Za-z]\w*:\d+(?!\d)|(?<![\w%])(?:kafka|org|state|[a-z])\.[\w.$]+")
_PRIORITY: Final = re.compile(r"<\d{1,3}>\d?")


def _layout(head: str, found: list[tuple[int, int, int]], follows: str) -> str:
    """Return the layout of a line in the style of log4j's conversion patterns. `...` stands for a collector's text."""
    shown, end = [], 0
    for start, until, _ in found:
        shown += [head[end:start], "%d"]
        end = until
    frame = "".join([*shown, head[end:]])
    collector, last, own = frame.rpartition("%d")
    for pattern, name in ((_THREAD, "[%t]"), (_CLASS, "%c"), (LEVELS, "%p")):
        own = pattern.sub(name, own)
    collector = _PRIORITY.sub("", collector)
    bracket = "[" if collector.endswith("[") else ""
    prefix = "... " if NAME.search(collector.replace("%d", "")) else "%d " if "%d" in collector else ""
    rest = _LOGGER.sub(" (%c)", follows[:_TAIL], count=1)
    rest = _THREAD.sub("[%t]", rest).rstrip()
    rest = rest if len(rest) <= 12 else ""
    return f"{prefix}{bracket}{last}{own}".replace("  ", " ") + "%m" + rest
