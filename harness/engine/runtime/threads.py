"""Run the tasks of a search on several cores. Compiled kernels release the GIL, so threads run in parallel."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from types import TracebackType


def cores() -> int:
    """Return the number of cores of this machine."""
    return os.cpu_count() or 1


class Threads:
    """Runs numbered tasks on up to `jobs` threads. Use it as a context manager; its exit ends the threads.

    The threads start at the first `run` with more than one task.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._ended = False
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> "Threads":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._ended = True  # an interrupted search does not wait for its remaining tasks
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, tasks: int, work: Callable[[int, int], None]) -> None:
        """Call `work(task, thread)` for each task from 0 to `tasks - 1`, and wait until all calls have returned.

        A thread runs one task at a time. `thread` is the number of the thread, from 0.
        """
        if self.jobs == 1 or tasks == 1:
            for task in range(tasks):
                work(task, 0)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.jobs)
        numbers = count()

        def take(thread: int) -> None:
            while not self._ended and (task := next(numbers)) < tasks:
                work(task, thread)

        for done in [self._pool.submit(take, thread) for thread in range(min(self.jobs, tasks))]:
            done.result()
