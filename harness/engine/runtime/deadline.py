"""End work when its time is up, or when the user presses Ctrl-C."""

import time
from collections.abc import Callable
from math import inf

from epochfuzz.harness.engine.explore.explore import SearchProgress
from epochfuzz.harness.engine.runtime.interruption import Interruption


class TimeUp(Exception):
    """The seconds of a Deadline are over, or the user has pressed Ctrl-C."""


class Deadline:
    """A time limit for some work: `seconds`, or None for no limit. Ctrl-C ends the work too.

    `interruption` notes Ctrl-C; None if the deadline ignores it.
    """

    def __init__(self, seconds: float | None, interruption: Interruption | None = None) -> None:
        self.seconds = inf if seconds is None else seconds
        self.depth = 0  # depth that the last watched search reached
        self._interruption = interruption
        self._started = time.monotonic()

    @property
    def remaining(self) -> float:
        """The number of seconds left; 0 after an interruption, and infinity without a limit."""
        if self._interruption is not None and self._interruption.happened:
            return 0.0
        return max(0.0, self.seconds - (time.monotonic() - self._started))

    @property
    def is_past(self) -> bool:
        """True if the time is up, or after an interruption."""
        return self.remaining == 0.0

    def within(self, seconds: float) -> "Deadline":
        """Return a deadline `seconds` from now, but not later than the existing deadline."""
        return Deadline(min(seconds, self.remaining), self._interruption)

    def watching(self, report: Callable[[SearchProgress], None]) -> Callable[[SearchProgress], None]:
        """Return a function that passes the progress of a search to `report`, and raises TimeUp when time is up."""

        def watched(progress: SearchProgress) -> None:
            report(progress)
            self.depth = progress.depth
            if self.is_past:
                raise TimeUp

        return watched
