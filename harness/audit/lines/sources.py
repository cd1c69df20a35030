"""Sources: the files that hold logs, and what of them can be read at all.

A URL, such as s3://bucket/logs, is read by pyarrow, which comes with the extra `spark`.
"""

import gzip
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from epochfuzz.harness.audit.errors import AuditError
from epochfuzz.harness.extras import require

_SNIFFED = 8192  # bytes
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Source:
    """A file. `problem` says why it is not read, if it is not; one that is packed can only be read from its start."""

    path: str
    size: int
    changed: int  # in nanoseconds
    packed: bool = False
    problem: str | None = None


def found(paths: Iterable[str], disks: Sequence[str] = ()) -> list[Source]:
    """Return the files of paths, in order: files themselves, and all of directories, but for those of data directories.
    Raises AuditError.
    """
    files = list(dict.fromkeys(file for path in paths for file in _files(path) if not _is_below(file, disks)))
    if not files and not disks:
        raise AuditError("there is no file to read: name broker logs, or directories that hold them")
    return [_source(file) for file in files]


def _is_below(file: str, directories: Sequence[str]) -> bool:
    return any(file == each or file.startswith(f"{each.rstrip('/')}/") for each in directories)


def opened(path: str, packed: bool) -> IO[bytes]:
    """Return a file's bytes, unpacked if it is gzip, whatever it is called."""
    content = _opened(path)
    return gzip.GzipFile(fileobj=content) if packed else content  # type: ignore[return-value]


def _opened(path: str) -> IO[bytes]:
    if not is_url(path):
        return open(path, "rb")
    files, inner = _file_system(path)
    content: IO[bytes] = files.open_input_file(inner)
    return content


def is_url(path: str) -> bool:
    """Whether a path is one of another machine's, or spelled so."""
    return "://" in path


def _file_system(url: str) -> tuple[Any, str]:
    require("spark")
    from pyarrow import ArrowException
    from pyarrow.fs import FileSystem

    try:
        files, inner = FileSystem.from_uri(re.sub("^s3a://", "s3://", url))
    except (ArrowException, OSError) as error:
        raise AuditError(f"{url}: {error}") from None
    return files, inner


def brokers_by_name(sources: Sequence[Source], pattern: str | None) -> dict[str, int]:
    """Which broker each file is of, by a pattern of its path. Raises AuditError."""
    if pattern is None:
        return {}
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise AuditError(f"--broker: {pattern!r} is no regular expression: {error}") from None
    named = {}
    for source in sources:
        match = expression.search(source.path)
        text = None if match is None else match[expression.groups and 1]
        if text is not None and text.isdecimal():
            named[source.path] = int(text)
    if not named:
        raise AuditError(
            f"--broker: {pattern!r} finds a broker's number in the path of no file; the first one is"
            f" {sources[0].path}: try 'broker-([0-9]+)', with what your directories are called"
        )
    return named


def _files(path: str) -> Iterator[str]:
    if is_url(path):
        yield from _files_of_url(path)
    elif Path(path).is_dir():
        inside = (file for file in Path(path).rglob("*") if not file.name.startswith(".") and file.is_file())
        yield from (str(file) for file in sorted(inside))
    elif Path(path).exists():
        yield path
    else:
        raise AuditError(f"{path}: there is no such file or directory")


def _files_of_url(url: str) -> Iterator[str]:
    from pyarrow.fs import FileSelector, FileType

    files, inner = _file_system(url)
    at = files.get_file_info(inner)
    if at.type == FileType.NotFound:
        raise AuditError(f"{url}: there is no such file or directory")
    if at.type == FileType.File:
        yield url
        return
    for each in sorted(files.get_file_info(FileSelector(inner, recursive=True)), key=lambda each: str(each.path)):
        if each.type == FileType.File and not each.base_name.startswith("."):
            yield url.rstrip("/") + each.path.removeprefix(inner.rstrip("/"))


def _source(file: str) -> Source:
    size = changed = 0
    try:
        size, changed = _size_and_time(file)
        with _opened(file) as content:
            packed = content.read(len(_GZIP)) == _GZIP
        with opened(file, packed) as content:
            is_text = b"\0" not in content.read(_SNIFFED)
    except (OSError, EOFError, zlib.error) as error:
        return Source(file, size, changed, False, f"cannot be read: {getattr(error, 'strerror', None) or error}")
    problem = None if is_text else "is not text in UTF-8: a segment, or packed otherwise than by gzip"
    return Source(file, size, changed, packed, problem)


def _size_and_time(file: str) -> tuple[int, int]:
    if is_url(file):
        files, inner = _file_system(file)
        info = files.get_file_info(inner)
        return info.size, info.mtime_ns or 0
    stat = os.stat(file)
    return stat.st_size, stat.st_mtime_ns
