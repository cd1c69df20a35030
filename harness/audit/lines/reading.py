"""Reading: from the bytes of a log to events, and to facts of the file: how far it was read, whose it is, what is odd.

Logs are mostly of other things. Lines are looked for by needles that every wording has, and only those are taken apart.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from epochfuzz.harness.audit.lines import wordings
from epochfuzz.harness.audit.lines.events import Event, Kind
from epochfuzz.harness.audit.lines.layouts import Frame
from epochfuzz.harness.audit.lines.sources import opened

NEEDLES = tuple(needle.encode() for needle in wordings.NEEDLES)

_CHUNK = 1 << 22  # bytes
_LONGEST = 1 << 16  # bytes of a line that is taken apart
_KEPT = 2_000  # characters of a line
_BACK = 2_000  # milliseconds by which lines of several threads may change places
_FEW, _OFTEN = 2, 10  # more than two times, and at more than one line in ten
_WHOLE = 4  # one in five is too many
_OWN = "__cluster_metadata"  # KRaft's log of metadata, which is replicated by other rules


@dataclass(frozen=True)
class Part:
    """Some of a file: the lines that begin at the bytes from `start` up to `end`, None for all that follow."""

    file: str
    packed: bool = False
    number: int = 0
    start: int = 0
    end: int | None = None


@dataclass
class Facts:
    """What is known of a part of a file. Lines are counted from the part's own first."""

    file: str
    part: int = 0
    lines: int = 0
    events: int = 0
    unnamed: int = 0  # events that do not say of which broker they are
    unread: int = 0  # lines that speak of partitions in a layout that is not known
    unread_line: int | None = None  # the first of them
    high_watermarks: int = 0  # events that tell one
    brokers: set[int] = field(default_factory=set)  # that lines say they are of
    releases: set[str] = field(default_factory=set)
    clusters: set[str] = field(default_factory=set)
    begins: int | None = None  # when the first event was logged
    latest: int | None = None
    back: int | None = None  # the first line at which the clock had gone back
    backs: int = 0  # how often it had
    problem: str | None = None

    def text(self) -> str:
        """As text, for tables."""
        sets = {name: sorted(getattr(self, name)) for name in _SETS}
        return json.dumps(vars(self) | sets, sort_keys=True)

    @property
    def is_in_order(self) -> bool:
        """Whether lines follow one another in time, but for a few times that a clock was put back."""
        return self.backs <= _FEW or self.backs * _OFTEN <= self.events

    @property
    def is_whole(self) -> bool:
        """Whether all but a few of the lines that speak of partitions could be read: the missing ones might tell what
        makes the others harmless, such as that a topic was deleted."""
        return self.unread * _WHOLE <= self.events

    @classmethod
    def from_text(cls, text: str) -> "Facts":
        """Return the facts of a text."""
        row = json.loads(text)
        return cls(**row | {name: set(row[name]) for name in _SETS})


_SETS = ("brokers", "releases", "clusters")


class Reader:
    """Takes the lines of one part of a file, and notes its facts."""

    def __init__(self, frames: Sequence[Frame], part: Part) -> None:
        self.facts = Facts(part.file, part.number)
        self._frames = frames
        self._last: dict[int | None, int] = {}  # by broker, for a file may have several

    def event(self, line: int, raw: bytes) -> Event | None:
        """Return the event of a line, if it is one."""
        text = raw.decode(errors="replace").rstrip("\r") if len(raw) <= _LONGEST else ""
        framed = next((found for frame in self._frames if (found := frame(text)) is not None), None)
        if framed is None:
            self._unread(line)
            return None
        told = wordings.read(framed.message)
        if told is None:
            return None
        kind, said = told
        named = said.setdefault("broker", wordings.broker_of(framed.message))
        self._note_time(framed.time, line, named)
        if named is not None:
            self.facts.brokers.add(named)
        if kind in (Kind.RELEASE, Kind.CLUSTER):
            (self.facts.releases if kind == Kind.RELEASE else self.facts.clusters).add(said["value"])
            return None
        if said["topic"] == _OWN:
            return None
        self.facts.events += 1
        self.facts.unnamed += named is None
        self.facts.high_watermarks += said.get("high_watermark") is not None
        return Event(kind, self.facts.file, line, framed.time, text[:_KEPT], **said)

    def _note_time(self, time: int, line: int, broker: int | None) -> None:
        facts = self.facts
        if time < self._last.get(broker, time) - _BACK:
            facts.back = line if facts.back is None else facts.back
            facts.backs += 1
        self._last[broker] = time
        facts.begins = time if facts.begins is None else facts.begins
        facts.latest = time if facts.latest is None else max(facts.latest, time)

    def _unread(self, line: int) -> None:
        self.facts.unread += 1
        self.facts.unread_line = line if self.facts.unread_line is None else self.facts.unread_line


def read(part: Part, frames: Sequence[Frame]) -> tuple[list[Event], Facts]:
    """Return the events of a part of a file. What cannot be read of it is among the facts."""
    reader = Reader(frames, part)
    events = []
    try:
        for whole in _chunks(part):
            for number, raw in needled(whole):
                event = reader.event(reader.facts.lines + number, raw)
                if event is not None:
                    events.append(event)
            reader.facts.lines += whole.count(b"\n") + (not whole.endswith(b"\n"))
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        reader.facts.problem = f"could not be read to its end: {reason}"
    return events, reader.facts


def _chunks(part: Part) -> Iterator[bytes]:
    """Whole lines of a part, many at a time; only the last of a file may lack its end."""
    with opened(part.file, part.packed) as content:
        at = part.start
        if at:  # whoever has the part before reads the line that it breaks into
            content.seek(at - 1)
            at += len(content.readline()) - 1
        rest = b""
        while part.end is None or at < part.end:
            wanted = _CHUNK if part.end is None else min(_CHUNK, part.end - at)
            chunk = content.read(wanted)
            at += len(chunk)
            if len(chunk) < wanted:
                break
            whole, newline, rest = (rest + chunk).rpartition(b"\n")
            rest = rest[-_CHUNK:]  # of a line that never ends, no more than that is kept
            if newline:
                yield whole + newline
            chunk = b""
        else:
            chunk = content.readline() if rest else b""
        if rest or chunk:
            yield rest + chunk


def needled(text: bytes) -> list[tuple[int, bytes]]:
    """Return the lines of a text that have a needle, with their numbers from 1."""
    starts = {start for needle in NEEDLES for start in _starts(text, needle)}
    lines, number, counted = [], 1, 0
    for start in sorted(starts):
        number += text.count(b"\n", counted, start)
        counted = start
        end = text.find(b"\n", start)
        lines.append((number, text[start : end if end >= 0 else len(text)]))
    return lines


def _starts(text: bytes, needle: bytes) -> Iterator[int]:
    """Where the lines begin that have a needle."""
    at = text.find(needle)
    while at >= 0:
        yield text.rfind(b"\n", 0, at) + 1
        end = text.find(b"\n", at)
        at = text.find(needle, end) if end >= 0 else -1


def merged(parts: Iterable[Facts]) -> Facts:
    """Return the facts of a whole file from those of its parts."""
    first, *others = sorted(parts, key=lambda facts: facts.part)
    whole = Facts.from_text(first.text())
    for part in others:
        if whole.back is None and part.begins is not None and part.begins < (whole.latest or 0) - _BACK:
            whole.back = whole.lines + 1
        for line in ("back", "unread_line"):
            if getattr(whole, line) is None and getattr(part, line) is not None:
                setattr(whole, line, whole.lines + getattr(part, line))
        for count in ("lines", "events", "unnamed", "unread", "high_watermarks", "backs"):
            setattr(whole, count, getattr(whole, count) + getattr(part, count))
        for names in _SETS:
            setattr(whole, names, getattr(whole, names) | getattr(part, names))
        whole.begins = part.begins if whole.begins is None else whole.begins
        whole.latest = max((time for time in (whole.latest, part.latest) if time is not None), default=None)
        whole.problem = whole.problem or part.problem
    return whole
