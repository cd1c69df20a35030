"""Cleaning: undo changes that terminals, browsers and log collectors make within a line, such as colour codes.

reading.py searches for fixed words of Kafka's messages, and would not find words that a colour code interrupts. The
number of lines stays the same. If a container runtime has split a line, all parts of the line move to the place of the
first part, and empty lines replace the other parts.
"""

import json
import re
from collections.abc import Iterable

COLOURS = re.compile(
    r"\x1b(?:\[[0-9;:?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[()][0-9A-B]|[@-Z\\^_])"
)
_COLOURS = re.compile(COLOURS.pattern.encode())
# Spaces of web pages, U+00A0 and U+202F, and characters without width. U+FEFF begins each of several joined files.
_SPACES = ((b"\xc2\xa0", b" "), (b"\xe2\x80\xaf", b" "), (b"\xe2\x80\x8b", b""), (b"\xef\xbb\xbf", b""))
# journald writes a message with colours or other control characters as an array of its bytes.
_ARRAY = re.compile(rb'("MESSAGE"[ \t]{0,4}:[ \t]{0,4})\[([ \t\d,]{2,400000})\]')
# containerd and CRI-O split a line after 8 or 16 KiB: P marks a part, and F the last part.
_PART = re.compile(rb"\S{10,40} (stdout|stderr) ([PF])(?::\S*)? ?(.*?)\r?$")
# Docker splits a line after 16 KiB. Only the last part ends with a line end.
_DOCKER = re.compile(rb'(\{"log": ?"(.*))(", ?"stream": ?"(std\w{3})".{0,4000}\}\r?)$')


def cleaned(chunk: bytes) -> bytes:
    """Return a chunk of whole lines without escape sequences, NULs and special spaces, and with split lines joined."""
    if b"\x1b" in chunk:
        chunk = _COLOURS.sub(b"", chunk)
    if b"\0" in chunk:
        chunk = chunk.replace(b"\0", b"")
    if not chunk.isascii():
        for space, usual in _SPACES:
            chunk = chunk.replace(space, usual)
    if b"&" in chunk:  # a search for one byte is ten times faster than one for several
        chunk = chunk.replace(b"&nbsp;", b" ")
    has_quotes = b'"' in chunk
    if has_quotes and b'"MESSAGE"' in chunk:
        chunk = _ARRAY.sub(_text_of_array, chunk)
    if b" stdout P" in chunk or b" stderr P" in chunk:
        chunk = b"\n".join(_with_parts_joined(chunk.split(b"\n")))
    if has_quotes and b'"stream"' in chunk and _has_parts_of_docker(chunk):
        chunk = b"\n".join(_with_parts_of_docker_joined(chunk.split(b"\n")))
    return chunk


def _text_of_array(match: "re.Match[bytes]") -> bytes:
    numbers = [int(number) for number in match[2].split(b",") if number.strip().isdigit()]
    if any(number > 255 for number in numbers):
        return match[0]
    text = COLOURS.sub("", bytes(numbers).decode(errors="replace"))
    return match[1] + json.dumps(text).encode()


def _with_parts_joined(lines: Iterable[bytes]) -> list[bytes]:
    joined: list[bytes] = []
    open_: dict[bytes, int] = {}  # by stream: the place of the first part
    for line in lines:
        joined.append(line)
        part = _PART.match(line)
        if part is None:
            continue
        if part[1] in open_:
            joined[open_[part[1]]] += part[3]
            joined[-1] = b""
        if part[2] == b"P":
            open_.setdefault(part[1], len(joined) - 1)
        else:
            open_.pop(part[1], None)
    return joined


def _has_parts_of_docker(chunk: bytes) -> bool:
    ends = chunk.count(b'\\n","stream"') + chunk.count(b'\\n", "stream"')
    return ends < chunk.count(b'","stream"') + chunk.count(b'", "stream"')


def _with_parts_of_docker_joined(lines: Iterable[bytes]) -> list[bytes]:
    joined: list[bytes] = []
    open_: dict[bytes, tuple[int, bytes, bytes]] = {}  # by stream: the place of the first part, its text and its end
    for line in lines:
        joined.append(line)
        part = _DOCKER.match(line)
        if part is None:
            continue
        place, text, end = open_.pop(part[4], (len(joined) - 1, b"", part[3]))
        text += part[2] if text else part[1]
        if place < len(joined) - 1:
            joined[place], joined[-1] = text + end, b""
        if not part[2].endswith(b"\\n"):
            open_[part[4]] = place, text, end
    return joined
