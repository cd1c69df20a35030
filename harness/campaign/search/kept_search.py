"""Keep the progress of a search in memory (engine/explore/explore.py) in a file, so that a later process resumes it.

The file has a header as JSON text, the arrays of the search, and a checksum. A write replaces the whole file in one
step. It happens between two waves of states, and less often if it takes long.
"""

import json
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
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
        path = directory / NAME
        with _as_progress_error(path), path.open("rb") as file:
            header = json.loads(str(np.load(file, allow_pickle=False)))
            asked = SearchRequest.from_text(header["asked"])
        if asked.model != model_digest():
            raise ProgressError(
                f"{directory} was begun with model {asked.model} (epochfuzz {asked.version}), but this is model"
                f" {model_digest()}; resume with that version, or start another search"
            )
        return KeptSearch(directory, asked, header["seconds"])

    @property
    def seconds(self) -> float:
        """The time of the search in seconds, with the time of earlier processes up to their last write."""
        return self._before + time.monotonic() - self._began

    def restore(self, search: Resumable) -> None:
        """Restore the progress in the file, if there is a file. Raises ProgressError and MemoryEnded."""
        self._began = time.monotonic()
        if self.path.exists():
            with _as_progress_error(self.path), self.path.open("rb") as file:
                reading = _Reading(file)
                next(reading)  # the header
                search.restore(reading)
                if reading.checksum != int(np.load(file, allow_pickle=False)):
                    raise ValueError("its checksum is wrong")

    def keep(self, search: Resumable) -> None:
        """Write the progress to the file, if a write is due. Raises ProgressError."""
        started = time.monotonic()
        if started >= self._next:
            with _as_progress_error(self.path):
                self._write(search)
            ended = time.monotonic()
            self._next = ended + max(_PAUSE, _TIMES * (ended - started))

    def _write(self, search: Resumable) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_name(UNFINISHED)
        header = json.dumps({"asked": self.asked.text(), "seconds": self.seconds})
        try:
            with unfinished.open("wb") as file:
                checksum = 0
                for array in chain([np.array(header)], search.pieces()):
                    np.save(file, array, allow_pickle=False)
                    checksum = zlib.crc32(array.tobytes(), checksum)
                np.save(file, np.array(checksum))
            unfinished.replace(self.path)
        finally:
            unfinished.unlink(missing_ok=True)


class _Reading(Iterator[Array]):
    """Reads the arrays of a file one by one. `checksum` is the checksum of the arrays so far."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.checksum = 0

    def __next__(self) -> Array:
        array: Array = np.load(self._file, allow_pickle=False)
        self.checksum = zlib.crc32(array.tobytes(), self.checksum)
        return array


def is_in(directory: Path) -> bool:
    """Return whether a directory holds the progress of a search in memory."""
    return (directory / NAME).exists()


@contextmanager
def _as_progress_error(path: Path) -> Iterator[None]:
    """Turn an OSError and errors about the contents of the file into a ProgressError."""
    try:
        yield
    except OSError as error:
        raise ProgressError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, EOFError) as error:
        raise ProgressError(f"{path} is damaged ({error}); delete it, and start the search again") from None
