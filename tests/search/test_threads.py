"""Threads of a search: every task is run once, what goes wrong in one is heard of, and an interruption ends them."""

import time

import pytest

from epochfuzz.harness.engine.runtime.threads import Threads


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_every_task_is_run_once_on_a_thread_that_there_is(jobs: int) -> None:
    ran: list[int] = []
    used: set[int] = set()

    def work(task: int, thread: int) -> None:
        ran.append(task)
        used.add(thread)

    with Threads(jobs) as threads:
        threads.run(20, work)
    assert sorted(ran) == list(range(20))
    assert used <= set(range(jobs))


def test_what_goes_wrong_on_a_thread_is_raised() -> None:
    def work(task: int, thread: int) -> None:
        raise ValueError(task)

    with pytest.raises(ValueError), Threads(2) as threads:  # noqa: PT011 - any task may be the first
        threads.run(2, work)


def test_an_interrupted_search_does_not_run_the_tasks_that_are_left() -> None:
    ran: list[int] = []

    def work(task: int, thread: int) -> None:
        ran.append(task)
        time.sleep(0.01)
        if task == 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Threads(2) as threads:
        threads.run(1000, work)
    assert len(ran) < 900
