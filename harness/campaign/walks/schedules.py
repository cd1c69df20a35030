"""Campaigns that run numbered schedules in blocks. The result of a block is a row of sums over its schedules."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pyspark.sql import Column
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.run.job import BlockRange, Counts, Job
from epochfuzz.harness.campaign.run.status import SoFar
from epochfuzz.harness.campaign.spark import versions
from epochfuzz.harness.campaign.spark.workers import Workers
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.campaign.walks import coverage, findings, parameters, sums, walk_blocks
from epochfuzz.harness.campaign.walks.outcome import Finished
from epochfuzz.harness.campaign.walks.parameters import Parameters
from epochfuzz.harness.campaign.walks.sums import Summed
from epochfuzz.harness.documents.records import CampaignFinding, Checked
from epochfuzz.harness.engine.explore.estimate import something_new
from epochfuzz.harness.engine.walk.walk import Tally
from epochfuzz.harness.text.printable import rate
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.campaign import Campaign

TASKS = "epochfuzz.harness.campaign.walks.walk_tasks"
Outcome = TypeVar("Outcome", bound=Finished)

_MOMENT = 0.001  # seconds; the shortest duration, so that rates can be computed if a killed driver has recorded no time


@dataclass(frozen=True)
class WrittenTables:
    """The content of a finished campaign's tables. `Schedules.shown` computes the results from this content.

    `found` has the rows of findings, and `unmet` the rows of situations that no schedule met. `worked` is the recorded
    working time in seconds, which may be 0.
    """

    begun: datetime | None
    worked: float
    found: list[dict[str, Any]]
    checked: Checked
    unmet: list[dict[str, Any]]

    @property
    def seconds(self) -> float:
        """The time that the campaign took, in seconds: `worked`, but at least a millisecond."""
        return max(self.worked, _MOMENT)


class Schedules(Job[Outcome]):
    """The job of running schedules, numbered from 0, in blocks of equal size. Subclasses choose the engine."""

    PARAMETERS = parameters.SCHEMA
    BLOCKS = walk_blocks.SCHEMA

    def __init__(self, asked: Parameters) -> None:
        self.parameters = asked
        self.model = asked.model
        self.version = asked.version
        self.seconds = asked.seconds
        self.module = asked.module

    @property
    def seed(self) -> int:
        """The seed of the schedules."""
        return self.parameters.seed

    @property
    def settings(self) -> Configuration:
        """The configuration of the modelled partition."""
        return self.parameters.settings

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the protocols."""
        return tuple(protocol.name for protocol in self.parameters.protocols)

    def row(self) -> dict[str, Any]:
        """Return the parameters of the job as a row of PARAMETERS."""
        return self.parameters.row()

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the job that a row of PARAMETERS describes. Raises ValueError."""
        return cls(Parameters.from_row(row))

    def number(self) -> Column:
        """Return an expression that computes the number of a block from its row."""
        return F.floor(F.col("first") / self.parameters.block)

    def compared(self) -> list[Column]:
        """Return the columns that must be equal in two runs of a block."""
        return [F.col(name) for name in sums.COMPARED]

    def named(self, number: int) -> str:
        """Return a name of a block for messages, with the number of the block's first schedule."""
        return f"the block that begins with schedule {self.parameters.range_of(number)[0]}"

    def counted(self) -> dict[str, Column]:
        """Return columns to add up for the progress: schedules, steps, and each protocol's events and violations."""
        columns = {"schedules": F.col("schedules"), "steps": F.col("steps")}
        for i in range(len(self.parameters.protocols)):
            result = F.col("results")[i]
            columns[f"events {i}"] = result["events"]
            columns |= {f"seen {i} {name}": result["seen"][name] for name in properties.NAMES}
        return columns

    def stages(self, campaign: "Campaign[Outcome]") -> Iterator[BlockRange]:
        """Yield a single stage with all blocks. With the limit `stable`, yield stages until the campaign is stable.

        The campaign tests this limit at the end of each stage.
        """
        first = 0
        for end in self.parameters.rounds():
            if end is not None and end < campaign.taken_up:
                continue  # the campaign was not stable at that point
            yield BlockRange(first, end)
            if end is None or self._is_stable(campaign):
                return
            first = end

    def _is_stable(self, campaign: "Campaign[Outcome]") -> bool:
        stable = self.parameters.stable
        return stable is not None and something_new(self.tally(campaign)).high < stable

    def progress(self, counts: Counts, seconds: float) -> str:
        """Return the progress in one line."""
        events = sum(counts[f"events {i}"] for i in range(len(self.parameters.protocols)))
        return (
            f"{counts['schedules']:,} schedules · {rate((events + counts['steps']) / seconds)}"
            f" · {self._broken(counts)} findings so far"
        )

    def _broken(self, counts: Counts) -> int:
        """Return the number of broken properties, added up over all protocols. Omits properties that may break."""
        permitted = properties.permitted(self.parameters.settings)
        judged = [name for name in properties.NAMES if name not in permitted]
        return sum(counts[f"seen {i} {name}"] > 0 for i in range(len(self.parameters.protocols)) for name in judged)

    def seconds_remaining(self, counts: Counts, seconds: float) -> float | None:
        """Return the estimated seconds until the end. None if only the limit `stable` ends the campaign."""
        if self.parameters.seconds is None and self.parameters.schedules is not None:
            return max(0.0, self.parameters.schedules / counts["schedules"] - 1) * seconds
        return super().seconds_remaining(counts, seconds)

    def summed(self, campaign: "Campaign[Outcome]") -> Summed:
        """Return the sums over all blocks. A block that ran twice counts once."""
        kept, protocols = campaign.kept, self.parameters.protocols
        if kept is not None:
            return self.kept_sum(kept)
        finished = campaign.finished()
        if finished is None:
            return sums.summed([], protocols)
        spark = campaign.directory.spark
        blocks = finished.select(*self.BLOCKS.names)
        summed = Workers(spark).map(blocks, f"{TASKS}:sum_blocks", self.text, sums.SUMS)
        return sums.summed([versions.to_arrow(summed)], protocols)

    def kept_sum(self, kept: LocalTables) -> Summed:
        """Return the sums over all blocks of a campaign on this machine, read without Spark."""
        return sums.summed(sums.each_once(kept), self.parameters.protocols)

    def tally(self, campaign: "Campaign[Outcome]") -> Tally:
        """Return the sums over all schedules as a Tally."""
        return self.summed(campaign).tally

    def outcome(self, campaign: "Campaign[Outcome]") -> Outcome:
        """Return the results of a finished campaign."""
        if campaign.kept is not None:
            return self.kept_outcome(campaign.kept)
        summed = self.summed(campaign)
        situations = campaign.directory.read("situations", coverage.SCHEMA)
        unmet = [] if situations is None else versions.to_arrow(situations.where("schedules = 0")).to_pylist()
        found = campaign.directory.read_rows("findings", findings.SCHEMA)
        worked = campaign.seconds(summed.tally.schedules)
        return self.shown(summed, WrittenTables(campaign.begun(), worked, found, campaign.checked(), unmet))

    def kept_outcome(self, kept: LocalTables) -> Outcome:
        """Return the results of a finished campaign on this machine, without Spark. Raises NonDeterminismError."""
        summed = self.kept_sum(kept)
        unmet = [row for row in kept.read_rows("situations", coverage.SCHEMA) if row["schedules"] == 0]
        found = kept.read_rows("findings", findings.SCHEMA)
        worked = kept.seconds(summed.tally.schedules)
        return self.shown(summed, WrittenTables(kept.begun, worked, found, self.kept_checked(kept), unmet))

    @abstractmethod
    def shown(self, summed: Summed, written: WrittenTables) -> Outcome:
        """Return the results of a finished campaign from its sums and its tables."""

    def kept_checked(self, kept: LocalTables) -> Checked:
        """Compare the blocks that ran twice, without Spark. Raises NonDeterminismError if results differ."""
        checked, differing = sums.checked(kept)
        for first in differing[:1]:
            self.refuse(first // self.parameters.block)
        return checked

    def so_far(self, kept: LocalTables) -> SoFar:
        """Return the results of the finished blocks, read without Spark. Raises NonDeterminismError."""
        summed = self.kept_sum(kept)
        self.kept_checked(kept)
        tally = summed.tally
        counts = Counter({"schedules": tally.schedules, "steps": summed.steps})
        for number, (events, seen) in enumerate(zip(tally.events.tolist(), tally.seen.tolist(), strict=True)):
            counts[f"events {number}"] = events
            counts |= {f"seen {number} {name}": count for name, count in zip(properties.NAMES, seen, strict=True)}
        rows = kept.read_rows("findings", findings.SCHEMA) if kept.is_finished else None
        protocols = self.parameters.protocols
        met = {of.name: frozenset(each.situations.tolist()) for of, each in zip(protocols, tally.met, strict=True)}
        counts_situations = any(met.values())
        return SoFar(
            counts=counts,
            found=tuple(self.breaking(summed) if rows is None else map(self.found, rows)),
            met=met if counts_situations else {},
            estimate=something_new(tally) if counts_situations else None,
        )

    @abstractmethod
    def breaking(self, summed: Summed) -> Iterable[CampaignFinding]:
        """Return the failures of the finished blocks as findings that are not final yet."""

    @abstractmethod
    def found(self, row: dict[str, Any]) -> CampaignFinding:
        """Return the finding in a row of the findings table."""
