"""Workers: blocks run on several processes, their results taken in order."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from types import FrameType

from harness.conform.block import Block, BlockResult, run_block

_PARTING_PATIENCE = 3.0  # a subject that does not end by itself takes one of them


def run_blocks(blocks: Iterable[Block], jobs: int) -> Generator[BlockResult]:
    """The results of blocks, in the order of the blocks. Whoever wants no more closes the generator."""
    if jobs == 1:
        yield from map(run_block, blocks)
        return
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _leave_when_told) as pool:
        try:
            yield from _in_order(pool, blocks, 2 * jobs)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(multiprocessing.active_children()) - others:
                worker.terminate()


def _in_order(pool: ProcessPoolExecutor, blocks: Iterable[Block], ahead: int) -> Generator[BlockResult]:
    running: deque[Future[BlockResult]] = deque()
    for block in blocks:
        running.append(pool.submit(run_block, block))
        if len(running) >= ahead:
            yield running.popleft().result()
    while running:
        yield running.popleft().result()


def _leave_when_told() -> None:
    """A worker leaves on SIGTERM as on an exception, so that its subject is ended; Ctrl-C is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _leave_with_parent() -> None:
    """A parent that was killed tells nobody: workers of an executor would wait for more work for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PARTING_PATIENCE)
    os._exit(1)
