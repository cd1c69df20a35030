"""Walks as the work of a campaign: the schedules of `fuzz`, shrunk and certified as `fuzz` does it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pyspark.sql import Column
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.run.status import Found, SoFar
from epochfuzz.harness.campaign.run.work import Counts, Stage, Work
from epochfuzz.harness.campaign.spark.workers import Workers
from epochfuzz.harness.campaign.store.checks import Checked
from epochfuzz.harness.campaign.store.kept import Kept
from epochfuzz.harness.campaign.walks import coverage, findings, kept_blocks, parameters, walk_blocks
from epochfuzz.harness.campaign.walks.outcome import Outcome
from epochfuzz.harness.campaign.walks.parameters import Parameters
from epochfuzz.harness.engine.explore.estimate import something_new
from epochfuzz.harness.engine.walk.walk import Tally, Walker
from epochfuzz.harness.findings import findings as fuzz
from epochfuzz.harness.findings.findings import Engine, Finding
from epochfuzz.harness.witness.causes import reason
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.campaign import Campaign, Progress

_TASKS = "epochfuzz.harness.campaign.walks.walk_tasks"
_MOMENT = 0.001  # seconds, for a rate where a driver was killed before it had noted any


class Walks(Work[Outcome]):
    """Compiled random schedules. `engine` runs them."""

    NAME = "walk"
    PARAMETERS = parameters.SCHEMA
    BLOCKS = walk_blocks.SCHEMA
    CANDIDATES: ClassVar[int] = fuzz.MOST_CANDIDATES  # failures of one kind that are shrunk, to keep the shortest

    def __init__(self, asked: Parameters) -> None:
        self.parameters = asked
        self.model = asked.model
        self.version = asked.version
        self.seconds = asked.seconds
        self.module = asked.module

    @property
    def seed(self) -> int:
        """Of the schedules."""
        return self.parameters.seed

    @property
    def settings(self) -> Configuration:
        """The configuration."""
        return self.parameters.settings

    @property
    def names(self) -> tuple[str, ...]:
        """The protocols."""
        return tuple(protocol.name for protocol in self.parameters.protocols)

    def row(self) -> dict[str, Any]:
        """Return this as a row of PARAMETERS."""
        return self.parameters.row()

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the work of a row of PARAMETERS. Raises ValueError."""
        return cls(Parameters.from_row(row))

    @cached_property
    def engine(self) -> Engine:
        """What runs the schedules."""
        return Walker(self.parameters.protocols, self.parameters.settings, self.parameters.seed)

    def get_ready(self) -> None:
        """Compile the walk."""
        self.engine.walk(0, 1)

    def block(self, number: int) -> dict[str, Any]:
        """Walk the schedules of a block."""
        first, count = self.parameters.range_of(number)
        return walk_blocks.row(first, self.engine.walk(first, count), self.parameters.protocols)

    def number(self) -> Column:
        """Return the number of a block."""
        return F.floor(F.col("first") / self.parameters.block)

    def compared(self) -> list[Column]:
        """Return what has to be the same again."""
        return [F.col(name) for name in kept_blocks.COMPARED]

    def named(self, number: int) -> str:
        """Return a block as messages call it."""
        return f"the block that begins with schedule {self.parameters.range_of(number)[0]}"

    def counted(self) -> dict[str, Column]:
        """Schedules, steps of machines, and by protocol events and how many schedules broke each property."""
        columns = {"schedules": F.col("schedules"), "steps": F.col("steps")}
        for i in range(len(self.parameters.protocols)):
            result = F.col("results")[i]
            columns[f"events {i}"] = result["events"]
            columns |= {f"seen {i} {name}": result["seen"][name] for name in properties.NAMES}
        return columns

    def stages(self, campaign: "Campaign[Outcome]") -> Iterator[Stage]:
        """All that was asked for; until stable, what is walked before each look at whether it is."""
        first = 0
        for end in self.parameters.rounds():
            if end is not None and end < campaign.taken_up:
                continue  # it was not stable then
            yield Stage(first, end)
            if end is None or self._is_stable(campaign):
                return
            first = end

    def _is_stable(self, campaign: "Campaign[Outcome]") -> bool:
        stable = self.parameters.stable
        return stable is not None and something_new(self.tally(campaign)).high < stable

    def progress(self, counts: Counts, seconds: float) -> str:
        """How far it is."""
        from epochfuzz.harness.views.summary import rate  # which draws: workers need not

        events = sum(counts[f"events {i}"] for i in range(len(self.parameters.protocols)))
        return (
            f"{counts['schedules']:,} schedules · {rate((events + counts['steps']) / seconds)}"
            f" · {self._broken(counts)} findings so far"
        )

    def _broken(self, counts: Counts) -> int:
        """How many properties were broken that may not break, each counted for each protocol."""
        permitted = properties.permitted(self.parameters.settings)
        judged = [name for name in properties.NAMES if name not in permitted]
        return sum(counts[f"seen {i} {name}"] > 0 for i in range(len(self.parameters.protocols)) for name in judged)

    def seconds_remaining(self, counts: Counts, seconds: float) -> float | None:
        """None where only stability ends the campaign: nobody knows when that is."""
        if self.parameters.seconds is None and self.parameters.schedules is not None:
            return max(0.0, self.parameters.schedules / counts["schedules"] - 1) * seconds
        return super().seconds_remaining(counts, seconds)

    def tally(self, campaign: "Campaign[Outcome]") -> Tally:
        """Return the tally of all that is walked."""
        if campaign.kept is not None:
            return kept_blocks.summed(campaign.kept, self.parameters.protocols).tally
        return walk_blocks.total(campaign.finished(), self.parameters.protocols)

    def finish(self, campaign: "Campaign[Outcome]", progress: "Progress") -> dict[str, int]:
        """From failures to findings and cases."""
        from epochfuzz.harness.campaign.walks import cases  # which are YAML: workers need none
        from epochfuzz.harness.cases.case import dump_case

        tally = self.tally(campaign)
        breaches = fuzz.breaches(self.parameters.protocols, self.parameters.settings, tally)
        progress.doing(f"shrinking {len(breaches)} findings")
        found = self._certified(campaign, self._shrunk(campaign, breaches), progress)
        made = [cases.case_for(finding, self.parameters) for finding in found]
        rows = [findings.row(each) | {"case": dump_case(case)} for each, case in zip(found, made, strict=True)]
        campaign.directory.write_rows(rows, findings.SCHEMA, "findings")
        self.look_for_unreached(campaign, tally, progress)
        cases.write(made, campaign.directory)
        return {"schedules": tally.schedules, "events": int(tally.events.sum()), "findings": len(rows)}

    def _shrunk(self, campaign: "Campaign[Outcome]", breaches: list[fuzz.Breach]) -> list[Finding]:
        """Return the findings of the breaches, each made by a task of its own."""
        spark = campaign.directory.spark
        argument = {"work": self.text, "breaches": [findings.breach_row(breach) for breach in breaches]}
        numbers = spark.range(0, len(breaches), 1, max(1, len(breaches)))
        shrunk = Workers(spark).map(numbers, f"{_TASKS}:shrink_breaches", argument, findings.SHRUNK)
        found = {(row["protocol"], row["property"]): row for row in shrunk.toArrow().to_pylist()}
        return [findings.from_row(found[breach.protocol.name, breach.property], self.parameters) for breach in breaches]

    def _certified(self, campaign: "Campaign[Outcome]", found: list[Finding], progress: "Progress") -> list[Finding]:
        """Return the findings with their certificates: of one worker, with all its cores, for one
        search serves many.
        """
        if not found or self.certify == 0:
            return found
        progress.doing(f"certifying {len(found)} findings")
        spark = campaign.directory.spark
        rows = [findings.row(finding) for finding in found]
        argument = {"work": self.text, "findings": rows, "seconds": self.certify}
        numbers = spark.range(0, 1, 1, 1)
        proven = Workers(spark).map(numbers, f"{_TASKS}:certify_findings", argument, findings.SHRUNK)
        return [findings.from_row(row, self.parameters) for row in proven.toArrow().to_pylist()]

    def look_for_unreached(self, campaign: "Campaign[Outcome]", tally: Tally, progress: "Progress") -> None:
        """Write the table of situations; each protocol is searched by a task of its own."""
        progress.doing("looking for situations that were not reached")
        spark, protocols = campaign.directory.spark, self.parameters.protocols
        numbers = spark.range(0, len(protocols), 1, len(protocols))
        reached = Workers(spark).map(numbers, f"{_TASKS}:reach_situations", self.text, coverage.REACHABLE)
        rows = coverage.rows(tally, protocols, reached.toArrow().to_pylist())
        campaign.directory.write_rows(rows, coverage.SCHEMA, "situations")

    def outcome(self, campaign: "Campaign[Outcome]") -> Outcome:
        """Return what a finished campaign has shown."""
        if campaign.kept is not None:
            return self.kept_outcome(campaign.kept)
        tally = self.tally(campaign)
        situations = campaign.directory.read("situations", coverage.SCHEMA)
        unmet = [] if situations is None else situations.where("schedules = 0").toArrow().to_pylist()
        return self._outcome(
            tally,
            steps=self.steps(campaign),
            begun=campaign.begun(),
            seconds=campaign.seconds(tally.schedules),
            rows=campaign.directory.read_rows("findings", findings.SCHEMA),
            checked=campaign.checked(),
            unmet=unmet,
        )

    def kept_outcome(self, kept: Kept) -> Outcome:
        """Return the same of a campaign on this machine, without Spark. Raises NonDeterminismError."""
        summed = kept_blocks.summed(kept, self.parameters.protocols)
        unmet = [row for row in kept.read_rows("situations", coverage.SCHEMA) if row["schedules"] == 0]
        return self._outcome(
            summed.tally,
            steps=summed.steps,
            begun=kept.begun,
            seconds=kept.seconds(summed.tally.schedules),
            rows=kept.read_rows("findings", findings.SCHEMA),
            checked=self.kept_checked(kept),
            unmet=unmet,
        )

    def _outcome(
        self,
        tally: Tally,
        *,
        steps: int,
        begun: datetime | None,
        seconds: float,
        rows: list[dict[str, Any]],
        checked: Checked,
        unmet: list[dict[str, Any]],
    ) -> Outcome:
        unreached: dict[str, list[int]] = {protocol.name: [] for protocol in self.parameters.protocols}
        for row in sorted(unmet, key=lambda row: row["situation"]):
            unreached[row["protocol"]].append(row["situation"])
        return Outcome(
            parameters=self.parameters,
            begun=begun,
            engine=self.engine,
            tally=tally,
            seconds=max(seconds, _MOMENT),
            findings=self.findings_of(rows),
            errors=self.errors_of(rows),
            steps=steps,
            checked=checked,
            unreached=unreached,
        )

    def kept_checked(self, kept: Kept) -> Checked:
        """Compare the blocks that were walked twice without Spark. Raises NonDeterminismError."""
        checked, differing = kept_blocks.checked(kept)
        for first in differing[:1]:
            self.refuse(first // self.parameters.block)
        return checked

    def so_far(self, kept: Kept) -> SoFar:
        """Return what the finished blocks come to. Raises NonDeterminismError."""
        summed = kept_blocks.summed(kept, self.parameters.protocols)
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
            found=tuple(self.found(summed) if rows is None else map(self._found_row, rows)),
            met=met if counts_situations else {},
            estimate=something_new(tally) if counts_situations else None,
        )

    def found(self, summed: kept_blocks.Summed) -> Iterator[Found]:
        """Yield what the failures of finished blocks will come to."""
        for breach in fuzz.breaches(self.parameters.protocols, self.settings, summed.tally):
            failing = self.engine.failing(breach.failures[0], breach.protocol, breach.property)
            flaw = reason(failing, breach.protocol, self.settings, breach.property)
            length = breach.failures[0].length
            yield Found(breach.protocol.name, breach.property, breach.seen, length, is_shrunk=False, known_flaw=flaw)

    def _found_row(self, row: dict[str, Any]) -> Found:
        """Return the finding of a row of their table."""
        return Found(
            row["protocol"], row["property"], row["seen"], row["length"], is_shrunk=True, known_flaw=self.flaw_of(row)
        )

    def flaw_of(self, row: dict[str, Any]) -> str | None:
        """Why the finding of a row was to be expected."""
        schedule, protocol = parse_schedule(row["events"]), parse_protocol(row["protocol"])
        return reason(schedule, protocol, self.settings, row["property"])

    def findings_of(self, rows: list[dict[str, Any]]) -> list[Finding]:
        """Return the findings among the rows of their table."""
        return [findings.from_row(row, self.parameters) for row in rows]

    def errors_of(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the rows about errors of a machine of the user's own."""
        return []

    def steps(self, campaign: "Campaign[Outcome]") -> int:
        """How many steps a machine of the user's own took."""
        return 0
