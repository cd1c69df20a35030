"""Delete events from a schedule as long as the rest still fails, by delta debugging (Zeller and Hildebrandt, 2002)."""

from collections.abc import Callable


def delta_debugged(failing: bytes, breaking: Callable[[bytes], bytes | None]) -> bytes:
    """Return a schedule that still fails, after deleting sequences of events from `failing`, long sequences first.

    `breaking` returns the part of a schedule that is needed for the failure, or None if the schedule does not fail. The
    function tries sequences at the end of the schedule before sequences at its start.
    """
    size = len(failing)
    while size > 1:
        size = (size + 1) // 2
        start = len(failing) - size
        while start >= 0:
            failing = breaking(failing[:start] + failing[start + size :]) or failing
            start = min(start, len(failing)) - size
    return failing
