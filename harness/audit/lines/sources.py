"""Sources: find the files that hold logs. If a file cannot be read, its source holds the reason.

pyarrow, which comes with the extra `spark`, reads URLs such as s3://bucket/logs. Without a network, pyarrow retries for
up to 15 minutes. So audit first tries each URL in another process, and ends this process after _RESPONDS seconds. Audit
copies a pipe to a temporary file first, because a pipe can be read only once.
"""

import os
import re
import select
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from epochfuzz.harness.audit.disks.checkpoints import EPOCHS
from epochfuzz.harness.audit.errors import AuditError, reason
from epochfuzz.harness.audit.unpacking.forms import SNIFFED, TEXT, WIDE, form_of
from epochfuzz.harness.audit.unpacking.unpacking import shown
from epochfuzz.harness.environment.extras import require

_PATIENCE = 10  # seconds to wait until another process opens a pipe for writing
_RESPONDS = 10  # seconds to wait for the first response to a URL
_UNPACKED = 20  # estimated size of an unpacked log, as a multiple of its packed size
_WRITTEN = re.compile(r"(?:server|state-change)\.log[^/]*$")  # every broker writes lines to these files


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file that may hold logs. `path` is its name in messages, and `form` its packing, such as `gzip`.

    `location` is the path or URL to open, or None if it equals `path`. `problem` is the reason why audit can't read the
    file, or None. Audit can start to read in the middle of a file only if the form is TEXT.
    """

    path: str
    size: int
    changed: int  # time of the last change, in nanoseconds
    form: str = TEXT
    problem: str | None = None
    location: str | None = None
    is_named: bool = False  # whether the command line names the file itself, not only its directory

    @property
    def unpacked(self) -> int:
        """Estimate the number of bytes in the file after unpacking."""
        return self.size if self.form == TEXT else self.size // 2 if self.form in WIDE else self.size * _UNPACKED


def found(paths: Iterable[str], disks: Sequence[str] = ()) -> list[Source]:
    """Return the files at the named paths, in the order of the paths. Raises AuditError if a path does not exist.

    A directory stands for all files in it at any depth. Files in the data directories `disks` are left out. If there
    are neither files nor `disks`, the function also raises AuditError.
    """
    sources: dict[str, Source] = {}
    for path in paths:
        for source in _sources(path):
            if not _is_below(source.path, disks):
                sources.setdefault(source.path, source)
    if not sources and not disks:
        raise AuditError("there is no file to read: name broker logs, or directories that hold them")
    return list(sources.values())


def _is_below(file: str, disks: Sequence[str]) -> bool:
    return any(file == each or file.startswith(f"{each.rstrip('/')}/") for each in disks)


def opened(location: str) -> IO[bytes]:
    """Open the file at a path or URL for reading bytes. The caller must close the file."""
    if not is_url(location):
        return open(location, "rb")
    files, inner = _file_system(location)
    content: IO[bytes] = files.open_input_file(inner)
    return content


def is_url(path: str) -> bool:
    """Return whether a path is a URL."""
    return "://" in path


def _file_system(url: str) -> tuple[Any, str]:
    require("spark")
    from pyarrow import ArrowException
    from pyarrow.fs import FileSystem

    try:
        files, inner = FileSystem.from_uri(_with_known_scheme(url))
    except (ArrowException, OSError) as error:
        raise _not_reached(url, str(error)) from None
    return files, inner


_FIRST_RESPONSE = """
import sys
from pyarrow.fs import FileSystem
try:
    files, inner = FileSystem.from_uri(sys.argv[1])
    files.get_file_info(inner)
except Exception as error:
    sys.exit(str(error).partition("\\n")[0])
"""


def _try(url: str) -> None:
    """Raise AuditError unless the store of a URL responds within _RESPONDS seconds."""
    require("spark")
    command = [sys.executable, "-c", _FIRST_RESPONSE, _with_known_scheme(url)]
    try:
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=_RESPONDS
        )
    except subprocess.TimeoutExpired:
        raise _not_reached(url, f"no response within {_RESPONDS} s") from None
    if ended.returncode:
        raise _not_reached(url, ended.stderr.decode(errors="replace").strip().rpartition("\n")[2])


def _with_known_scheme(url: str) -> str:
    return re.sub("^s3a://", "s3://", url)


def _not_reached(url: str, said: str) -> AuditError:
    said = said.partition("\n")[0][:300].rstrip(". ")
    return AuditError(f"{url}: {said}. audit reads file, s3, s3a, gs and hdfs URLs; download logs that are elsewhere")


def expression_of(pattern: str) -> re.Pattern[str]:
    """Compile the regular expression of --broker. Raises AuditError if the expression is invalid."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise AuditError(f"--broker: {pattern!r} is not a regular expression: {error}") from None


def broker_in(text: str, expression: re.Pattern[str]) -> int | None:
    """Return the broker's number that an expression finds in a path or in a line's origin, or None."""
    match = expression.search(text)
    number = None if match is None else match[expression.groups and 1]
    return int(number) if number is not None and re.fullmatch(r"[0-9]{1,10}", number) else None


def _sources(path: str) -> Iterator[Source]:
    if is_url(path):
        yield from (_source(file, is_named=file == path) for file in _files_of_url(path))
        return
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        what = "is a link to nothing" if os.path.islink(path) else "there is no such file or directory"
        raise AuditError(f"{shown(path)}: {what}") from None
    except (OSError, ValueError) as error:
        raise AuditError(f"{shown(path[:300])}: {reason(error)}") from None
    if stat.S_ISDIR(mode):
        yield from _of_directory(path, ())
    elif stat.S_ISFIFO(mode):
        yield _of_pipe(path)
    else:
        yield _source(path, is_named=True)


def _of_directory(path: str, above: tuple[tuple[int, int], ...]) -> Iterator[Source]:
    """Yield the files in a directory at any depth. Follows links, except links to a parent directory."""
    try:
        at = os.stat(path)
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError as error:
        yield _unread(path, f"cannot be read: {reason(error)}")
        return
    own = (at.st_dev, at.st_ino)
    if own in above:  # a link to a directory that contains it
        return
    for entry in entries:
        try:
            is_directory = entry.is_dir()
        except OSError as error:
            yield _unread(entry.path, f"cannot be read: {reason(error)}")
            continue
        if is_directory:
            yield from _of_directory(entry.path, (*above, own))
        else:
            yield _source(entry.path)


def _unread(path: str, problem: str) -> Source:
    return Source(path=shown(path), size=0, changed=0, form="", problem=problem, location=path)


def _files_of_url(url: str) -> Iterator[str]:
    from pyarrow import ArrowException
    from pyarrow.fs import FileSelector, FileType

    _try(url)
    files, inner = _file_system(url)
    try:
        at = files.get_file_info(inner)
        below = files.get_file_info(FileSelector(inner, recursive=True)) if at.type == FileType.Directory else [at]
    except (ArrowException, OSError) as error:  # such as a server that stops after its first response
        raise _not_reached(url, str(error)) from None
    if at.type == FileType.NotFound:
        raise AuditError(f"{url}: there is no such file or directory")
    for each in sorted(below, key=lambda each: str(each.path)):
        if each.base_name == EPOCHS:
            raise AuditError(f"{url} holds a data directory ({each.path}): copy it here, and give its path")
        if each.type == FileType.File:
            yield url.rstrip("/") + each.path.removeprefix(inner.rstrip("/"))


def _source(file: str, is_named: bool = False) -> Source:
    location = file if shown(file) != file else None
    size = changed = 0
    try:
        size, changed = _size_and_time(file)
        with opened(file) as content:
            head = content.read(SNIFFED)
    except FileNotFoundError:
        return Source(
            path=shown(file),
            size=0,
            changed=0,
            form="",
            problem="is a link to nothing",
            location=location,
            is_named=is_named,
        )
    except (OSError, ValueError) as error:
        return Source(
            path=shown(file),
            size=size,
            changed=changed,
            form="",
            problem=f"cannot be read: {reason(error)}",
            location=location,
            is_named=is_named,
        )
    form, problem = form_of(head, file)
    if not head and (is_named or _WRITTEN.search(file)):
        problem = "is empty"
    return Source(
        path=shown(file), size=size, changed=changed, form=form, problem=problem, location=location, is_named=is_named
    )


def _size_and_time(file: str) -> tuple[int, int]:
    """Return the size of a file in bytes, and the time of its last change in nanoseconds.

    Raises OSError for a pipe, a device or a socket.
    """
    if is_url(file):
        files, inner = _file_system(file)
        info = files.get_file_info(inner)
        return info.size, info.mtime_ns or 0
    at = os.stat(file)
    if not stat.S_ISREG(at.st_mode):
        what = "a pipe" if stat.S_ISFIFO(at.st_mode) else "a device or a socket"
        raise OSError(f"it is {what}, and not a file")
    return at.st_size, at.st_mtime_ns


def _of_pipe(path: str) -> Source:
    """Copy a pipe to a temporary file, and return the copy as a source. The copy is deleted when this process ends."""
    copy = tempfile.NamedTemporaryFile(prefix="epochfuzz-audit-")  # noqa: SIM115
    _PIPES.append(copy)
    try:
        for piece in _pieces(path):
            copy.write(piece)
        copy.flush()
    except OSError as error:
        return Source(
            path=shown(path),
            size=0,
            changed=0,
            form="",
            problem=f"cannot be read: {reason(error)}",
            location=None,
            is_named=True,
        )
    return _with_path(_source(copy.name, is_named=True), path)


_PIPES: list[Any] = []  # temporary files, which stay open until this process ends


def _with_path(source: Source, path: str) -> Source:
    return Source(
        path=shown(path),
        size=source.size,
        changed=0,
        form=source.form,
        problem=source.problem,
        location=source.location or source.path,
        is_named=True,
    )


def _pieces(path: str) -> Iterator[bytes]:
    """Yield the bytes of a pipe. Raises OSError if no process opens it for writing within _PATIENCE seconds."""
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    until = time.monotonic() + _PATIENCE
    is_open = False
    try:
        while True:
            try:
                piece = os.read(pipe, 1 << 20)
            except BlockingIOError:  # a writer has opened the pipe, but has not written yet
                is_open = True
                select.select([pipe], [], [])
                continue
            if piece:
                is_open = True
                yield piece
            elif is_open:
                return
            elif time.monotonic() > until:
                raise OSError("it is a pipe that nothing writes to")
            else:
                time.sleep(0.05)
    finally:
        os.close(pipe)
