"""Deadline: what ends when its time is up, or when somebody has pressed Ctrl-C, wherever it is."""

import time
from collections.abc import Callable
from math import inf

from epochfuzz.harness.engine.explore.explore import SearchProgress
from epochfuzz.harness.engine.runtime.interruption import Interruption


class TimeUp(Exception):
    """The time is up."""


class Deadline:
    """The end of what may take so many seconds, or for None no end; an interruption is an end too."""

    def __init__(self, seconds: float | None, interruption: Interruption | None = None) -> None:
        self.seconds = inf if seconds is None else seconds
        self.depth = 0  # how far the last search that was watched had come
        self._interruption = interruption
        self._started = time.monotonic()

    @property
    def remaining(self) -> float:
        """How many seconds there are left."""
        if self._interruption is not None and self._interruption.happened:
            return 0.0
        return max(0.0, self.seconds - (time.monotonic() - self._started))

    @property
    def is_past(self) -> bool:
        """Whether the time is up."""
        return self.remaining == 0.0

    def within(self, seconds: float) -> "Deadline":
        """So many seconds from now, but no more than there are left."""
        return Deadline(min(seconds, self.remaining), self._interruption)

    def watching(self, report: Callable[[SearchProgress], None]) -> Callable[[SearchProgress], None]:
        """Return a report of a search that raises TimeUp once the time is."""

        def watched(progress: SearchProgress) -> None:
            report(progress)
            self.depth = progress.depth
            if self.is_past:
                raise TimeUp

        return watched
