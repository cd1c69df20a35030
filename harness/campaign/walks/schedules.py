"""Campaigns that run numbered schedules in blocks. The result of a block is a row of sums over its schedules."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar

from epochfuzz.harness.campaign.run.job import BlockRange, Counts, Job
from epochfuzz.harness.campaign.run.status import SoFar
from epochfuzz.harness.campaign.store.checks import checked
from epochfuzz.harness.campaign.store.tables import Tables
from epochfuzz.harness.campaign.walks import coverage, findings, parameters, sums, walk_blocks
from epochfuzz.harness.campaign.walks.outcome import Finished
from epochfuzz.harness.campaign.walks.parameters import Parameters
from epochfuzz.harness.campaign.walks.sums import Summed
from epochfuzz.harness.documents.records import CampaignFinding, Checked
from epochfuzz.harness.engine.explore.estimate import something_new
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

    def named(self, number: int) -> str:
        """Return a name of a block for messages, with the number of the block's first schedule."""
        return f"the block that begins with schedule {self.parameters.range_of(number)[0]}"

    @property
    def counted(self) -> list[str]:
        """The names of the numbers for the progress: schedules, steps, and each protocol's events and violations."""
        protocols = range(len(self.parameters.protocols))
        seen = [f"seen {i} {name}" for i in protocols for name in properties.NAMES]
        return ["schedules", "steps", *(f"events {i}" for i in protocols), *seen]

    def counts(self, row: Mapping[str, Any]) -> dict[str, int]:
        """Return the numbers in a row of BLOCKS."""
        counts = {"schedules": row["schedules"], "steps": row["steps"]}
        for i, result in enumerate(row["results"]):
            counts[f"events {i}"] = result["events"]
            counts |= {f"seen {i} {name}": count for name, count in result["seen"]}
        return counts

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
        return stable is not None and something_new(self.summed(campaign.tables).tally).high < stable

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

    def summed(self, tables: Tables) -> Summed:
        """Return the sums over all blocks. A block that ran twice counts once."""
        parts = tables.map_blocks(f"{TASKS}:sum_blocks", self.text, self.BLOCKS, sums.SUMS)
        return sums.summed(parts, self.parameters.protocols)

    def outcome(self, campaign: "Campaign[Outcome]") -> Outcome:
        """Return the results of a finished campaign."""
        return self.outcome_of(campaign.tables)

    def outcome_of(self, tables: Tables) -> Outcome:
        """Return the results of a finished campaign from its tables. Raises NonDeterminismError."""
        summed = self.summed(tables)
        unmet = [row for row in tables.read_rows("situations", coverage.SCHEMA) if row["schedules"] == 0]
        found = tables.read_rows("findings", findings.SCHEMA)
        worked = tables.seconds(summed.tally.schedules)
        return self.shown(summed, WrittenTables(tables.begun, worked, found, checked(tables, self), unmet))

    @abstractmethod
    def shown(self, summed: Summed, written: WrittenTables) -> Outcome:
        """Return the results of a finished campaign from its sums and its tables."""

    def so_far(self, tables: Tables) -> SoFar:
        """Return the results of the finished blocks. Raises NonDeterminismError."""
        summed = self.summed(tables)
        checked(tables, self)
        tally = summed.tally
        rows = tables.read_rows("findings", findings.SCHEMA) if tables.is_finished else None
        protocols = self.parameters.protocols
        met = {of.name: frozenset(each.situations.tolist()) for of, each in zip(protocols, tally.met, strict=True)}
        counts_situations = any(met.values())
        return SoFar(
            counts=tables.counts(self.counted),
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
