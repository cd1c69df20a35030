"""Pass the results of a campaign's blocks to conform/run/run.py, as if the blocks had run locally."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from epochfuzz.harness.campaign.conformance import rows
from epochfuzz.harness.campaign.conformance.conformance_job import Trials
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind
from epochfuzz.harness.conform.run import block_rows
from epochfuzz.harness.conform.run.attempts import MOST_SECONDS, limit_for
from epochfuzz.harness.conform.run.block import BlockResult, FailedTrial, Trial
from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
from epochfuzz.harness.conform.run.drive import ConformanceFailure
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.campaign import Campaign
    from epochfuzz.harness.conform.exhaustive.counts import Toured

_SHRINK = "epochfuzz.harness.campaign.conformance.conformance_tasks:shrink_sightings"


class CampaignRunner:
    """Reads the results of finished blocks from a campaign's tables, and lets a worker shrink each failure once."""

    def __init__(self, campaign: "Campaign[Conformance]", work: Trials) -> None:
        self.toured: Toured | None = None
        self._campaign = campaign
        self._work = work
        self._tables = campaign.tables
        differing = self._tables.differing()
        again = self._tables.again(work.BLOCKS, differing) if differing else ()
        self._twice = {row["block_number"]: row for row in again}
        self._schedules = self._tables.counts(work.counted)["schedules"]
        self.seconds = self._tables.seconds(self._schedules)

    def results(self, plan: Plan, protocol: Protocol) -> Generator[BlockResult]:
        """Yield the results of the plan's blocks under a protocol, ordered by block number."""
        first = plan.protocols.index(protocol) * plan.blocks
        for row, again in self._rows(first, first + plan.blocks):
            result = block_rows.block_result(row, plan)
            if again is not None:
                result.failed.append(unstable(row, again, plan, plan.trials(protocol, row["number"])))
            yield result

    def _rows(self, first: int, end: int) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
        """Yield a pair for each block from `first` to `end` - 1: the row of the block, and the row of its second run.

        The second row is None if the block ran once, or if both results are equal.
        """
        for row in self._tables.blocks(self._work.BLOCKS, first, end):
            yield row, self._twice.get(row["block_number"])

    def nonconformities(
        self, plan: Plan, protocol: Protocol, failed: Sequence[FailedTrial]
    ) -> Iterator[ConformanceFinding]:
        """Yield a shrunk finding for each failure.

        A worker shrinks each failure. If the directory already has the findings, the method only reads them.
        """
        table = f"findings/protocol={plan.protocols.index(protocol)}"
        if not self._tables.is_written(table, rows.NONCONFORMITIES):
            self._campaign.directory.write_rows(self._shrunk(protocol, failed), rows.NONCONFORMITIES, table)
        for row in self._tables.read_rows(table, rows.NONCONFORMITIES):
            yield rows.nonconformity(row, plan)

    def progress(self, conformance: Conformance) -> str:
        """Return the name of the step, without a count, because all blocks have run before."""
        return "adding up the blocks"

    def _shrunk(self, protocol: Protocol, failed: Sequence[FailedTrial]) -> list[dict[str, Any]]:
        if not failed:
            return []
        argument = {
            "work": self._work.text,
            "protocol": protocol.name,
            "failed": [(block_rows.failed_row(one), one.seen) for one in failed],
            "seconds": limit_for(MOST_SECONDS, self.seconds, self._schedules),
        }
        return self._campaign.map(_SHRINK, argument, len(failed), rows.NONCONFORMITIES)


def unstable(first: dict[str, Any], again: dict[str, Any], plan: Plan, trials: Iterable[Trial]) -> FailedTrial:
    """Return a failure that says that two runs of a block had different results.

    The failure describes the first schedule with different results. If only the sums of the two runs differ, the
    failure describes the sums.
    """
    one_of_them = None
    for trial in trials:
        one_of_them = one_of_them or trial
        is_of = (trial.number, trial.case, trial.tour)
        of_trial = ([each for each in row["failed"] if (each["schedule"], each["case"], each.get("tour")) == is_of]
                    for row in (first, again))  # fmt: skip
        for one, other in zip_longest(*of_trial):
            if _judged(one) != _judged(other):
                sent = block_rows.failed(one or other, plan).sighting.sent
                return FailedTrial(
                    trial, ConformanceFailure(_fault(_sentence(one, plan), _sentence(other, plan)), sent)
                )
    assert one_of_them is not None, "blocks without trials have equal results"
    return FailedTrial(one_of_them, ConformanceFailure(_fault(_sum(first), _sum(again)), b""))


def _fault(first: str, again: str) -> Discrepancy:
    return Discrepancy(DiscrepancyKind.UNSTABLE, None, first, again)


def _judged(failed: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if failed is None else failed | {"output": None}


def _sentence(failed: dict[str, Any] | None, plan: Plan) -> str:
    return "nothing is wrong" if failed is None else block_rows.failed(failed, plan).fault.sentence


def _sum(row: dict[str, Any]) -> str:
    applied = sum(dict(row["applied"]).values())
    return f"{row['schedules'] + row['cases']} schedules sent {row['steps']} events, of which {applied} were applied"
