"""Blocks: documents of several lines, such as indented JSON, YAML and the export format of systemd.

The message is a field of such a block. Other fields hold its time and its origin.
"""

import re
from collections.abc import Iterator

from epochfuzz.harness.audit.lines import times
from epochfuzz.harness.audit.lines.envelopes import names_in

_MOST = 40  # lines of a block before and after the message
_LONGEST = 400  # bytes of a line that may hold an origin or a time
_MESSAGE = re.compile(
    rb'(?:[ \t]+"[\w.@-]{1,60}"\s*(?::|=>)|"(?:message|msg|log)"\s*:|MESSAGE=|[ \t]*(?:textPayload|message|msg):)'
)
_FIELD = re.compile(rb"[ \t-]*\"?[\w.@/ -]{1,80}\"?\s*(?::|=>|=)\s*(.*?),?\s*$")
_OPENS, _CLOSES = (b"{", b"["), (b"}", b"]")


def context_of(chunk: bytes, start: int, end: int) -> tuple[int | None, str | None]:
    """Return the time and the origin that the fields around a message show. Both are None outside of a block.

    `start` and `end` are the start and the end of the message's line in a chunk.
    """
    if _MESSAGE.match(chunk, start, end) is None:
        return None, None
    time: int | None = None
    names: list[str] = []
    for value in _values(chunk, start, end):
        text = value.strip(b"\"' ").decode(errors="replace")
        at = times.of_value(int(text) if text.isdecimal() and len(text) < 20 else text)
        if at is None:
            names += names_in([text])
        elif time is None and times.is_dated(at):
            time = at
    return time, "; ".join(dict.fromkeys(names))[:_LONGEST] or None


def _values(chunk: bytes, start: int, end: int) -> Iterator[bytes]:
    indented = _indentation(chunk[start:end])
    for lines in (_before(chunk, start), _after(chunk, end)):
        for line in lines:
            text = line.strip()
            is_edge = text.endswith(_OPENS) or text.startswith(_CLOSES)
            if not text or text == b"---" or (is_edge and _indentation(line) < indented):
                break
            field = _FIELD.match(line) if len(line) <= _LONGEST else None
            if field is not None:
                yield field[1]


def _indentation(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _before(chunk: bytes, start: int) -> Iterator[bytes]:
    for _ in range(_MOST):
        if not start:
            return
        end, start = start - 1, chunk.rfind(b"\n", 0, start - 1) + 1
        yield chunk[start:end]


def _after(chunk: bytes, end: int) -> Iterator[bytes]:
    for _ in range(_MOST):
        start, end = end + 1, chunk.find(b"\n", end + 1)
        if end < 0:
            return
        yield chunk[start:end]
