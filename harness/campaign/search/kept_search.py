"""Keep the progress of a search in memory (engine/explore/explore.py) in a file, so that a later process resumes it.

The first line of the file is a checksum of the rest. A header in JSON and the arrays of the search follow. A write
replaces the whole file in one step. It happens between two waves of states, and less often if it takes long.
"""

import json
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from typing import IO

import numpy as np

from epochfuzz.harness.campaign.store.location import TEMPORARY
from epochfuzz.harness.engine.explore.explore import Resumable
from epochfuzz.harness.engine.explore.shards import Array
from epochfuzz.harness.environment.version import model_digest
from epochfuzz.harness.findings.search_request import SearchRequest, command_to_resume
from epochfuzz.harness.jobs.unfinished import ProgressError

NAME = "search.npy"
UNFINISHED = f".{NAME}"  # the next write replaces a file that a killed process left

_LEFT = {UNFINISHED, TEMPORARY}  # names that a killed process can leave
_PAUSE = 2.0  # seconds between two writes, at least
_TIMES = 20  # the pause takes at least this many times as long as the write before
_PIECE = 1 << 24  # bytes

_CHECKSUM = "{:08x}\n"  # the first line


class KeptSearch:
    """The file in a directory with the progress of a search. `asked` is the request of the search."""

    def __init__(self, directory: Path, asked: SearchRequest, seconds: float = 0.0) -> None:
        self.asked = asked
        self.path = directory / NAME
        self._before = seconds  # the time of earlier processes
        self._began = self._next = time.monotonic()  # `_next` is the time of the next write

    @staticmethod
    def start(directory: Path, asked: SearchRequest) -> "KeptSearch":
        """Return the file for a new search. Raises ProgressError if the directory is not empty."""
        with _as_progress_error(directory):
            present = {path.name for path in directory.iterdir()} if directory.exists() else set()
        if is_in(directory):
            resume = command_to_resume(str(directory))
            raise ProgressError(
                f"{directory} already holds a search; resume with `{resume}`, or choose another directory"
            )
        if present - _LEFT:
            raise ProgressError(f"{directory} is not empty; name a new or empty directory")
        return KeptSearch(directory, asked)

    @staticmethod
    def load(directory: Path) -> "KeptSearch":
        """Return the file of the search in a directory.

        Raises ProgressError if the file is damaged, or if the model's rules have changed since the search began.
        """
        with _opened(directory / NAME) as file:
            header = json.loads(str(_next(file)))
        if header["model"] != model_digest():
            raise ProgressError(
                f"{directory} was begun with model {header['model']} (epochfuzz {header['version']}), but this is model"
                f" {model_digest()}; resume with that version, or start another search"
            )
        return KeptSearch(directory, SearchRequest.from_text(header["asked"]), header["seconds"])

    @property
    def seconds(self) -> float:
        """The time of the search in seconds, with the time of earlier processes up to their last write."""
        return self._before + time.monotonic() - self._began

    def restore(self, search: Resumable) -> None:
        """Restore the progress in the file, if there is a file. Raises ProgressError and MemoryEnded."""
        self._began = time.monotonic()
        if self.path.exists():
            with _opened(self.path) as file:
                _next(file)  # the header
                search.restore(map(_next, repeat(file)))

    def keep(self, search: Resumable, *, now: bool = False) -> None:
        """Write the progress to the file, if a write is due, or with `now` in any case. Raises ProgressError."""
        started = time.monotonic()
        if now or started >= self._next:
            with _as_progress_error(self.path):
                self._write(search)
            ended = time.monotonic()
            self._next = ended + max(_PAUSE, _TIMES * (ended - started))

    def _write(self, search: Resumable) -> None:
        asked = self.asked
        header = {"model": asked.model, "version": asked.version, "asked": asked.text(), "seconds": self.seconds}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_name(UNFINISHED)
        try:
            with unfinished.open("wb") as file:
                file.write(_CHECKSUM.format(0).encode())
                summed = _Summed(file)
                np.save(summed, np.array(json.dumps(header)))
                for piece in search.pieces():
                    np.save(summed, piece)
                file.seek(0)
                file.write(_CHECKSUM.format(summed.checksum).encode())
            unfinished.replace(self.path)
        finally:
            unfinished.unlink(missing_ok=True)


class _Summed:
    """Writes bytes to a file, and adds them to `checksum`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.checksum = 0

    def write(self, data: bytes) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        return self._file.write(data)


def is_in(directory: Path) -> bool:
    """Return whether a directory holds the progress of a search in memory."""
    return (directory / NAME).exists()


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for `_next`, after a comparison with its checksum. Raises ProgressError."""
    with _as_progress_error(path), path.open("rb") as file:
        expected, checksum = file.readline(len(_CHECKSUM.format(0))), 0
        first = file.tell()
        while piece := file.read(_PIECE):
            checksum = zlib.crc32(piece, checksum)
        if expected != _CHECKSUM.format(checksum).encode():
            raise ProgressError(f"{path} is damaged; delete it, and start the search again")
        file.seek(first)
        yield file


def _next(file: IO[bytes]) -> Array:
    """Return the next array in a file."""
    array: Array = np.load(file, allow_pickle=False)
    return array


@contextmanager
def _as_progress_error(path: Path) -> Iterator[None]:
    """Turn an OSError into a ProgressError. An OSError of NumPy has no `strerror`."""
    try:
        yield
    except OSError as error:
        raise ProgressError(f"{path}: {error.strerror or error}") from None
