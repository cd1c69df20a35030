"""Deadline: a search that ends when its time is up, wherever it is."""

import time
from collections.abc import Callable

from epochfuzz.harness.search.explore import SearchProgress


class TimeUp(Exception):
    """The time is up."""


class Deadline:
    """So many seconds from now; None stands for no end."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._started = time.monotonic()
        self.depth = 0  # how far the last search that was watched had come

    @property
    def is_past(self) -> bool:
        """Whether the time is up."""
        return self._seconds is not None and time.monotonic() - self._started >= self._seconds

    def watching(self, report: Callable[[SearchProgress], None]) -> Callable[[SearchProgress], None]:
        """A report of a search that raises TimeUp once the time is."""

        def watched(progress: SearchProgress) -> None:
            report(progress)
            self.depth = progress.depth
            if self.is_past:
                raise TimeUp

        return watched
