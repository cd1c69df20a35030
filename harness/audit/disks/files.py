"""Read files of a data directory: only regular files, no links, and text files only up to a fixed size."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from epochfuzz.harness.audit.errors import reason

LARGEST_TEXT = 64 << 20  # bytes of a checkpoint: room for a million partitions


class Unreadable(Exception):
    """A file or directory cannot be read. The message states the reason."""


@dataclass(frozen=True)
class DirectoryEntry:
    """A name in a directory. Links, pipes and devices are neither files nor directories."""

    name: str
    path: str
    is_file: bool
    is_directory: bool


def entries(directory: str) -> list[DirectoryEntry]:
    """Return the entries of a directory, sorted by name. Raises Unreadable."""
    try:
        with os.scandir(directory) as scanned:
            found = [
                DirectoryEntry(
                    each.name, each.path, each.is_file(follow_symlinks=False), each.is_dir(follow_symlinks=False)
                )
                for each in scanned
            ]
    except (OSError, ValueError) as error:
        raise Unreadable(f"cannot be read: {reason(error)}") from None
    return sorted(found, key=lambda entry: entry.name)


def has(directory: str, name: str) -> bool:
    """Return whether a directory contains a regular file with this name."""
    try:
        return stat.S_ISREG(os.lstat(os.path.join(directory, name)).st_mode)
    except (OSError, ValueError):
        return False


@contextmanager
def opened(path: str) -> Iterator[int]:
    """Open a regular file to read, and yield its descriptor. Raises Unreadable, also if a read in the block fails.

    With O_NONBLOCK, the audit does not hang if a pipe has replaced the file since the file was listed.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise Unreadable(f"cannot be read: {reason(error)}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unreadable("is not a regular file")
        yield descriptor
    except OSError as error:
        raise Unreadable(f"cannot be read: {reason(error)}") from None
    finally:
        os.close(descriptor)


def size_of(path: str) -> int:
    """Return the size of a file in bytes, or 0 if the file does not exist."""
    try:
        return os.lstat(path).st_size
    except (OSError, ValueError):
        return 0


def changed(path: str) -> int:
    """Return the time of a file's last change in milliseconds, or 0 if the time is not known."""
    try:
        return max(0, min(os.lstat(path).st_mtime_ns // 1_000_000, 253_402_300_799_000))  # year 9999
    except (OSError, ValueError):
        return 0


def text_of(path: str) -> str:
    """Return the text of a file of up to LARGEST_TEXT bytes. Raises Unreadable."""
    with opened(path) as descriptor:
        if os.fstat(descriptor).st_size > LARGEST_TEXT:
            raise Unreadable(f"is larger than {LARGEST_TEXT >> 20} MiB, more than Kafka writes there")
        data = _whole(descriptor)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Unreadable(f"is not text: byte {error.start} is not UTF-8") from None


def _whole(descriptor: int) -> bytes:
    parts, at = [], 0
    while at < LARGEST_TEXT and (part := os.pread(descriptor, min(1 << 20, LARGEST_TEXT - at), at)):
        parts.append(part)
        at += len(part)
    return b"".join(parts)
