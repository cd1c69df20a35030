"""Run a function in several processes of this machine, and yield the results in the order of the arguments."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

Argument = TypeVar("Argument")
Result = TypeVar("Result")

_OF_THE_TERMINAL = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_PARTING_PATIENCE = 3.0  # seconds to wait for a process; ending an adapter may take one second


class ProcessPool:
    """A pool of `jobs` processes. They start at the first call, and end with the `with` statement or this process.

    `interrupted` means that Ctrl-C has ended a call of `in_order`, whose last results may lack earlier ones.
    """

    def __init__(self, jobs: int) -> None:
        self.interrupted = False
        self._jobs = jobs
        self._others = set(multiprocessing.active_children())
        with _signals_of_terminal_blocked():
            self._pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _leave_on_sigterm)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        for worker in set(multiprocessing.active_children()) - self._others:
            worker.terminate()
        self._pool.shutdown()

    def in_order(self, function: Callable[[Argument], Result], arguments: Iterable[Argument]) -> Generator[Result]:
        """Yield the result of a function for each argument, in the order of the arguments.

        The function runs in the processes. After Ctrl-C, the generator yields the results that have already finished,
        and raises KeyboardInterrupt.
        """
        running: deque[Future[Result]] = deque()
        try:
            for argument in arguments:
                with _signals_of_terminal_blocked():
                    running.append(self._pool.submit(_call, function, argument))
                if len(running) >= 2 * self._jobs:
                    yield _of_first(running)
            while running:
                yield _of_first(running)
        except KeyboardInterrupt as interruption:
            self.interrupted = True
            try:
                yield from (each.result() for each in running if each.done() and each.exception() is None)
            finally:
                raise interruption  # even if the caller closes the generator


def _of_first(running: "deque[Future[Result]]") -> Result:
    """Wait until the first call in the queue has finished, remove the call from the queue, and return its result."""
    result = running[0].result()
    running.popleft()
    return result


def _call(function: Callable[[Any], Any], argument: Any) -> Any:
    """Call a function in a process of the pool. SIGTERM ends the process.

    Without `os._exit`, the executor would take the SystemExit of `_leave` for the result of the call, and start the
    next call.
    """
    try:
        return function(argument)
    except SystemExit as leaving:
        os._exit(int(leaving.code or 0))


@contextmanager
def _signals_of_terminal_blocked() -> Iterator[None]:
    """Block the signals of the terminal, such as SIGINT, during the `with` block, also in processes started there.

    The signals would otherwise end multiprocessing's resource tracker, and workers that don't ignore signals yet.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_THE_TERMINAL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _leave_on_sigterm() -> None:
    """Prepare a process of the pool: SIGTERM ends it, and signals of the terminal are ignored."""
    for of_the_terminal in _OF_THE_TERMINAL:
        signal.signal(of_the_terminal, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _OF_THE_TERMINAL)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second SIGTERM would interrupt the shutdown of the adapter
    # Python prints a traceback if the SystemExit meets a callback of the garbage collector.
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    sys.exit(128 + number)


def _leave_with_parent() -> None:
    """Exit once the parent process has ended. Without a parent, a process of the pool would wait forever for work."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PARTING_PATIENCE)
    os._exit(1)
