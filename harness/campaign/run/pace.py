"""Pace: how many blocks go into the next wave, by the clock."""

import time

LONGEST = 30.0  # seconds that a wave is to take at the most: what a killed driver loses;
_SHORTEST = 2.0  # and at the least;
_SHARE = 0.25  # in between, of the time so far: results come soon at first, and a long campaign has few files
TASK = 2.0  # seconds that a task is to take, so that all cores are done at nearly the same time


class Pace:
    """Sizes of waves, from the blocks per second so far. At first, each core walks one block."""

    def __init__(self, cores: int, longest: float = LONGEST, task: float = TASK) -> None:
        self.rate: float | None = None
        self._cores, self._longest, self._task = cores, longest, task
        self._done = 0
        self._started = time.monotonic()

    def done(self, blocks: int) -> None:
        """Note that a wave of so many blocks is done. Waves overlap, so that what one of them took says little."""
        self._done += blocks
        self.rate = self._done / (time.monotonic() - self._started)

    def wave(self, elapsed: float, blocks_remaining: int | None, seconds_remaining: float | None) -> int:
        """How many blocks to walk next, `elapsed` seconds into the campaign; 0 where nothing more is wanted."""
        size = self._cores * self._rounds(elapsed, seconds_remaining)
        return size if blocks_remaining is None else min(size, blocks_remaining)

    def _rounds(self, elapsed: float, seconds_remaining: float | None) -> int:
        """How many blocks each core walks."""
        if self.rate is None:
            return 1
        blocks_a_second = self.rate / self._cores
        seconds = min(max(_SHORTEST, _SHARE * elapsed), self._longest)
        rounds = max(1, round(seconds * blocks_a_second))
        return (
            rounds if seconds_remaining is None else min(rounds, round(max(0.0, seconds_remaining) * blocks_a_second))
        )

    def seconds(self, size: int) -> float:
        """How long so many blocks take; 0 as long as that is not known."""
        return 0.0 if self.rate is None else size / self.rate

    def tasks(self, size: int) -> int:
        """In how many tasks to walk so many blocks."""
        return min(size, self._cores * max(1, round(self.seconds(size) / self._task)))
