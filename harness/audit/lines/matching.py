"""Matching: find Kafka's messages anywhere in a line. wordings.py has the wordings of these messages.

Each wording contains a needle: fixed words that reading.py searches for in the bytes. This module first matches the
text from the needle on, and then the text before the needle. All parts of a pattern have a limited length. Arbitrary
text ends at the first occurrence of the next fixed words, and the pattern doesn't try later occurrences. The time for
a line therefore grows only with its number of needles. After _FAILURES needles that belong to no message, this module
ignores the rest of the line.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from epochfuzz.harness.audit.lines.events import MessageKind
from epochfuzz.harness.audit.lines.wordings import NEEDLES, OTHERS, WORDINGS, Wording

_BEFORE = 800  # number of characters that are read before a needle; a topic alone has up to 249
_IDENT = 500  # greatest number of characters of the prefix that Kafka puts before a message
_FAILURES = 12  # after this number of needles without a message, the rest of the line is ignored
_MESSAGES = 64  # greatest number of messages in a line
_LARGEST = (1 << 31) - 1

# `t-0`, and `[t,0]` up to 1.0
_PARTITION = r"(?P<old>\[)?(?P<topic>[\w.-]{1,249})(?(old),|-)(?P<partition>\d{1,10})(?!\d)(?(old)\])"
_OFFSETS = frozenset(("offset", "end_offset", "last_offset", "high_watermark"))
_NUMBERS = _OFFSETS | {"leader_epoch", "partition_epoch", "leader", "previous_leader", "previous_epoch", "broker"}
_GREATEST: Final = dict.fromkeys((*_NUMBERS, "partition"), _LARGEST) | dict.fromkeys(_OFFSETS, (1 << 63) - 2)
_GROUPS = {
    "partition": _PARTITION,
    "topic_id": r"(?:Some\()?(?P<topic_id>[\w-]{22})\)?",
    "isr": r"(?:List\(|Set\()?\[?(?P<isr>(?>\d{1,10}(?:, ?\d{1,10}){0,200})|)(?![\d])\]?\)?",
    "value": r"(?P<value>[\w-][\w.-]{0,80})",
    "topic": r"(?P<topic>[\w.-]{1,249})",
    "number": r"(?P<partition>\d{1,10})",  # the number of a partition if the topic is elsewhere in the line
    "name": r"\w{1,40}",  # of a class
    "dir": r"[^\]\n]{1,400}?",
}
_LEADER = r"(?:Some\()?(?P<{0}>-?\d{{1,19}}|None)\)?"
_ANY = r"[^\n]{0,600}?"
_ENDS_WITH_A_VALUE = re.compile(r"\{(?!any)\w+\}$")
_OPEN = re.compile(r"\{any\}$")

# The prefix of Kafka's messages that names the broker (`logIdent`). Up to 0.10, a fetcher names only its leader.
_BROKER: Final = re.compile(
    r"\[(?:Broker|Controller|QuorumController|KafkaServer|BrokerServer|SharedServer|ControllerServer|RaftManager"
    r"|BrokerLifecycleManager|KafkaRaftServer|BrokerMetadataPublisher)[ \w]{0,40} (?:id|nodeId)=(?P<id>\d{1,40})"
    r"|\[(?:Partition [^\s\]]{1,270}|ReplicaManager) broker=(?P<broker>\d{1,40})"
    r"|\[(?:ReplicaFetcher|ReplicaAlterLogDirsThread|PartitionStateMachine|ReplicaStateMachine)"
    r" (?:replicaId|controllerId)=(?P<replica>\d{1,40})"
    r"|\[(?:ReplicaFetcherManager|Replica Manager) on [Bb]roker (?P<manager>\d{1,10})\]"
    r"|Partition \[[\w.-]{1,249},\d{1,10}\] on broker (?P<old>\d{1,10}): "
    r"|Broker (?P<told>\d{1,10}) received LeaderAndIsr"
    r"|\[Kafka Server (?P<server>\d{1,10})\]",
    re.ASCII,
)
_PREFIX: Final = re.compile(
    r"(?:\[[^\[\]\n]{1,480}\][:,]? |Partition \[[\w.-]{1,249},\d{1,10}\] on broker \d{1,10}: )", re.ASCII
)
# Strimzi's name for a broker's log directory, which contains the broker's id. No other software uses this name.
_DIRECTORY: Final = re.compile(r"/kafka-log(\d{1,9})(?![\w.])", re.ASCII)


@dataclass(slots=True, kw_only=True)
class MatchedMessage:
    """A message in a text: its kind, the fields of its event (`said`), and its position in the text.

    `start` is the position of Kafka's prefix, such as `[Broker id=1] `, if the message has a prefix.
    """

    kind: MessageKind
    said: dict[str, Any]
    start: int
    end: int
    ends_with_a_value: bool  # if true, a line that was cut in this value would still look complete
    is_open: bool  # whether the message continues with text that audit doesn't need


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """The regular expressions of a wording: one from its needle (fixed words) on, and one for the text before it."""

    wording: Wording | None
    after: re.Pattern[str]
    before: re.Pattern[str]
    words: str  # the fixed words from the needle on
    head: str  # the fixed words at the beginning of the wording, if the needle is not there
    is_whole: bool  # whether the wording begins with the needle
    fields: tuple[str, ...]  # the fields that the groups of both patterns hold
    numbers: tuple[tuple[str, int], ...]  # the fields that are numbers, each with the greatest value that Kafka allows
    ends_with_a_value: bool
    is_open: bool


def _pattern(template: str, ends: bool) -> str:
    """Return the regular expression for a part of a template.

    A template is the text of a line, with names in braces in place of values, such as {partition}.

    `ends` is true if the template ends with this part. In this case, an {any} at the end matches no text.
    """
    parts = re.split(r"(\{\w+\})", template)
    made: list[str] = []
    skip = False
    for i, part in enumerate(parts):
        if skip:
            skip = False
        elif part == "{any}":
            follows = parts[i + 1] if i + 1 < len(parts) else ""
            made.append(rf"(?>{_ANY}{re.escape(follows)})" if follows else "" if ends else _ANY)
            skip = True
        elif part.startswith("{") and part.endswith("}") and len(part) > 2 and part[1:-1].isidentifier():
            made.append(_group(part[1:-1]))
        else:
            made.append(re.escape(part))
    return "".join(made)


def _group(name: str) -> str:
    if name in ("leader", "previous_leader"):
        return _LEADER.format(name)
    if name in _NUMBERS:
        return rf"(?P<{name}>-?\d{{1,19}})(?!\d)"
    return _GROUPS[name]


def _shape(template: str, needle: str, wording: Wording | None) -> _Shape:
    at = template.index(needle)
    boundary = r"(?<![\w.-])" if template[0].isalpha() else ""
    if template.startswith("{partition}"):  # must follow Kafka's prefix; otherwise, words of the message are missing
        boundary = r"(?<=[\]:] )"
    before = re.compile(rf"{boundary}{_pattern(template[:at], False)}\Z", re.ASCII)
    after = re.compile(_pattern(template[at:], True), re.ASCII)
    fields = tuple(
        name for part in (before, after) for name in sorted(part.groupindex, key=part.groupindex.__getitem__)
    )
    return _Shape(
        wording=wording,
        after=after,
        before=before,
        words=template[at:].partition("{")[0],
        head=template[:at].partition("{")[0],
        is_whole=at == 0,
        fields=fields,
        numbers=tuple((field, _GREATEST[field]) for field in fields if field in _GREATEST),
        ends_with_a_value=_ENDS_WITH_A_VALUE.search(template) is not None,
        is_open=_OPEN.search(template) is not None,
    )


@cache
def _shapes() -> dict[str, tuple[_Shape, ...]]:
    """Return, by needle (fixed words), the shapes of all wordings that contain the needle.

    The shapes of WORDINGS come before the shapes of OTHERS: wordings that audit ignores.
    """
    templates = [(wording.template, wording) for wording in WORDINGS] + [(other, None) for other in OTHERS]
    return {n: tuple(_shape(t, n, w) for t, w in templates if n in t) for n in NEEDLES}


def messages_in(text: str, needles: Iterable[str] = NEEDLES) -> tuple[list[MatchedMessage], int]:
    """Return the messages in a text from left to right, and the number of needles (fixed words) outside of messages."""
    places = _places(text, needles)
    found: list[MatchedMessage] = []
    failed = failures = until = 0
    for at, needle in places:
        if at < until:
            continue
        if len(found) == _MESSAGES or failures == _FAILURES:
            return found, failed + 1
        message = _message(text, at, needle, until)
        if message is None:
            failures += 1
            failed += needle not in _FACTS
        elif isinstance(message, MatchedMessage):
            found.append(message)
            until = message.end
        else:
            until = message
    return found, failed


_FACTS = ("Kafka version", "Cluster ID = ", "Incarnation ")  # needles of facts about a file, not about a partition


def _places(text: str, needles: Iterable[str]) -> list[tuple[int, str]]:
    """Return the positions of needles (fixed words) in a text, in ascending order, up to a limit per needle."""
    places: list[tuple[int, str]] = []
    for needle in needles:
        at, most = text.find(needle), len(places) + _MESSAGES + _FAILURES
        while at >= 0 and len(places) < most:
            places.append((at, needle))
            at = text.find(needle, at + len(needle))
    places.sort()
    return places


def _message(text: str, at: int, needle: str, floor: int) -> MatchedMessage | int | None:
    """Return the message around the needle (fixed words) at position `at`, or None if no wording fits.

    If audit doesn't need the message, the function returns only the position where the message ends.
    """
    window = max(floor, at - _BEFORE)
    for shape in _shapes()[needle]:
        if not text.startswith(shape.words, at):
            continue
        begins = text.rfind(shape.head, window, at) if shape.head else at if shape.is_whole else window
        if begins < 0:
            continue
        after = shape.after.match(text, at)
        if after is None:
            continue
        if shape.head or shape.is_whole:
            before = shape.before.fullmatch(text, begins, at)
        else:
            before = shape.before.search(text, window, at)
        if before is None:
            continue
        if shape.wording is None:
            return after.end()
        said = _said(shape, before.groups() + after.groups())
        if said is None:
            continue
        start, end = _start(text, before.start(), floor), after.end()
        named = said["broker"] if "broker" in said else _broker(text, start, end)
        if named is not None and named > _LARGEST:
            continue
        said["broker"] = named
        return MatchedMessage(
            kind=shape.wording.kind,
            said=said,
            start=start,
            end=end,
            ends_with_a_value=shape.ends_with_a_value,
            is_open=shape.is_open,
        )
    return None


def _start(text: str, start: int, floor: int) -> int:
    """Return the start of a message, including Kafka's prefix, such as `[Broker id=1] `."""
    if text[start - 1 : start] != " " or text[start - 2 : start - 1] not in ("]", ":", ","):
        return start
    window = max(floor, start - _IDENT)
    bracket = text.rfind("[", window, start)
    if bracket < 0:
        return start
    if _PREFIX.fullmatch(text, bracket, start) is not None:
        return bracket
    old = text.rfind("Partition [", window, start)
    return old if old >= 0 and _PREFIX.fullmatch(text, old, start) is not None else start


def _broker(text: str, start: int, end: int) -> int | None:
    named = broker_of(text, start)
    if named is not None:
        return named
    directory = _DIRECTORY.search(text, start, end)
    return None if directory is None else int(directory[1])


def broker_of(text: str, start: int = 0) -> int | None:
    """Return the broker that a message names at its start, or None."""
    found = _BROKER.match(text, start)
    return None if found is None else int(found[found.lastindex or 0])  # each branch has one group


def _said(shape: _Shape, texts: tuple[str | None, ...]) -> dict[str, Any] | None:
    """Return the fields of an event from the matched texts. Returns None if a number is out of Kafka's range."""
    said: dict[str, Any] = dict(zip(shape.fields, texts, strict=True))
    said.pop("old", None)
    for field, greatest in shape.numbers:
        text = said[field]
        if text == "None":
            said[field] = None
        elif -1 <= (number := int(text)) <= greatest:
            said[field] = number
        else:
            return None
    if "isr" in said:
        said["isr"] = tuple(sorted(int(member) for member in said["isr"].split(",") if member))
        if said["isr"] and said["isr"][-1] > _LARGEST:
            return None
    if "last_offset" in said:  # the offset of the last record; the log end offset is one more
        said["end_offset"] = said.pop("last_offset") + 1
    return said
