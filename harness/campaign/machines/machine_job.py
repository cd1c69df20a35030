"""Campaigns of state machines: the replication machine, with violations as in random runs, and users' machines."""

import shlex
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from epochfuzz.harness.campaign.machines.own import load_machine, run_user_machine
from epochfuzz.harness.campaign.machines.replication import ReplicationMachines
from epochfuzz.harness.campaign.walks import findings, walk_blocks
from epochfuzz.harness.campaign.walks.outcome import MachineOutcome, ScheduleOutcome
from epochfuzz.harness.campaign.walks.schedules import Schedules, WrittenTables
from epochfuzz.harness.campaign.walks.sums import Summed
from epochfuzz.harness.campaign.walks.walk_job import ModelSchedules
from epochfuzz.harness.documents.records import CampaignFinding
from epochfuzz.harness.findings.findings import ScheduleEngine

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.campaign import Campaign, Progress

_NAME = "hypothesis"


class Machines(ModelSchedules):
    """Runs of the replication machine, one for each schedule number. They don't count situations."""

    NAME = _NAME
    CANDIDATES = 1

    @cached_property
    def engine(self) -> ScheduleEngine:
        """The engine that runs the schedules."""
        return ReplicationMachines(self.parameters.protocols, self.parameters.settings, self.parameters.seed)

    def finish(self, campaign: "Campaign[ScheduleOutcome]", progress: "Progress") -> dict[str, int]:
        """Turn failures into findings and cases."""
        return self.keep_findings(campaign, self.tally(campaign), progress)


class OwnMachines(Schedules[MachineOutcome]):
    """Runs of a user's own state machine. A finding is an exception with its steps."""

    NAME = _NAME

    @property
    def _machine(self) -> str:
        assert self.parameters.machine is not None
        return self.parameters.machine

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the machine."""
        return (self._machine,)

    def command_to_resume(self, uri: str) -> str:
        """Return the command that resumes the campaign.

        The command names the machine again, because the directory decides which module is imported.
        """
        return f"{super().command_to_resume(uri)} --machine {shlex.quote(self._machine)}"

    def require(self) -> None:
        """Check that this process can import the state machine, before workers import it. Raises CampaignError."""
        load_machine(self._machine)

    def block(self, number: int) -> dict[str, Any]:
        """Run the machine once for each schedule number of a block."""
        first, count = self.parameters.range_of(number)
        steps, failures = run_user_machine(self._machine, self.parameters.seed, first, count)
        return walk_blocks.machine_row(first, count, steps, failures)

    def finish(self, campaign: "Campaign[MachineOutcome]", progress: "Progress") -> dict[str, int]:
        """Write one finding for each kind of error. Hypothesis has already shrunk its steps."""
        summed = self.summed(campaign)
        rows = [findings.error_row(error, self._machine) for error in _by_name(summed)]
        campaign.directory.write_rows(rows, findings.SCHEMA, "findings")
        return {"schedules": summed.tally.schedules, "events": 0, "findings": len(rows)}

    def shown(self, summed: Summed, written: WrittenTables) -> MachineOutcome:
        """Return the results of a finished campaign."""
        return MachineOutcome(
            parameters=self.parameters,
            begun=written.begun,
            tally=summed.tally,
            seconds=written.seconds,
            checked=written.checked,
            errors=written.found,
            steps=summed.steps,
        )

    def breaking(self, summed: Summed) -> Iterator[CampaignFinding]:
        """Yield the errors so far. Hypothesis has already shrunk their steps."""
        for error in _by_name(summed):
            length = len(error["steps"])
            yield CampaignFinding(self._machine, error["error"], error["seen"], length, is_shrunk=True, known_flaw=None)

    def found(self, row: dict[str, Any]) -> CampaignFinding:
        """Return the finding of a row of the findings table. Errors are never expected."""
        return CampaignFinding(
            row["protocol"], row["property"], row["seen"], row["length"], is_shrunk=True, known_flaw=None
        )


def _by_name(summed: Summed) -> list[dict[str, Any]]:
    return sorted(summed.errors.values(), key=lambda error: str(error["error"]))
