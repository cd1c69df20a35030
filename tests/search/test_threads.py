"""Threads of a search: each task runs once, exceptions are raised, and an interruption stops the other tasks."""

import time

import pytest

from epochfuzz.harness.engine.runtime.threads import Threads


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_every_task_runs_once_on_an_existing_thread(jobs: int) -> None:
    ran: list[int] = []
    used: set[int] = set()

    def work(task: int, thread: int) -> None:
        ran.append(task)
        used.add(thread)

    with Threads(jobs) as threads:
        threads.run(20, work)
    assert sorted(ran) == list(range(20))
    assert used <= set(range(jobs))


def test_an_exception_on_a_thread_is_raised() -> None:
    def work(task: int, thread: int) -> None:
        raise ValueError(task)

    with pytest.raises(ValueError), Threads(2) as threads:  # noqa: PT011 - any task may be the first
        threads.run(2, work)


def test_an_interrupted_search_does_not_run_the_remaining_tasks() -> None:
    ran: list[int] = []

    def work(task: int, thread: int) -> None:
        ran.append(task)
        time.sleep(0.01)
        if task == 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Threads(2) as threads:
        threads.run(1000, work)
    assert len(ran) < 900
