"""Keep the progress of a local run in a file of its output directory, so that the same command resumes it.

A killed run loses the work of its last few seconds. Each write replaces the whole file, so a reader never sees an
incomplete file. The file is deleted when the run has ended and its results are written.
"""

import hashlib
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from epochfuzz.harness.environment.files import replace_file
from epochfuzz.harness.environment.seeds import random_seed
from epochfuzz.harness.environment.version import model_digest

_PAUSE = 2.0  # seconds between two writes; a killed run loses about this much work
_DIGITS = 12  # hexadecimal digits in the name of a request

Progress = TypeVar("Progress")


class ProgressError(Exception):
    """The progress of a run cannot be saved or read. The message says where and why."""


@dataclass(frozen=True)
class Request:
    """The identity of a run: its kind, and all parameters that its results depend on, except the seed."""

    kind: str
    parameters: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the run's file: its kind, and a digest of its parameters."""
        text = json.dumps(dict(self.parameters), sort_keys=True)
        return f"{self.kind}-{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}"

    def seed_in(self, directory: Path) -> int | None:
        """Return the seed of the latest unfinished run with this request in a directory, or None."""
        with _as_progress_error():
            files = sorted(directory.glob(f"{self.name}-*.json"), key=os.path.getmtime)
        seeds = (file.stem.rpartition("-")[2] for file in reversed(files))
        return next((int(seed) for seed in seeds if seed.isdecimal()), None)

    def seed_for(self, given: int | None, directory: Path | None) -> int:
        """Return `given`. If it is None, return the seed of the unfinished run in a directory, or else a random seed.

        Raises ProgressError.
        """
        if given is None and directory is not None:
            given = self.seed_in(directory)
        return random_seed() if given is None else given


class UnfinishedRun:
    """The file that keeps the progress of one run. `seed` is None if the run has no seed.

    `rules` is a digest that must be equal when the run resumes. The default is the digest of the model's rules.
    """

    def __init__(self, directory: Path, request: Request, seed: int | None = None, rules: str | None = None) -> None:
        name = request.name if seed is None else f"{request.name}-{seed}"
        self.path = directory / f"{name}.json"
        self._rules = rules or model_digest()
        self._written = time.monotonic()

    def load(self, read: Callable[[dict[str, Any]], Progress]) -> Progress | None:
        """Return the saved progress, or None if no run can resume. `read` converts the saved document to the progress.

        No run can resume if the saved run began under other rules, or if its file is damaged. Raises ProgressError.
        """
        if not self.path.exists():
            return None
        try:
            with _as_progress_error():
                document = json.loads(self.path.read_text(encoding="utf-8"))
            return read(document) if document["rules"] == self._rules else None
        except (ValueError, KeyError, TypeError, zlib.error):
            return None

    @property
    def is_due(self) -> bool:
        """True if at least two seconds have passed since the last save."""
        return time.monotonic() - self._written >= _PAUSE

    def save(self, document: Mapping[str, Any]) -> None:
        """Save a document as the progress. Raises ProgressError."""
        with _as_progress_error():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self.path, json.dumps({"rules": self._rules, **document}))
        self._written = time.monotonic()

    def forget(self) -> None:
        """Delete the saved progress, because the run has ended. Raises ProgressError."""
        with _as_progress_error():
            self.path.unlink(missing_ok=True)


@contextmanager
def _as_progress_error() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ProgressError(f"{error.filename}: {error.strerror}") from None
