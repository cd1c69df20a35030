"""Facts of a file or of a part of a file: the number of lines, the brokers that they name, and all problems."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

BACK = 2_000  # milliseconds by which lines of several threads may change places

_FEW, _OFTEN = 2, 10  # lines are out of order if more than two are, and more than one in ten that were understood
_WHOLE = 4  # at most one line in five may be unread
_ORIGINS = 500  # origins that are remembered


@dataclass
class LogFacts:
    """The facts of a part of a file. Line numbers start at 1 with the first line of the part."""

    file: str
    part: int = 0
    source: str = ""  # the file that was opened; an archive has many
    lines: int = 0
    events: int = 0
    unnamed: int = 0  # events that do not say of which broker they are
    unread: int = 0  # lines with the words of a message that could not be read
    unread_line: int | None = None  # the first of them
    undecoded: int = 0  # lines with bytes that are not UTF-8 or are NUL, and that say nothing that is known
    undecoded_line: int | None = None
    own: int = 0  # events of KRaft's log of metadata
    wrong_epochs: int = 0  # followers that print the new epoch as that of the role before (KAFKA-19776)
    high_watermarks: int = 0  # events that tell one
    closed: int = 0  # events behind which something of a layout stands
    doubtful: int = 0  # events that end with a number and the line
    framed: int = 0  # lines that were taken apart as --layout says
    ends: int = 0  # events that end with the line
    is_broker: bool = False  # whether a line is one of a broker's, of whatever it speaks
    first: str | None = None  # the first line, if no event stands in the file
    layout: str | None = None  # of the first event
    undated: int = 0  # events without a date
    brokers: set[int] = field(default_factory=set)  # that lines say they are of
    releases: set[str] = field(default_factory=set)
    clusters: set[str] = field(default_factory=set)
    doubtful_releases: set[str] = field(default_factory=set)
    doubtful_clusters: set[str] = field(default_factory=set)
    origins: dict[str, list[int]] = field(default_factory=dict)  # the brokers that lines of an origin name
    unnamed_of: dict[str, int] = field(default_factory=dict)  # by origin, events that name none
    begins: int | None = None  # when the first dated event was logged
    begins_line: int = 0  # the line of that event
    latest: int | None = None
    last: int | None = None  # when the last dated event was logged
    back: int | None = None  # the first line at which the clock had gone back
    backs: int = 0  # how often it had
    problem: str | None = None

    def text(self) -> str:
        """Return the facts as JSON, for tables."""
        sets = {name: sorted(getattr(self, name)) for name in _SETS}
        return json.dumps(vars(self) | sets, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> "LogFacts":
        """Return the facts of a text."""
        row: dict[str, Any] = json.loads(text)
        return cls(**row | {name: set(row[name]) for name in _SETS})

    @property
    def is_in_order(self) -> bool:
        """Return whether the times of the lines rise, apart from a few places where the clock was put back."""
        return self.backs <= _FEW or self.backs * _OFTEN <= self.events

    @property
    def is_whole(self) -> bool:
        """Return whether at least four in five lines about partitions could be read.

        A missing line might make the others harmless, for example if it says that a topic was deleted.
        """
        return self.unread * _WHOLE <= self.events

    @property
    def is_trusted(self) -> bool:
        """Return whether the layout ends with the message. If not, a line that ends with a number may be cut."""
        return self.ends >= self.closed

    def named(self, origin: str, broker: int | None) -> None:
        """Note that a line of an origin names a broker, or names none. Ignores origins beyond the first _ORIGINS."""
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
    *("doubtful", "framed", "ends", "undated", "backs"),
)


def merged(parts: Iterable[LogFacts]) -> LogFacts:
    """Return the facts of a whole file from those of its parts."""
    first, *others = sorted(parts, key=lambda facts: facts.part)
    whole = LogFacts.from_text(first.text())
    for part in others:
        if part.begins is not None and whole.last is not None and part.begins < whole.last - BACK:
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
