"""Delete events that a schedule does not need to fail, by delta debugging (Zeller and Hildebrandt, 2002)."""

from collections.abc import Callable


def delta_debugged(failing: bytes, breaking: Callable[[bytes], bytes | None]) -> bytes:
    """Return a failing schedule after an attempt to delete each run of events.

    `breaking` returns the part of a schedule that is needed for the wanted failure, None if the schedule does not fail
    in this way. The function first tries to delete runs of half the schedule, and single events last. It tries runs at
    the end before runs at the start.
    """
    size = len(failing)
    while size > 1:
        size = (size + 1) // 2
        start = len(failing) - size
        while start >= 0:
            failing = breaking(failing[:start] + failing[start + size :]) or failing
            start = min(start, len(failing)) - size
    return failing
