"""Unpacking: yield the text files that a packed file contains. Packings may be nested, such as a .gz file in a .tar.

If a file is damaged, audit still reads the text before the damage, because only the next read raises the error. If a
file unpacks to more than _RATIO times its size, audit treats it as a zip bomb, and does not read the rest.
"""

import bz2
import codecs
import io
import lzma
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, Protocol

from epochfuzz.harness.audit.errors import AuditError, reason
from epochfuzz.harness.audit.unpacking.forms import BEGINNINGS, SNIFFED, TEXT, WIDE, form_of
from epochfuzz.harness.text.printable import printable

_BUFFER = 1 << 16
_DEEPEST = 5  # greatest depth of nested packings
_MEMBERS = 100_000
_RATIO = 300
_HARMLESS = 1 << 29  # every file may unpack to this number of bytes
_PIECE = 1 << 14  # number of packed bytes that are read at a time
_SPOOLED = 1 << 26  # a zip archive inside an archive is kept in memory up to this number of bytes

_WINDOW, _ZEROS = 256, 5  # of 256 bytes of UTF-16, at least one in five is zero, because Kafka writes ASCII
UNPACKING_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, ValueError)


class Damaged(OSError):
    """A packed file that cannot be unpacked to its end. The text before the damage was read."""


@dataclass(frozen=True)
class Member:
    """A text file from an archive, or the unpacked file itself. If `content` is None, `problem` says why."""

    name: str
    content: IO[bytes] | None
    problem: str | None = None


class UnpackedBytes:
    """A budget: the number of bytes and of files that a packed file may still unpack to."""

    def __init__(self, packed: int) -> None:
        self._left = max(_HARMLESS, packed * _RATIO)
        self._files = _MEMBERS

    def take(self, size: int) -> None:
        """Reduce the budget by a number of unpacked bytes. Raises Damaged if the budget is exceeded."""
        self._left -= size
        if self._left < 0:
            raise Damaged(
                f"it unpacks to more than {_RATIO} times its size, so audit left out the rest; unpack it first"
            )

    def take_file(self) -> None:
        """Reduce the budget by one file of an archive. Raises Damaged if the budget is exceeded."""
        self._files -= 1
        if self._files < 0:
            raise Damaged(f"it has more than {_MEMBERS:,} files, so audit left out the rest; unpack it first")


def members(name: str, content: IO[bytes], budget: UnpackedBytes, depth: int = _DEEPEST) -> Iterator[Member]:
    """Yield the text files in a packed file, or `content` if it is text. Read each file before you request the next.

    A file that can't be read has a `problem`. `depth` is the number of nested packings that are still allowed.
    """
    stream = buffered(content)
    try:
        head = stream.peek(SNIFFED)[:SNIFFED]
        form, problem = form_of(head, name)
        if problem is not None:
            yield Member(name, None, problem)
        elif form == TEXT:
            yield Member(name, stream)
        elif form in WIDE:
            yield Member(name, io.BufferedReader(_Narrowed(stream, form), _BUFFER))
        elif depth == 0:
            yield Member(name, None, f"is packed more than {_DEEPEST} times; unpack it first")
        elif form == "tar":
            yield from _of_tar(name, stream, budget, depth - 1)
        elif form == "zip":
            yield from _of_zip(name, stream, budget, depth - 1)
        else:
            unpacked = io.BufferedReader(_Unpacked(stream, form, budget), _BUFFER)
            yield from members(name, unpacked, budget, depth - 1)
    except AuditError as error:
        yield Member(name, None, str(error))
    except UNPACKING_ERRORS as error:
        yield Member(name, None, f"could not be read to its end: {reason(error)}")


def buffered(content: IO[bytes]) -> io.BufferedReader:
    """Return a file object with a buffer, so that the caller can look ahead with `peek`."""
    return content if isinstance(content, io.BufferedReader) else io.BufferedReader(_Raw(content), _BUFFER)


def _of_tar(name: str, stream: IO[bytes], budget: UnpackedBytes, depth: int) -> Iterator[Member]:
    with tarfile.open(fileobj=stream, mode="r|", errors="backslashreplace") as archive:
        for info in archive:
            budget.take_file()
            inside = f"{name}/{shown(info.name)}"
            if info.isdir():
                continue
            if not info.isreg():
                yield Member(inside, None, "is a link or a device, so audit did not read it")
                continue
            content = archive.extractfile(info)
            assert content is not None
            yield from members(inside, io.BufferedReader(_Counted(content, budget), _BUFFER), budget, depth)


def _of_zip(name: str, stream: IO[bytes], budget: UnpackedBytes, depth: int) -> Iterator[Member]:
    with _seekable(stream, budget) as whole, zipfile.ZipFile(whole) as archive:
        for info in archive.infolist():
            budget.take_file()
            inside = f"{name}/{shown(info.filename)}"
            if info.is_dir():
                continue
            if info.flag_bits & 1:
                yield Member(inside, None, "is encrypted; unpack it first")
                continue
            try:
                content = archive.open(info)
            except (*UNPACKING_ERRORS, NotImplementedError, RuntimeError) as error:
                yield Member(inside, None, f"could not be unpacked: {reason(error)}")
                continue
            with content:
                yield from members(inside, io.BufferedReader(_Counted(content, budget), _BUFFER), budget, depth)


def _seekable(stream: IO[bytes], budget: UnpackedBytes) -> IO[bytes]:
    if stream.seekable():
        return stream
    spooled: IO[bytes] = tempfile.SpooledTemporaryFile(_SPOOLED)  # noqa: SIM115
    while piece := stream.read(1 << 20):
        spooled.write(piece)
    spooled.seek(0)
    return spooled


def shown(name: str) -> str:
    """Return a file name as printable text, with control characters and bytes that are not UTF-8 escaped."""
    return printable(name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


class _Stream(io.RawIOBase):
    """A stream whose bytes are computed piece by piece. Readers get all bytes before an error, and then the error."""

    def __init__(self) -> None:
        self._made = b""
        self._error: Exception | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._made:
            if self._error is not None:
                raise self._error
            try:
                self._made = self._piece()
            except UNPACKING_ERRORS as error:
                self._error = error
                continue
            if not self._made and self._error is None:
                return 0
        size = min(len(buffer), len(self._made))
        buffer[:size] = self._made[:size]
        self._made = self._made[size:]
        return size

    def _piece(self) -> bytes:
        """Return the next bytes, or no bytes at the end of the stream. Raises one of UNPACKING_ERRORS.

        If there are bytes before an error, the method returns them first. The stream raises the error after them.
        """
        raise NotImplementedError


class _Raw(_Stream):
    """A raw stream over a file object that only has `read`, such as the file objects of pyarrow and zipfile."""

    def __init__(self, content: IO[bytes]) -> None:
        super().__init__()
        self._content = content

    def seekable(self) -> bool:
        return bool(getattr(self._content, "seekable", lambda: False)())

    def seek(self, offset: int, whence: int = 0) -> int:
        self._made = b""
        return self._content.seek(offset, whence)

    def tell(self) -> int:
        return self._content.tell() - len(self._made)

    def _piece(self) -> bytes:
        return self._content.read(1 << 16)


class _Counted(_Raw):
    """A file in an archive. Its bytes reduce the budget of unpacked bytes."""

    def __init__(self, content: IO[bytes], budget: UnpackedBytes) -> None:
        super().__init__(content)
        self._budget = budget

    def seekable(self) -> bool:
        return False

    def _piece(self) -> bytes:
        piece = super()._piece()
        self._budget.take(len(piece))
        return piece


class _Narrowed(_Stream):
    """A stream of UTF-16 text, converted to UTF-8."""

    def __init__(self, content: IO[bytes], encoding: str) -> None:
        super().__init__()
        self._content = content
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")

    def _piece(self) -> bytes:
        while True:
            piece = self._content.read(1 << 16)
            whole = _wide_part(piece)
            if whole < len(piece):
                self._error = Damaged("another encoding than UTF-16 begins within it")
            made = self._decoder.decode(piece[:whole], final=not piece).encode("utf-8", "replace")
            if made or not piece or self._error is not None:
                return made


def _wide_part(piece: bytes) -> int:
    """Return the number of bytes at the start that are UTF-16. Another program may have appended other bytes."""
    for start in range(0, len(piece) - _WINDOW, _WINDOW):
        if piece.count(0, start, start + _WINDOW) * _ZEROS < _WINDOW:
            return next(i for i in range(start, len(piece), 2) if 0 not in piece[i : i + 2])
    return len(piece)


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


class _Unpacked(_Stream):
    """The unpacked bytes of a compressed file, which may consist of several compressed streams in a row."""

    def __init__(self, content: IO[bytes], form: str, budget: UnpackedBytes) -> None:
        super().__init__()
        self._content, self._form, self._budget = content, form, budget
        self._decompressor: _Decompressor | None = None
        self._packed = b""
        self._count = 0

    def _piece(self) -> bytes:
        while True:
            more = b"" if self._packed else self._content.read(_PIECE)
            self._packed += more
            if not self._packed and self._decompressor is None:
                return b""
            if self._decompressor is None and not self._begins():
                return b""
            made = self._decompressed()
            if made:
                self._budget.take(len(made))
                return made
            if not self._packed and not more and self._decompressor is not None:
                more = self._content.read(_PIECE)
                if not more:
                    raise Damaged("its end is missing")
                self._packed = more

    def _begins(self) -> bool:
        """Begin the next packed stream. Returns False at the end of the file, or if only zeros follow."""
        while len(self._packed) < 6 and (more := self._content.read(_PIECE)):
            self._packed += more
        if self._count and not self._packed.startswith(BEGINNINGS[self._form]):
            while not self._packed.strip(b"\0"):
                self._packed = self._content.read(1 << 16)
                if not self._packed:
                    return False
            raise Damaged("other bytes follow its end")
        self._decompressor = _DECOMPRESSORS[self._form]()
        self._count += 1
        return True

    def _decompressed(self) -> bytes:
        assert self._decompressor is not None
        packed, self._packed = self._packed, b""
        made = self._decompressor.decompress(packed)
        if self._decompressor.eof:
            self._packed = self._decompressor.unused_data
            self._decompressor = None
        return made


class _Gunzip:
    """A decompressor for one gzip stream. Unlike Python's gzip, it returns the text before an error."""

    def __init__(self) -> None:
        self.eof = False
        self.unused_data = b""
        self._has_header = False
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        self._crc = self._size = 0
        self._waiting = b""  # an incomplete header or checksum
        self._error: Exception | None = None

    def decompress(self, data: bytes, /) -> bytes:
        if self._error is not None:
            raise self._error
        data, self._waiting = self._waiting + data, b""
        if not self._has_header:
            length = _gzip_header(data)
            if length is None:
                self._waiting = data
                return b""
            data, self._has_header = data[length:], True
        made = b""
        if not self._inflate.eof:
            made = self._inflated(data)
            data = self._inflate.unused_data
            self._crc, self._size = zlib.crc32(made, self._crc), self._size + len(made)
        if self._inflate.eof:
            self._waiting = data
            self._check()
        return made

    def _inflated(self, data: bytes) -> bytes:
        before = self._inflate.copy()
        try:
            return self._inflate.decompress(data)
        except zlib.error as error:
            self._error = error
            return _until_damaged(before, data)

    def _check(self) -> None:
        if len(self._waiting) < 8:
            return
        said = int.from_bytes(self._waiting[:4], "little"), int.from_bytes(self._waiting[4:8], "little")
        if said != (self._crc, self._size & 0xFFFFFFFF):
            self._error = Damaged("its checksum is wrong")
            return
        self.eof, self.unused_data = True, self._waiting[8:]


def _until_damaged(inflate: Any, data: bytes) -> bytes:
    """Inflate damaged data byte by byte. Returns the text before the damage."""
    made = []
    try:
        for i in range(len(data)):
            made.append(inflate.decompress(data[i : i + 1]))
    except zlib.error:
        pass
    return b"".join(made)


def _gzip_header(data: bytes) -> int | None:
    """Return the length of a gzip header (RFC 1952), or None if the data ends within the header. Raises Damaged."""
    if len(data) < 10:
        return None
    if data[2] != 8:
        raise Damaged("its compression method is unknown")
    flags, at = data[3], 10
    if flags & 4:
        if len(data) < at + 2:
            return None
        at += 2 + int.from_bytes(data[at : at + 2], "little")
    for flag in (8, 16):
        if flags & flag:
            end = data.find(b"\0", at)
            if end < 0:
                if len(data) > 1 << 16:
                    raise Damaged("its header has no end")
                return None
            at = end + 1
    at += 2 if flags & 2 else 0
    return at if len(data) >= at else None


def _zstd() -> _Decompressor:
    """Return a zstd decompressor from Python 3.14 or later, or else from the package zstandard.

    Raises AuditError if there is neither.
    """
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        try:
            import zstandard
        except ImportError:
            raise AuditError(
                "is packed by zstd, which needs Python 3.14 or the package zstandard; run `pip install zstandard`, or"
                " unpack the file first"
            ) from None
        return _Unzstd(zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError)
    return _Unzstd(zstd.ZstdDecompressor(), zstd.ZstdError)


class _Unzstd:
    """A decompressor for one zstd frame. Raises Damaged in place of the different errors of the two libraries."""

    def __init__(self, decompressor: _Decompressor, error: type[Exception]) -> None:
        self._decompressor, self._error = decompressor, error

    @property
    def eof(self) -> bool:
        return self._decompressor.eof

    @property
    def unused_data(self) -> bytes:
        return self._decompressor.unused_data

    def decompress(self, data: bytes, /) -> bytes:
        try:
            return self._decompressor.decompress(data)
        except self._error as error:
            raise Damaged(str(error)) from None


_DECOMPRESSORS: dict[str, Callable[[], _Decompressor]] = {
    "gzip": _Gunzip,
    "xz": lambda: lzma.LZMADecompressor(),
    "bzip2": lambda: bz2.BZ2Decompressor(),
    "zstd": _zstd,
}
