"""Handle standard streams that are closed or full, so that a command keeps its exit code and prints no traceback.

A closed stream is None in `sys`, and the next opened file takes the stream's descriptor. If Python cannot write its
last message, it exits with code 1, which would mean a broken property.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from epochfuzz.harness.cli.output import BadInput

_INPUT, _OUTPUT, _ERROR = range(3)
# A read from the null device returns no data. A write to standard output must fail, so its descriptor is read-only.
_IN_PLACE_OF_CLOSED = {_INPUT: os.O_RDONLY, _OUTPUT: os.O_RDONLY, _ERROR: os.O_WRONLY}


class _Input(io.FileIO):
    """Standard input. A failed read raises BadInput, for example if the stream is open for writing only."""

    def readinto(self, buffer: Any) -> int:
        """Read bytes into a buffer."""
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise BadInput(f"standard input: cannot be read: {error.strerror}; name another file") from None


class _Output(io.FileIO):
    """Standard output. A failed write raises BadInput, or BrokenPipeError if a pipe's reader has closed the pipe."""

    def write(self, data: Any) -> int:
        """Write bytes. After an error, discard the remaining output."""
        if not data:  # click writes zero bytes to test whether a stream is binary, and ignores an error
            return 0
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            _discard(_OUTPUT)
            raise BadInput(f"standard output: cannot be written: {error.strerror}; name another file") from None


class _Error(io.FileIO):
    """Standard error. Discards messages that cannot be written."""

    def write(self, data: Any) -> int:
        """Write bytes. After an error, discard this and all further messages."""
        try:
            return super().write(data)
        except OSError:
            _discard(_ERROR)
            return super().write(data)


@contextmanager
def usable_standard_streams() -> Iterator[None]:
    """Replace the standard streams of `sys` by streams that handle errors. Closed streams become the null device.

    A stream that is not on a standard descriptor, such as a StringIO, stays unchanged.
    """
    for descriptor, flags in _IN_PLACE_OF_CLOSED.items():
        if not _is_open(descriptor):
            _open(os.devnull, flags, descriptor)
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = _reading(sys.stdin)
    sys.stdout = _writing(sys.stdout, _Output, _OUTPUT)
    sys.stderr = _writing(sys.stderr, _Error, _ERROR)
    try:
        yield
    finally:
        sys.stderr.flush()
        sys.stdin, sys.stdout, sys.stderr = before


def _reading(stream: TextIO | None) -> TextIO:
    """Return a text stream that reads through an _Input, with the encoding of `stream`.

    Returns `stream` itself if `stream` does not read from descriptor 0.
    """
    raw = io.BufferedReader(_Input(_INPUT, "r", closefd=False))
    if stream is None:
        return io.TextIOWrapper(raw, encoding="utf-8")
    if not isinstance(stream, io.TextIOWrapper) or not _is_of(stream, _INPUT):
        return stream
    return io.TextIOWrapper(raw, encoding=stream.encoding, errors=stream.errors)


def _writing(stream: TextIO | None, kind: type[io.FileIO], descriptor: int) -> TextIO:
    """Return a text stream that writes through a `kind` (_Output or _Error), encoded and buffered like `stream`.

    Returns `stream` itself if `stream` does not write to `descriptor`.
    """
    raw = kind(descriptor, "w", closefd=False)
    if stream is None:
        return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8")
    if not isinstance(stream, io.TextIOWrapper) or not _is_of(stream, descriptor):
        return stream
    stream.flush()
    return io.TextIOWrapper(
        raw if isinstance(stream.buffer, io.FileIO) else io.BufferedWriter(raw),  # python -u has no buffer
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _is_of(stream: TextIO, descriptor: int) -> bool:
    try:
        return stream.fileno() == descriptor
    except OSError:
        return False


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _open(path: str, flags: int, descriptor: int) -> None:
    """Open a file under the number `descriptor`. A file that is open under this number gets closed."""
    opened = os.open(path, flags)
    if opened != descriptor:
        os.dup2(opened, descriptor)
        os.close(opened)
    os.set_inheritable(descriptor, True)


def _discard(descriptor: int) -> None:
    _open(os.devnull, os.O_WRONLY, descriptor)
