"""Unwrapping: join the lines of a log that an e-mail, a terminal or a document has wrapped.

The lines of a file are joined if this makes more of Kafka's messages readable in the first chunk of the file. The
number of lines stays the same, because empty lines follow each joined line.
"""

import quopri
import re
from collections.abc import Callable, Iterator

from epochfuzz.harness.audit.lines.matching import messages_in

_WIDEST = 200  # bytes; Kafka's lines about partitions are longer, so a file with longer lines is not wrapped
_MOST = 40  # lines that are joined
_OF_KAFKA = re.compile(rb"[Tt]runcat|[Ll]eader|ISR|watermark|partition")
_QUOTE = re.compile(rb"^[>|\s]*")
# A line that begins a record: the time of the record stands near its start.
_BEGINS = re.compile(
    rb"[^\w\n]{0,6}(?:\w[\w.@/-]{0,60}[^\w\n.@/-]{1,6}){0,3}?"
    rb"(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d|\d\d:\d\d:\d\d[.,\s])"
)

Unwrap = Callable[[bytes], bytes]


def unwrap_of(chunk: bytes) -> Unwrap | None:
    """Return the function that joins the wrapped lines of a file, or None if the lines are not wrapped.

    `chunk` is the first chunk of the file.
    """
    if _OF_KAFKA.search(chunk) is None or max(map(len, chunk.split(b"\n"))) > _WIDEST:
        return None
    ways: tuple[Unwrap | None, ...] = (None, _at_soft_breaks, _between_words, _within_words)
    return max(ways, key=lambda way: _readable(chunk if way is None else way(chunk)))


def _readable(chunk: bytes) -> int:
    """Return the number of readable messages minus the number of places that look like a message but are unreadable."""
    readable = 0
    for line in chunk.split(b"\n"):
        if len(line) > 20:
            messages, failed = messages_in(line.decode(errors="replace"))
            readable += len(messages) - failed
    return readable


def _at_soft_breaks(chunk: bytes) -> bytes:
    """Decode quoted-printable text (RFC 2045): `=` at the end of a line means that the line continues."""
    lines: list[bytes] = []
    joined = 0
    for line in chunk.split(b"\n"):
        if joined:
            lines[-1] += line.rstrip(b"\r")
        else:
            lines.append(line.rstrip(b"\r"))
        if lines[-1].endswith(b"=") and joined < _MOST:
            lines[-1] = lines[-1][:-1]
            joined += 1
            continue
        lines[-1] = quopri.decodestring(lines[-1]).replace(b"\n", b" ")
        lines += [b""] * joined
        joined = 0
    return b"\n".join([*lines, *[b""] * joined])


def _between_words(chunk: bytes) -> bytes:
    """Join lines that were wrapped at a space or at a hyphen, also if they are quoted or indented."""
    lines: list[bytes] = []
    for record in _records([_QUOTE.sub(b"", line).rstrip() for line in chunk.split(b"\n")]):
        whole = record[0]
        for part in record[1:]:
            whole += part if re.search(rb"\w-$", whole) else b" " + part
        lines += [whole, *[b""] * (len(record) - 1)]
    return b"\n".join(lines)


def _within_words(chunk: bytes) -> bytes:
    """Join lines that were wrapped at a fixed width."""
    lines: list[bytes] = []
    for record in _records([line.rstrip(b"\r") for line in chunk.split(b"\n")]):
        lines += [b"".join(record), *[b""] * (len(record) - 1)]
    return b"\n".join(lines)


def _records(lines: list[bytes]) -> Iterator[list[bytes]]:
    """Yield the lines of each log record.

    A record is a line that begins with a time, and the lines after it up to the next empty line or line with a time.
    """
    record: list[bytes] = []
    is_open = False
    for line in lines:
        begins = _BEGINS.match(line) is not None
        if record and (begins or not is_open or not line or len(record) == _MOST):
            yield record
            record = []
        is_open = begins or (is_open and bool(record))
        record.append(line)
    if record:
        yield record
