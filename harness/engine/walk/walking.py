"""Run random schedules on several threads, for a given number of schedules or of seconds."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numba

from epochfuzz.harness.engine.runtime.interruption import Interruption
from epochfuzz.harness.engine.walk.walk import Tally, Walker

# Schedules in a block. A block takes 40 ms, and merging its tally takes much less. Without Numba, 10 take 250 ms.
BLOCK = 10 if numba.config.DISABLE_JIT else 5_000  # type: ignore[attr-defined]

Report = Callable[[Tally, float], None]


@dataclass(frozen=True)
class Walked:
    """The result of a random run: its Tally, its duration without compilation, and whether Ctrl-C ended it."""

    tally: Tally
    seconds: float
    interrupted: bool = False


def walk(
    walker: Walker[Any, Any],
    schedules: int | None,
    seconds: float | None,
    jobs: int,
    report: Report = lambda tally, elapsed: None,
    before: Walked | None = None,
) -> Walked:
    """Run `schedules` schedules, or as many as fit into `seconds`, on `jobs` threads.

    The limit that is reached first ends the run. With None for both, only Ctrl-C ends the run. The result covers
    schedules 0 to n - 1 for some n. For a given n, the number of threads does not change the result. After each block,
    `report` receives the result so far and the elapsed seconds. `before` is the result of an earlier part of the run,
    and the run continues after that part.
    """
    walker.walk(0, 1)  # compile before the clock starts
    before = before or Walked(Tally.empty(walker.model, len(walker.protocols)), 0.0)
    tally, started = before.tally, time.monotonic() - before.seconds
    with Interruption() as interruption, ThreadPoolExecutor(jobs) as pool:
        running: deque[Future[Tally]] = deque()
        for first, count in _blocks(tally.schedules, schedules, seconds, started):
            if interruption.happened:
                break
            running.append(pool.submit(walker.walk, first, count))
            if len(running) >= 2 * jobs:
                # The oldest first, so that the tally always covers schedules without a gap and a run can resume.
                tally.add(running.popleft().result())
                report(tally, time.monotonic() - started)
        while running:
            tally.add(running.popleft().result())
            report(tally, time.monotonic() - started)
    return Walked(tally, time.monotonic() - started, interruption.happened)


def _blocks(first: int, schedules: int | None, seconds: float | None, started: float) -> Iterator[tuple[int, int]]:
    while (schedules is None or first < schedules) and (seconds is None or time.monotonic() - started < seconds):
        count = BLOCK if schedules is None else min(BLOCK, schedules - first)
        yield first, count
        first += count
