"""Facts of a file, or of a part of it: the number of lines, the brokers that the lines name, and all problems."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

BACK = 2_000  # milliseconds by which a line may be late, because several threads write

_FEW, _OFTEN = 2, 10  # a file is out of order if its times go back more than twice, and at over 1 in 10 events
_MORE = 4  # newest first: the times decrease over 4 times as often as they increase; threads may swap a few lines
_WHOLE = 4  # at most one line in five may be unread
_ORIGINS = 500  # number of origins that are remembered


@dataclass(kw_only=True)
class LogFacts:
    """The facts of a part of a file. Line numbers start at 1 with the first line of the part."""

    file: str
    part: int = 0
    source: str = ""  # the file that was opened; an archive contains several files
    lines: int = 0
    events: int = 0
    unnamed: int = 0  # number of events that don't name their broker
    unread: int = 0  # number of lines that contain a message's fixed words, but could not be read
    unread_line: int | None = None  # the first such line
    undecoded: int = 0  # number of lines with NULs or bytes that are not UTF-8, in which no message was found
    undecoded_line: int | None = None
    own: int = 0  # number of events of KRaft's metadata log
    wrong_epochs: int = 0  # lines of followers with the new epoch in place of the previous one (KAFKA-19776)
    high_watermarks: int = 0  # number of events that show a high watermark
    closed: int = 0  # number of events with more text of the line after them
    doubtful: int = 0  # number of events that end with a number at the end of the line
    framed: int = 0  # number of lines that a --layout matched
    ends: int = 0  # number of events that end at the end of the line
    is_broker: bool = False  # whether a broker wrote any line, on any subject
    first: str | None = None  # the first line, if the file has no event
    layout: str | None = None  # the layout of the first event
    undated: int = 0  # events without a date
    brokers: set[int] = field(default_factory=set)  # the brokers that lines name as their writers
    releases: set[str] = field(default_factory=set)
    clusters: set[str] = field(default_factory=set)
    doubtful_releases: set[str] = field(default_factory=set)
    doubtful_clusters: set[str] = field(default_factory=set)
    origins: dict[str, list[int]] = field(default_factory=dict)  # by origin: the brokers that its lines name
    unnamed_of: dict[str, int] = field(default_factory=dict)  # by origin: number of events that name no broker
    begins: int | None = None  # when the first dated event was logged
    begins_line: int = 0  # the line of that event
    latest: int | None = None
    last: int | None = None  # when the last dated event was logged
    back: int | None = None  # the first line whose time is over BACK before the time of an earlier line
    backs: int = 0  # number of such lines
    later: int = 0  # number of dated events whose time is after that of the previous event
    earlier: int = 0  # number of dated events whose time is before the time of the previous event
    problem: str | None = None

    def text(self) -> str:
        """Return the facts as JSON, for tables."""
        sets = {name: sorted(getattr(self, name)) for name in _SETS}
        return json.dumps(vars(self) | sets, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> "LogFacts":
        """Return the facts from the JSON that `LogFacts.text` has returned."""
        row: dict[str, Any] = json.loads(text)
        return cls(**row | {name: set(row[name]) for name in _SETS})

    @property
    def is_newest_first(self) -> bool:
        """Return whether the times of the lines decrease, as in the exports of Kibana, Loki and Datadog."""
        return self.earlier >= _FEW and self.earlier > _MORE * self.later

    @property
    def is_in_order(self) -> bool:
        """Return whether the lines are in order of time, oldest or newest first. A few wrong places are allowed."""
        return self.is_newest_first or self.backs <= _FEW or self.backs * _OFTEN <= self.events

    @property
    def is_whole(self) -> bool:
        """Return whether at least four in five lines about partitions could be read.

        An unread line might show that the other lines are harmless, for example because a topic was deleted.
        """
        return self.unread * _WHOLE <= self.events

    @property
    def is_trusted(self) -> bool:
        """Return whether at least half of Kafka's messages end at the end of their line.

        If fewer do, a number at the end of a line may be cut off.
        """
        return self.ends >= self.closed

    def named(self, origin: str, broker: int | None) -> None:
        """Record that a line of an origin (container, pod or host) names a broker, or that it names none.

        Ignores further origins after the first _ORIGINS.
        """
        if len(self.origins) >= _ORIGINS and origin not in self.origins:
            return
        known = self.origins.setdefault(origin, [])
        if broker is None:
            self.unnamed_of[origin] = self.unnamed_of.get(origin, 0) + 1
        elif broker not in known:
            known.append(broker)
            known.sort()


_SETS = ("brokers", "releases", "clusters", "doubtful_releases", "doubtful_clusters")
_LINES = ("back", "unread_line", "undecoded_line")
_COUNTS = (
    *("lines", "events", "unnamed", "unread", "undecoded", "own", "wrong_epochs", "high_watermarks", "closed"),
    *("doubtful", "framed", "ends", "undated", "backs", "later", "earlier"),
)


def merged(parts: Iterable[LogFacts]) -> LogFacts:
    """Return the facts of a whole file, merged from the facts of its parts."""
    first, *others = sorted(parts, key=lambda facts: facts.part)
    whole = LogFacts.from_text(first.text())
    for part in others:
        if part.begins is not None and whole.last is not None:
            whole.later += part.begins > whole.last
            whole.earlier += part.begins < whole.last
            if part.begins < whole.last - BACK:
                whole.back = whole.lines + part.begins_line if whole.back is None else whole.back
                whole.backs += 1
        for line in _LINES:
            if getattr(whole, line) is None and getattr(part, line) is not None:
                setattr(whole, line, whole.lines + getattr(part, line))
        for count in _COUNTS:
            setattr(whole, count, getattr(whole, count) + getattr(part, count))
        for names in _SETS:
            setattr(whole, names, getattr(whole, names) | getattr(part, names))
        for origin, brokers in part.origins.items():
            whole.origins[origin] = sorted({*whole.origins.get(origin, ()), *brokers})
        for origin, number in part.unnamed_of.items():
            whole.unnamed_of[origin] = whole.unnamed_of.get(origin, 0) + number
        whole.is_broker = whole.is_broker or part.is_broker
        whole.layout = whole.layout or part.layout
        whole.first = None if whole.events else whole.first or part.first
        if whole.begins is None and part.begins is not None:
            whole.begins, whole.begins_line = part.begins, whole.lines - part.lines + part.begins_line
        whole.last = whole.last if part.last is None else part.last
        whole.latest = max((time for time in (whole.latest, part.latest) if time is not None), default=None)
        whole.problem = whole.problem or part.problem
    return whole
