"""Run blocks of schedules, one after the other, on threads."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numba

from epochfuzz.harness.engine.runtime.interruption import Interruption
from epochfuzz.harness.engine.walk.walk import Tally, Walker

# Schedules in a block. A block takes 40 ms, much longer than the merge of its tally. Without Numba, 10 take 250 ms.
BLOCK = 10 if numba.config.DISABLE_JIT else 5_000  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Walked:
    """The result of a run: its tally, its duration without compilation, and whether Ctrl-C ended it."""

    tally: Tally
    seconds: float
    interrupted: bool = False


def walk(
    walker: Walker[Any, Any],
    schedules: int | None,
    seconds: float | None,
    jobs: int,
    report: Callable[[Tally, float], None] = lambda tally, elapsed: None,
) -> Walked:
    """Run a number of schedules, or run for some seconds, on `jobs` threads. The tally does not depend on the threads.

    Ctrl-C ends the run earlier. The tally then covers the schedules that ran, as if the caller had asked only for them.
    """
    walker.walk(0, 1)  # compile before the clock starts
    tally = Tally.empty(walker.model, len(walker.protocols))
    started = time.monotonic()
    with Interruption() as interruption, ThreadPoolExecutor(jobs) as pool:
        running: set[Future[Tally]] = set()
        for first, count in _blocks(schedules, seconds, started):
            if interruption.happened:
                break
            running.add(pool.submit(walker.walk, first, count))
            if len(running) >= 2 * jobs:
                running = _collect(running, tally)
                report(tally, time.monotonic() - started)
        while running:
            running = _collect(running, tally)
            report(tally, time.monotonic() - started)
    return Walked(tally, time.monotonic() - started, interruption.happened)


def _blocks(schedules: int | None, seconds: float | None, started: float) -> Iterator[tuple[int, int]]:
    first = 0
    while (schedules is None or first < schedules) and (seconds is None or time.monotonic() - started < seconds):
        count = BLOCK if schedules is None else min(BLOCK, schedules - first)
        yield first, count
        first += count


def _collect(running: set[Future[Tally]], tally: Tally) -> set[Future[Tally]]:
    done, still_running = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        tally.add(future.result())
    return still_running
