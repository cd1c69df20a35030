"""Delete events that a schedule does not need to fail, by delta debugging (Zeller and Hildebrandt, 2002)."""

from collections.abc import Callable


def delta_debugged(failing: bytes, breaking: Callable[[bytes], bytes | None]) -> bytes:
    """Shorten a failing schedule: try to delete each run of events, first long runs and then single events.

    `breaking` returns the part of a schedule that is needed for the failure, None if the schedule does not fail. Runs
    at the end are tried before runs at the start.
    """
    size = len(failing)
    while size > 1:
        size = (size + 1) // 2
        start = len(failing) - size
        while start >= 0:
            failing = breaking(failing[:start] + failing[start + size :]) or failing
            start = min(start, len(failing)) - size
    return failing
