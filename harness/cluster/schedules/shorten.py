"""Shrink a schedule by replaying shorter schedules on a cluster."""

from collections.abc import Callable
from typing import NamedTuple

from epochfuzz.harness.documents.cluster_records import Playing
from epochfuzz.strategies.delta_debugging import delta_debugged

_MOST_REPLAYS = 40  # replays to shrink one finding


class Shortened(NamedTuple):
    """The result of shrinking: a schedule, its results on the cluster, and the number of replays."""

    events: bytes
    playing: Playing
    replays: int


def shortened(events: bytes, playing: Playing, play: Callable[[bytes], Playing]) -> Shortened:
    """Shrink a schedule in at most 40 replays. On the cluster, the result of `playing` stays the same."""
    best, replays = playing, 0

    def ends_so(tried: bytes) -> bytes | None:
        nonlocal best, replays
        if replays == _MOST_REPLAYS or not tried:
            return None
        replays += 1
        again = play(tried)
        if again.ended is not playing.ended:
            return None
        best = again
        return tried

    shrunk = delta_debugged(events, ends_so)
    return Shortened(shrunk, best, replays)
