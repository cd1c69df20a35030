"""Delta debugging: leave out of a schedule what it fails without (Zeller and Hildebrandt, 2002)."""

from collections.abc import Callable


def delta_debugged(failing: bytes, breaking: Callable[[bytes], bytes | None]) -> bytes:
    """Return a schedule without runs of events that it fails without.

    `breaking` gives what of a schedule is needed to fail as wanted, None where it does not. Runs of half of it are
    tried first, single events last, those at the end before those at the start.
    """
    size = len(failing)
    while size > 1:
        size = (size + 1) // 2
        start = len(failing) - size
        while start >= 0:
            failing = breaking(failing[:start] + failing[start + size :]) or failing
            start = min(start, len(failing)) - size
    return failing
