"""Run the blocks of a conformance run on this machine, and save their results, so that the run can resume."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from epochfuzz.harness.conform.protocol.discrepancy import SubjectUnable
from epochfuzz.harness.conform.protocol.process import CommandError
from epochfuzz.harness.conform.run import block_rows
from epochfuzz.harness.conform.run.block import BlockResult, FailedTrial
from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.conform.run.workers import Processes
from epochfuzz.harness.jobs.unfinished import Request, UnfinishedRun
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


def request(plan: Plan) -> Request:
    """Return the plan without its seed, as the request that identifies the progress file of a run."""
    return Request("conform", {name: value for name, value in plan.document().items() if name != "seed"})


@dataclass
class _Finished:
    """The number of finished blocks under a protocol, and the sum of their results."""

    blocks: int = 0
    sum: BlockResult = field(default_factory=BlockResult)


class KeptRunner:
    """Runs blocks with adapter processes on this machine, and saves the results in a directory.

    Raises ProgressError.
    """

    def __init__(self, directory: Path, plan: Plan, processes: Processes) -> None:
        self.toured = None  # this runner draws schedules, and plays no test sequences
        self.unfinished = UnfinishedRun(directory, request(plan), plan.seed)
        self._processes = processes
        before = self.unfinished.load(lambda kept: (float(kept["seconds"]), _finished(kept["protocols"], plan)))
        processes.seconds, self._finished = before or (0.0, {})
        processes.schedules = self.done

    @property
    def done(self) -> int:
        """The number of finished schedules and cases, including those of earlier processes of this run."""
        return sum(each.sum.schedules + each.sum.cases for each in self._finished.values())

    @property
    def seconds(self) -> float:
        """The seconds spent on blocks, including the time of earlier processes of this run."""
        return self._processes.seconds

    def results(self, plan: Plan, protocol: Protocol) -> Generator[BlockResult]:
        """Yield the results of the blocks under a protocol, in the order of the block numbers.

        If the run resumes, the first result is the sum over the blocks that earlier processes finished. A command that
        cannot run, or an adapter that supports no schedule, leaves no file.
        """
        finished = self._finished.setdefault(protocol.name, _Finished())
        if finished.blocks:
            yield finished.sum
        blocks = (plan.block_of(protocol, number) for number in range(finished.blocks, plan.blocks))
        is_resumable = True
        try:
            with closing(self._processes.run(blocks)) as results:
                for result in results:
                    self._keep(finished, protocol, result)
                    yield result
        except (CommandError, SubjectUnable):
            is_resumable = finished.blocks > 0
            raise
        finally:
            if is_resumable:
                self._save()

    def nonconformities(
        self, plan: Plan, protocol: Protocol, failed: Sequence[FailedTrial]
    ) -> Iterator[ConformanceFinding]:
        """Yield a shrunk finding for each failure."""
        return self._processes.nonconformities(plan, protocol, failed)

    def progress(self, conformance: Conformance) -> str:
        """Return a line about the progress of the run."""
        return conformance.progress

    def _keep(self, finished: _Finished, protocol: Protocol, result: BlockResult) -> None:
        """Add the result of a finished block, and save the progress if a save is due.

        After Ctrl-C, the method does nothing, and a resumed run repeats the block.
        """
        if self._processes.interrupted:
            return
        finished.blocks += 1
        finished.sum.include(result, protocol)
        if self.unfinished.is_due:
            self._save()

    def _save(self) -> None:
        protocols = {
            name: {"blocks": each.blocks, "sum": block_rows.sum_row(each.sum)} for name, each in self._finished.items()
        }
        self.unfinished.save({"seconds": self.seconds, "protocols": protocols})


def _finished(protocols: dict[str, Any], plan: Plan) -> dict[str, _Finished]:
    """Return the finished blocks of each protocol, by the protocol's name. `protocols` is saved progress."""
    return {
        name: _Finished(row["blocks"], BlockResult(**block_rows.sum_fields(row["sum"], plan)))
        for name, row in protocols.items()
    }
