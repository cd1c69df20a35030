"""Decide when a long run prints a line about its progress, if its output is not a terminal."""

_FIRST = 10.0  # seconds until the first line
_RARER = 1.5  # the next line is due when the run has taken this many times as long


class ProgressLines:
    """The lines of one run. The intervals between them grow, so that the log of a long run stays short."""

    def __init__(self) -> None:
        self._next = _FIRST

    def is_due(self, seconds: float) -> bool:
        """Return whether a line is due after `seconds` of the run. A line that is due counts as printed."""
        is_due = seconds >= self._next
        if is_due:
            self._next = seconds * _RARER
        return is_due
