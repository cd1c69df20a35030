"""Run the blocks of a conformance run in several processes, and yield the results in the order of the blocks."""

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing

from epochfuzz.harness.conform.run.attempts import MOST_SECONDS, limit_for
from epochfuzz.harness.conform.run.block import Block, BlockResult, FailedTrial, run_block
from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding, conformance_finding
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.engine.runtime.deadline import Deadline
from epochfuzz.harness.jobs.processes import ProcessPool
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


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
        self.toured = None  # these processes draw schedules, and play no test sequences
        self._jobs = jobs
        self._shrinking = shrinking
        self._report = report
        self._interrupted = False
        self._pool: ProcessPool | None = None

    @property
    def interrupted(self) -> bool:
        """True after Ctrl-C. The results after that may lack a block or a part of a block."""
        return self._interrupted or (self._pool is not None and self._pool.interrupted)

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
                self._interrupted = True
                try:
                    yield result
                finally:
                    raise interruption  # even if the caller closes the generator
            yield result

    def _in_pool(self, blocks: Iterable[Block]) -> Generator[BlockResult]:
        self._report(f"starting {self._jobs} processes of the adapter")
        with ProcessPool(self._jobs) as self._pool:
            yield from self._pool.in_order(run_block, blocks)
