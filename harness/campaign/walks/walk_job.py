"""Campaigns that run schedules on the model, and shrink and prove their failures as `epochfuzz fuzz` does."""

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from epochfuzz.harness.campaign.walks import coverage, findings, walk_blocks
from epochfuzz.harness.campaign.walks.outcome import ScheduleOutcome
from epochfuzz.harness.campaign.walks.schedules import TASKS, Schedules, WrittenTables
from epochfuzz.harness.campaign.walks.sums import Summed
from epochfuzz.harness.documents.records import CampaignFinding
from epochfuzz.harness.engine.walk.walk import Tally, Walker
from epochfuzz.harness.findings import findings as fuzz
from epochfuzz.harness.findings.findings import Finding, ScheduleEngine
from epochfuzz.harness.trace.causes import reason
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.campaign import Campaign, Progress


class ModelSchedules(Schedules[ScheduleOutcome]):
    """The job of running schedules on the model with an engine."""

    CANDIDATES: ClassVar[int]  # failures of a violation that are shrunk; the shortest result is kept

    @property
    @abstractmethod
    def engine(self) -> ScheduleEngine:
        """The engine that runs the schedules: compiled random runs, or the replication machine."""

    def block(self, number: int) -> dict[str, Any]:
        """Run the schedules of a block, and return the results as a row of BLOCKS."""
        first, count = self.parameters.range_of(number)
        return walk_blocks.row(first, self.engine.walk(first, count), self.parameters.protocols)

    def keep_findings(
        self, campaign: "Campaign[ScheduleOutcome]", tally: Tally, progress: "Progress"
    ) -> dict[str, int]:
        """Shrink the failures, and write the findings and cases. Returns the row of the table `outcome`."""
        from epochfuzz.harness.campaign.walks import cases  # cases are YAML, which workers don't need
        from epochfuzz.harness.cases.case import dump_case

        breaches = fuzz.breaches(self.parameters.protocols, self.parameters.settings, tally)
        progress.doing(f"shrinking {len(breaches)} findings")
        found = self._certified(campaign, self._shrunk(campaign, breaches), progress)
        made = [cases.case_for(finding, self.parameters) for finding in found]
        rows = [findings.row(each) | {"case": dump_case(case)} for each, case in zip(found, made, strict=True)]
        campaign.directory.write_rows(rows, findings.SCHEMA, "findings")
        cases.write(made, campaign.directory)
        return {"schedules": tally.schedules, "events": int(tally.events.sum()), "findings": len(rows)}

    def _shrunk(self, campaign: "Campaign[ScheduleOutcome]", breaches: list[fuzz.Breach]) -> list[Finding]:
        """Shrink each violation in a task of its own, and return the findings."""
        argument = {"work": self.text, "breaches": [findings.breach_row(breach) for breach in breaches]}
        shrunk = campaign.map(f"{TASKS}:shrink_breaches", argument, len(breaches), findings.SHRUNK)
        found = {(row["protocol"], row["property"]): row for row in shrunk}
        return [findings.from_row(found[breach.protocol.name, breach.property], self.parameters) for breach in breaches]

    def _certified(
        self, campaign: "Campaign[ScheduleOutcome]", found: list[Finding], progress: "Progress"
    ) -> list[Finding]:
        """Try to prove, for each finding, that no shorter schedule exists. Returns the findings with their proofs.

        One worker proves all findings on all of its cores, because one search can prove many findings.
        """
        if not found or self.certify == 0:
            return found
        progress.doing(f"certifying {len(found)} findings")
        rows = [findings.row(finding) for finding in found]
        argument = {"work": self.text, "findings": rows, "seconds": self.certify}
        proven = campaign.map(f"{TASKS}:certify_findings", argument, 1, findings.SHRUNK)
        return [findings.from_row(row, self.parameters) for row in proven]

    def shown(self, summed: Summed, written: WrittenTables) -> ScheduleOutcome:
        """Return the results of a finished campaign."""
        unreached: dict[str, list[int]] = {protocol.name: [] for protocol in self.parameters.protocols}
        for row in sorted(written.unmet, key=lambda row: row["situation"]):
            unreached[row["protocol"]].append(row["situation"])
        return ScheduleOutcome(
            parameters=self.parameters,
            begun=written.begun,
            engine=self.engine,
            tally=summed.tally,
            seconds=written.seconds,
            findings=[findings.from_row(row, self.parameters) for row in written.found],
            checked=written.checked,
            unreached=unreached,
        )

    def breaking(self, summed: Summed) -> Iterator[CampaignFinding]:
        """Yield the failures of the finished blocks as findings that are not shrunk yet."""
        for breach in fuzz.breaches(self.parameters.protocols, self.settings, summed.tally):
            failing = self.engine.failing(breach.failures[0], breach.protocol, breach.property)
            flaw = reason(failing, breach.protocol, self.settings, breach.property)
            length = breach.failures[0].length
            yield CampaignFinding(
                protocol=breach.protocol.name,
                property=breach.property,
                seen=breach.seen,
                length=length,
                is_shrunk=False,
                known_flaw=flaw,
            )

    def found(self, row: dict[str, Any]) -> CampaignFinding:
        """Return the finding in a row of the findings table."""
        schedule, protocol = parse_schedule(row["events"]), parse_protocol(row["protocol"])
        flaw = reason(schedule, protocol, self.settings, row["property"])
        return CampaignFinding(
            protocol=row["protocol"],
            property=row["property"],
            seen=row["seen"],
            length=row["length"],
            is_shrunk=True,
            known_flaw=flaw,
        )


class Walks(ModelSchedules):
    """The job of compiled random runs."""

    NAME = "walk"
    CANDIDATES = fuzz.MOST_CANDIDATES

    @cached_property
    def engine(self) -> ScheduleEngine:
        """The engine of compiled random runs."""
        return Walker(self.parameters.protocols, self.parameters.settings, self.parameters.seed)

    def get_ready(self) -> None:
        """Compile the code for random runs on this worker."""
        self.engine.walk(0, 1)

    def finish(self, campaign: "Campaign[ScheduleOutcome]", progress: "Progress") -> dict[str, int]:
        """Write the findings, the cases and the table of situations. Returns the row of the table `outcome`."""
        tally = self.summed(campaign.tables).tally
        done = self.keep_findings(campaign, tally, progress)
        self.look_for_unreached(campaign, tally, progress)
        return done

    def look_for_unreached(self, campaign: "Campaign[ScheduleOutcome]", tally: Tally, progress: "Progress") -> None:
        """Write the table of situations, with reachable situations that no schedule met.

        A task for each protocol searches for reachable situations.
        """
        progress.doing("searching for situations that were not met")
        protocols = self.parameters.protocols
        reached = campaign.map(f"{TASKS}:reach_situations", self.text, len(protocols), coverage.REACHABLE)
        rows = coverage.rows(tally, protocols, reached)
        campaign.directory.write_rows(rows, coverage.SCHEMA, "situations")
