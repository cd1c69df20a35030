"""Choose the number of blocks that Spark runs at once (a wave), from the speed so far."""

import time

LONGEST = 30.0  # longest wave in seconds, which bounds the work that a killed driver loses
_SHORTEST = 2.0  # shortest wave in seconds
_SHARE = 0.25  # length of a wave as a share of the time so far, for quick first results and few files later
TASK = 2.0  # target length of a task in seconds; with short tasks, all cores finish at nearly the same time


def wave_seconds(elapsed: float, longest: float) -> float:
    """Return the length of a wave in seconds. `elapsed` is the time so far, and `longest` the limit, in seconds."""
    return min(max(_SHORTEST, _SHARE * elapsed), longest)


class Pace:
    """The sizes of waves.

    Each core runs one block in the first wave. Later sizes follow from the blocks per second so far.
    """

    def __init__(self, cores: int, longest: float = LONGEST, task: float = TASK) -> None:
        self.rate: float | None = None
        self._cores, self._longest, self._task = cores, longest, task
        self._done = 0
        self._started = time.monotonic()

    def done(self, blocks: int) -> None:
        """Record that a wave of `blocks` blocks is done.

        The rate is computed from all waves so far, because waves overlap and the time of a single wave says little.
        """
        self._done += blocks
        self.rate = self._done / (time.monotonic() - self._started)

    def wave(self, elapsed: float, blocks_remaining: int | None, seconds_remaining: float | None) -> int:
        """Return the number of blocks in the next wave; 0 if no wave is needed.

        `elapsed` is the time since the start, in seconds. `blocks_remaining` and `seconds_remaining` are limits; None
        means no limit.
        """
        size = self._cores * self._rounds(elapsed, seconds_remaining)
        return size if blocks_remaining is None else min(size, blocks_remaining)

    def _rounds(self, elapsed: float, seconds_remaining: float | None) -> int:
        """Return the number of blocks for each core in the next wave."""
        if self.rate is None:
            return 1
        blocks_a_second = self.rate / self._cores
        seconds = wave_seconds(elapsed, self._longest)
        rounds = max(1, round(seconds * blocks_a_second))
        return (
            rounds if seconds_remaining is None else min(rounds, round(max(0.0, seconds_remaining) * blocks_a_second))
        )

    def seconds(self, size: int) -> float:
        """Return the estimated seconds for `size` blocks; 0 until the speed is known."""
        return 0.0 if self.rate is None else size / self.rate

    def tasks(self, size: int) -> int:
        """Return the number of Spark tasks for a wave of `size` blocks."""
        return min(size, self._cores * max(1, round(self.seconds(size) / self._task)))
