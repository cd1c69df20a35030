"""Run the blocks of a conformance run in several processes, and yield the results in the order of the blocks."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing, contextmanager
from types import FrameType

from epochfuzz.harness.conform.run.attempts import MOST_SECONDS, limit_for
from epochfuzz.harness.conform.run.block import Block, BlockResult, FailedTrial, run_block
from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding, conformance_finding
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.engine.runtime.deadline import Deadline
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_OF_THE_TERMINAL = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_PARTING_PATIENCE = 3.0  # seconds to wait for a process; ending an adapter may take one second


class Processes:
    """Runs blocks in `jobs` processes, each with an adapter process. `report` is called with the progress.

    Shrinking takes at most `shrinking` seconds for a protocol (None: no limit). If the adapter is slow, shrinking may
    take longer: as long as the adapter needs for `for_slow` schedules.
    """

    def __init__(
        self,
        jobs: int = 1,
        report: Callable[[str], None] = lambda doing: None,
        shrinking: float | None = None,
        for_slow: int = 0,
    ) -> None:
        self.seconds = 0.0
        self.schedules = 0  # schedules and cases finished within `seconds`
        self._for_slow = for_slow
        self.interrupted = False  # by Ctrl-C; the results after that may lack a block or a part of a block
        self.toured = None  # these processes draw schedules, and play no test sequences
        self._jobs = jobs
        self._shrinking = shrinking
        self._report = report

    def results(self, plan: Plan, protocol: Protocol) -> Generator[BlockResult]:
        """Yield the results of the blocks under a protocol, in the order of the block numbers."""
        return self.run(plan.block_of(protocol, number) for number in range(plan.blocks))

    def run(self, blocks: Iterable[Block]) -> Generator[BlockResult]:
        """Yield the results of blocks, in the order of `blocks`.

        After Ctrl-C, yield the results of the blocks that have already finished, and raise KeyboardInterrupt.
        """
        started = time.monotonic() - self.seconds
        with closing(self._one_by_one(blocks) if self._jobs == 1 else self._in_pool(blocks)) as results:
            for result in results:
                self.seconds = time.monotonic() - started
                self.schedules += result.schedules + result.cases
                yield result

    def nonconformities(
        self, plan: Plan, protocol: Protocol, failed: Sequence[FailedTrial]
    ) -> Iterator[ConformanceFinding]:
        """Yield a shrunk finding for each failure.

        Shrinking a failure may take half of the time that is left for shrinking, or all of it for the last failure.
        """
        seconds = self._shrinking
        if seconds is not None:
            seconds = limit_for(seconds, self.seconds, self.schedules, self._for_slow)
        deadline = Deadline(seconds)
        most = MOST_SECONDS if seconds is None else max(MOST_SECONDS, seconds / 2)
        for number, one in enumerate(failed, start=1):
            share = deadline.remaining / (2 if number < len(failed) else 1)
            yield conformance_finding(plan, protocol, one, min(share, most), self._report)

    def progress(self, conformance: Conformance) -> str:
        """Return a line about the progress of the run."""
        return conformance.progress

    def _one_by_one(self, blocks: Iterable[Block]) -> Generator[BlockResult]:
        for block in blocks:
            result = block.result()
            try:
                run_block(block, self._report, result)
            except KeyboardInterrupt as interruption:
                self.interrupted = True
                try:
                    yield result
                finally:
                    raise interruption  # even if the caller closes the generator
            yield result

    def _in_pool(self, blocks: Iterable[Block]) -> Generator[BlockResult]:
        others = set(multiprocessing.active_children())
        self._report(f"starting {self._jobs} processes of the adapter")
        with _signals_of_terminal_blocked():
            pool = ProcessPoolExecutor(self._jobs, multiprocessing.get_context("spawn"), _leave_on_sigterm)
        with pool:
            try:
                yield from self._in_order(pool, blocks)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
                for worker in set(multiprocessing.active_children()) - others:
                    worker.terminate()

    def _in_order(self, pool: ProcessPoolExecutor, blocks: Iterable[Block]) -> Generator[BlockResult]:
        running: deque[Future[BlockResult]] = deque()
        try:
            for block in blocks:
                with _signals_of_terminal_blocked():
                    running.append(pool.submit(_run_block, block))
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


def _of_first(running: deque[Future[BlockResult]]) -> BlockResult:
    """Wait until the first block in the queue has finished, remove the block from the queue, and return its result."""
    result = running[0].result()
    running.popleft()
    return result


def _run_block(block: Block) -> BlockResult:
    """Run a block in a process of the pool. SIGTERM ends the process.

    Without `os._exit`, the executor would take the SystemExit of `_leave` for the result of the block, and start the
    next block.
    """
    try:
        return run_block(block)
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
    """Prepare a process of the pool: SIGTERM closes the adapter and exits, and signals of the terminal are ignored."""
    for of_the_terminal in _OF_THE_TERMINAL:
        signal.signal(of_the_terminal, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _OF_THE_TERMINAL)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second SIGTERM would interrupt the shutdown of the adapter
    sys.exit(128 + number)


def _leave_with_parent() -> None:
    """Exit once the parent process has ended. Without a parent, a process of the pool would wait forever for work."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PARTING_PATIENCE)
    os._exit(1)
