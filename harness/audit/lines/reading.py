"""Reading: turn the bytes of a log into events, and into facts of the file.

Most lines of a log don't matter to an audit. This module searches the bytes for needles: fixed words of Kafka's
messages (wordings.py). It parses only the lines that contain a needle.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import IO

from epochfuzz.harness.audit.errors import reason
from epochfuzz.harness.audit.lines import times
from epochfuzz.harness.audit.lines.blocks import context_of
from epochfuzz.harness.audit.lines.cleaning import cleaned
from epochfuzz.harness.audit.lines.events import Event, MessageKind
from epochfuzz.harness.audit.lines.facts import BACK, LogFacts
from epochfuzz.harness.audit.lines.layouts import Frame
from epochfuzz.harness.audit.lines.line import MessageSighting, seen_in, with_context
from epochfuzz.harness.audit.lines.matching import messages_in
from epochfuzz.harness.audit.lines.origins import words_in
from epochfuzz.harness.audit.lines.sources import opened
from epochfuzz.harness.audit.lines.unwrapping import Unwrap, unwrap_of
from epochfuzz.harness.audit.lines.wordings import LOOKED_FOR
from epochfuzz.harness.audit.unpacking.forms import TEXT
from epochfuzz.harness.audit.unpacking.unpacking import UNPACKING_ERRORS, Member, UnpackedBytes, buffered, members

_CHUNK = 1 << 18  # bytes; fits into a processor's cache, because each chunk is searched for one needle after another
_LONGEST = 1 << 16  # bytes of the longest line that is parsed as a whole
_AROUND = 4_000  # bytes before and after a needle that are parsed in a longer line
_KEPT = 2_000  # characters of a line that an event keeps
_SHOWN = 200  # characters of the first line of a file without events, for messages
_LOOKED_AT = 64  # number of chunks in which lines without a partition may show that a broker wrote the file
_OF_BLOCKS = frozenset(b' \t"Mtm')  # the bytes with which a field of a block (blocks.py) may begin
_OWN = "__cluster_metadata"  # KRaft's metadata log, which KRaft replicates by other rules
_YEAR = 300 * times.DAY


def _grouped(keys: Iterable[bytes]) -> bytes:
    """Return a regular expression that matches each of `keys`. Keys with equal first bytes share a branch for speed."""
    rests: dict[bytes, list[bytes]] = {}
    for key in keys:
        rests.setdefault(key[:1], []).append(re.escape(key[1:]))
    return b"|".join(letter + b"(?:" + b"|".join(rest) + b")" for letter, rest in rests.items())


_IN_BYTES = {key.encode(): needles for key, needles in LOOKED_FOR.items()}
_CAPITAL = re.compile(_grouped(key for key in _IN_BYTES if key[:1].isupper()))
_OTHERS = tuple(key for key in _IN_BYTES if not key[:1].isupper())
# Lines that a broker wrote: their logger, or the prefix that Kafka puts before the message, shows this.
_BROKERS = re.compile(
    rb"\((?:kafka\.|state\.change\.|org\.apache\.kafka\.(?:server|storage|controller|image|metadata|raft|coordinator)\.)"
    rb"|\[(?:Broker|KafkaServer|BrokerServer|ControllerServer|Controller|QuorumController|ReplicaManager|SocketServer"
    rb"|GroupCoordinator|ReplicaFetcher|Partition|UnifiedLog|Log|RaftManager|BrokerLifecycleManager) \w+="
)
# Loggers that write the wordings. If such a line has bytes that can't be decoded, it may have been a message.
_OF_PARTITIONS = re.compile(
    r"(?:Partition|Log\w*|Replica\w*|\w*Fetcher\w*|\w*Controller\w*|Partition\w*|logger|Kafka\w*)$"
)
_LOGGER = re.compile(r"\(([\w.$-]{1,200})\)\s*$")


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a file: all lines whose first byte is at `start` or later, and before `end`.

    `end` is None for the last part of a file. `location` is the path or URL to open, or None if it equals `file`. A
    file that is not plain text is a single part.
    """

    file: str
    form: str = TEXT
    number: int = 0
    start: int = 0
    end: int | None = None
    location: str | None = None
    size: int = 0

    def text(self) -> str:
        """Return the part as JSON, for tables."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> "Part":
        """Return the part from the JSON that `Part.text` has returned."""
        return cls(**json.loads(text))


def read(part: Part, frames: Sequence[Frame]) -> Iterator[Event | LogFacts]:
    """Yield the events of a part of a file, and then the facts of the part.

    For an archive, the function yields the events and the facts of each file in the archive.
    """
    names: set[str] = set()
    problem = None
    try:
        with opened(part.location or part.file) as content:
            inside = (
                members(part.file, content, UnpackedBytes(part.size)) if part.form != TEXT else _itself(part, content)
            )
            for member in inside:
                name = member.name if member.name not in names else f"{member.name} ({len(names)})"
                names.add(name)
                reader = LogReader(
                    LogFacts(file=name, part=part.number, source=part.file, problem=member.problem), frames
                )
                if member.content is not None:
                    yield from reader.events(_chunks(member.content, part))
                yield reader.facts
    except UNPACKING_ERRORS as error:
        problem = f"could not be read to its end: {reason(error)}"
    if problem or not names:
        yield LogFacts(file=part.file, part=part.number, source=part.file, problem=problem or "holds no file")


def _itself(part: Part, content: IO[bytes]) -> Iterator[Member]:
    if part.start:
        content.seek(part.start - 1)
    yield Member(part.file, buffered(content))


class LogReader:
    """Turns the lines of one part of a file into events, and collects the facts of the part."""

    def __init__(self, facts: LogFacts, frames: Sequence[Frame]) -> None:
        self.facts = facts
        self._frames = frames
        self._last: dict[tuple[object, bool], int] = {}  # by broker or origin, because a file may have several
        self._time: int | None = None
        self._before = b""  # the last line of the previous chunk
        self._chunks = 0
        self._unwrap: Unwrap | None = None

    def events(self, chunks: Iterator[bytes]) -> Iterator[Event]:
        """Yield the events in chunks of whole lines. If the file can't be read to its end, `facts.problem` says why."""
        facts, is_open = self.facts, False
        try:
            for chunk in chunks:
                self._look_at(chunk)
                chunk = cleaned(chunk)
                if self._chunks == 1:
                    self._unwrap = unwrap_of(chunk)
                if self._unwrap is not None:
                    chunk = self._unwrap(chunk)
                lines, count = needled(chunk)
                for number, start, end, needles in lines:
                    yield from self._events_of(facts.lines + number, chunk, start, end, needles)
                facts.lines += count
                is_open = not chunk.endswith(b"\n")
                self._before = chunk[chunk.rfind(b"\n", 0, -1) + 1 :][:_LONGEST]
        except UNPACKING_ERRORS as error:
            facts.problem = f"could not be read to its end: {reason(error)}"
        facts.lines += is_open
        if facts.events:
            facts.first = None

    def _look_at(self, chunk: bytes) -> None:
        self._chunks += 1
        facts = self.facts
        if facts.first is None and not facts.events:
            line = chunk.lstrip(b"\0 \t\r\n\xef\xbb\xbf").partition(b"\n")[0]
            facts.first = line[: _SHOWN * 4].decode(errors="replace").strip()[:_SHOWN] or None
        if not facts.is_broker and self._chunks <= _LOOKED_AT:
            facts.is_broker = _BROKERS.search(chunk) is not None
        if not chunk.isascii() or b"\0" in chunk:
            self._check_bytes(chunk)

    def _check_bytes(self, chunk: bytes) -> None:
        """Count the lines with NULs or with bytes that are not UTF-8.

        Skips lines with a readable message, and lines of loggers that write nothing about partitions.
        """
        try:
            chunk.decode()
            if b"\0" not in chunk:
                return
        except UnicodeDecodeError:
            pass
        for number, line in enumerate(chunk.split(b"\n"), start=1):
            text = line[:_LONGEST].decode(errors="replace")
            if "\ufffd" not in text and "\0" not in text:
                continue
            logger = _LOGGER.search(text[-300:])
            is_other = logger is not None and _OF_PARTITIONS.search(logger[1]) is None
            if not is_other and not messages_in(text.replace("\0", ""))[0]:
                self.facts.undecoded += 1
                self.facts.undecoded_line = self.facts.undecoded_line or self.facts.lines + number

    def _events_of(self, line: int, chunk: bytes, start: int, end: int, needles: list[str]) -> list[Event]:
        def before() -> str:
            previous = chunk[chunk.rfind(b"\n", 0, start - 1) + 1 : start - 1] if start else self._before
            return previous[-_LONGEST:].decode(errors="replace")

        events = []
        for raw in (chunk[start:end],) if end - start <= _LONGEST else _windows(chunk[start:end], needles):
            text = raw.decode(errors="replace")
            found, failed = self._seen(text, needles, before) if self._frames else seen_in(text, needles, before)
            if failed and not (found and all(each.is_foreign for each in found)):
                self.facts.unread += 1
                self.facts.unread_line = self.facts.unread_line or line
            if found and chunk[start] in _OF_BLOCKS:
                time, origin = context_of(chunk, start, end)
                found = [with_context(each, time, origin) for each in found]
            for each in found:
                event = self._event(each, line, text)
                if event is not None:
                    events.append(event)
        return events

    def _seen(self, text: str, needles: list[str], before: Callable[[], str]) -> tuple[list[MessageSighting], int]:
        for frame in self._frames:
            framed = frame(text.rstrip())
            if framed is not None:
                messages, failed = messages_in(framed.message, needles)
                if (
                    messages
                    and messages[0].start == 0
                    and (messages[0].is_open or messages[0].end == len(framed.message))
                ):
                    self.facts.framed += 1
                    origin, layout = words_in(framed.before), ("as --layout says: ", "", "")
                    return [
                        MessageSighting(
                            message=messages[0],
                            time=framed.time,
                            origin=origin,
                            logger=None,
                            is_closed=True,
                            around=layout,
                        )
                    ], failed
        return seen_in(text, needles, before)

    def _event(self, seen: MessageSighting, line: int, text: str) -> Event | None:
        """Return the event of a message, or None if the message is no event.

        A message that names a release or a cluster is a fact of the file. A message about KRaft's metadata log is only
        counted. A message of another program, which quotes Kafka, does not count.
        """
        if seen.is_foreign:
            return None
        facts, kind, said = self.facts, seen.message.kind, seen.message.said
        named = said["broker"]
        facts.is_broker = facts.is_broker or kind != MessageKind.RELEASE  # which every client prints
        if named is not None:
            facts.brokers.add(named)
        if kind in (MessageKind.RELEASE, MessageKind.CLUSTER):
            name = "releases" if kind == MessageKind.RELEASE else "clusters"
            getattr(facts, f"doubtful_{name}" if seen.is_doubtful else name).add(said["value"])
            return None
        if said["topic"] == _OWN:
            facts.own += 1
            return None
        self._note(seen, line, named)
        return Event(
            kind=kind,
            file=facts.file,
            line=line,
            time=self._time or 0,
            text=text[:_KEPT].rstrip("\r\n"),
            **said,
            origin=seen.origin,
            doubtful=seen.is_doubtful,
        )

    def _note(self, seen: MessageSighting, line: int, named: int | None) -> None:
        facts, said, time = self.facts, seen.message.said, seen.time
        self._note_time(time, line, seen.origin if named is None else named)
        facts.events += 1
        if named is None:
            facts.unnamed += 1
        if seen.origin is not None:
            facts.named(seen.origin, named)
        if "high_watermark" in said:
            facts.high_watermarks += 1
        if not seen.message.is_open:
            facts.closed += seen.is_closed
            facts.ends += not seen.is_closed
            facts.doubtful += seen.is_doubtful
        if time is None or time < times.DAY:
            facts.undated += 1
        if facts.layout is None:
            facts.layout = seen.layout
        if seen.message.kind == MessageKind.FOLLOWER and "leader" in said:
            facts.wrong_epochs += said.get("previous_epoch") == said["leader_epoch"]

    def _note_time(self, time: int | None, line: int, whose: object) -> None:
        if time is None or (time < times.DAY and self._time is not None and self._time >= times.DAY):
            return  # a line without a time, or without the date of other lines, gets the previous line's time
        self._time = time
        if time < times.DAY:
            return
        facts, is_dated = self.facts, times.is_dated(time)
        key = (whose, is_dated)
        last = self._last.get(key, time)
        if facts.last is not None:
            facts.later += time > facts.last
            facts.earlier += time < facts.last
        if time < last - BACK and (is_dated or time > last - _YEAR):
            facts.back = line if facts.back is None else facts.back
            facts.backs += 1
        self._last[key] = time
        if facts.begins is None:
            facts.begins, facts.begins_line = time, line
        facts.last = time
        facts.latest = time if facts.latest is None else max(facts.latest, time)


def _chunks(content: IO[bytes], part: Part) -> Iterator[bytes]:
    """Yield the lines of a part in chunks of many whole lines. A line that is longer than a chunk comes in pieces.

    If reading fails, the function raises the error after it has yielded the lines before the error.
    """
    at = part.start
    if at:  # the previous part reads the line in which this part begins
        at -= 1
        while piece := content.readline(_CHUNK):
            at += len(piece)
            if piece.endswith(b"\n"):
                break
        if part.end is not None and at >= part.end:
            return
    rest = b""
    try:
        for block in _blocks(content, None if part.end is None else part.end - at):
            last = block.rfind(b"\n") + 1
            if last:
                yield rest + block[:last]
                rest = block[last:]
                continue
            rest += block
            if len(rest) >= _CHUNK:
                cut = rest.rfind(b"}", -_LONGEST) + 1 or len(rest) - _AROUND
                yield rest[:cut]
                rest = rest[cut:]
        while part.end is not None and rest and (piece := content.readline(_CHUNK)):
            rest += piece
            if piece.endswith(b"\n"):
                break
            yield rest
            rest = b" "
    except UNPACKING_ERRORS:
        if rest:
            yield rest
        raise
    if rest:
        yield rest


def _blocks(content: IO[bytes], limit: int | None) -> Iterator[bytes]:
    """Yield up to `limit` bytes, or all bytes, in blocks of about the size of a chunk.

    If reading fails, the function raises the error after it has yielded the bytes before the error.
    """
    pieces: list[bytes] = []
    size = 0
    problem: Exception | None = None
    while limit is None or limit > 0:
        try:
            piece = content.read1(_CHUNK if limit is None else min(_CHUNK, limit))  # type: ignore[attr-defined]
        except UNPACKING_ERRORS as error:
            problem = error
            break
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
        limit = None if limit is None else limit - len(piece)
        if size >= _CHUNK:
            yield b"".join(pieces)
            pieces, size = [], 0
    if pieces:
        yield b"".join(pieces)
    if problem is not None:
        raise problem


def needled(text: bytes) -> tuple[list[tuple[int, int, int, list[str]]], int]:
    """Return the lines of a text that may contain a needle (fixed words), and the number of line ends in the text.

    Each line is a tuple: its number from 1, its start, its end, and the needles that it may contain.
    """
    starts: dict[int, list[str]] = {}
    end = -1
    for match in _CAPITAL.finditer(text):
        at = match.start()
        if at > end:
            end = text.find(b"\n", at)
            end = end if end >= 0 else len(text)
            starts[text.rfind(b"\n", 0, at) + 1] = names = [*_IN_BYTES[match[0]]]
        else:
            names += [name for name in _IN_BYTES[match[0]] if name not in names]
    for key in _OTHERS:
        at = text.find(key)
        while at >= 0:
            starts.setdefault(text.rfind(b"\n", 0, at) + 1, []).extend(_IN_BYTES[key])
            end = text.find(b"\n", at)
            at = text.find(key, end) if end >= 0 else -1
    lines, number, counted = [], 1, 0
    for start in sorted(starts):
        number += text.count(b"\n", counted, start)
        counted = start
        end = text.find(b"\n", start)
        lines.append((number, start, end if end >= 0 else len(text), starts[start]))
    return lines, number - 1 + text.count(b"\n", counted)


def _windows(line: bytes, needles: list[str]) -> Iterator[bytes]:
    """Yield the pieces of a very long line, such as a JSON document, around its needles (fixed words of messages)."""
    places = sorted(at.start() for needle in needles for at in re.finditer(re.escape(needle.encode()), line))
    until = 0
    for place in places:
        if place < until:
            continue
        start = max(until, place - _AROUND)
        cut = line.find(b"}", place, place + _AROUND)
        until = cut + 1 if cut >= 0 else min(len(line), place + _AROUND)
        yield line[start:until]
