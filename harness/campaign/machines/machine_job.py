"""Campaigns that run Hypothesis state machines: epochfuzz's replication machine, or a user's own machine.

Failures of the replication machine are violations, as in random runs. Failures of a user's machine are exceptions.
"""

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
    """The job of running the replication machine. Each schedule number stands for one run of the machine.

    Unlike compiled random runs, the runs of the machine count no situations (kinds of states and events).
    """

    NAME = _NAME
    CANDIDATES = 1

    @cached_property
    def engine(self) -> ScheduleEngine:
        """The engine that runs the schedules."""
        return ReplicationMachines(self.parameters.protocols, self.parameters.settings, self.parameters.seed)

    def finish(self, campaign: "Campaign[ScheduleOutcome]", progress: "Progress") -> dict[str, int]:
        """Write the violations as findings and as case files. Returns the row of the table `outcome`."""
        return self.keep_findings(campaign, self.summed(campaign.tables).tally, progress)


class OwnMachines(Schedules[MachineOutcome]):
    """The job of running a user's own state machine. A finding is an exception with the steps that raise it."""

    NAME = _NAME

    @property
    def _machine(self) -> str:
        assert self.parameters.machine is not None
        return self.parameters.machine

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the machine, as `module:Name`."""
        return (self._machine,)

    def command_to_resume(self, uri: str) -> str:
        """Return the command that resumes the campaign in the directory `uri`.

        The command names the machine, because resuming imports the machine's module, and the user has to allow this
        import.
        """
        return f"{super().command_to_resume(uri)} --machine {shlex.quote(self._machine)}"

    def require(self) -> None:
        """Raise CampaignError if this process cannot import the state machine."""
        load_machine(self._machine)

    def block(self, number: int) -> dict[str, Any]:
        """Run the machine once for each schedule number of a block, and return the results as a row of BLOCKS."""
        first, count = self.parameters.range_of(number)
        steps, failures = run_user_machine(self._machine, self.parameters.seed, first, count)
        return walk_blocks.machine_row(first, count, steps, failures)

    def finish(self, campaign: "Campaign[MachineOutcome]", progress: "Progress") -> dict[str, int]:
        """Write one finding for each class of exception. Returns the row of the table `outcome`."""
        summed = self.summed(campaign.tables)
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
        """Yield the exceptions so far as findings. Hypothesis has already shrunk their steps."""
        for error in _by_name(summed):
            length = len(error["steps"])
            yield CampaignFinding(
                protocol=self._machine,
                property=error["error"],
                seen=error["seen"],
                length=length,
                is_shrunk=True,
                known_flaw=None,
            )

    def found(self, row: dict[str, Any]) -> CampaignFinding:
        """Return the finding in a row of the findings table. An exception is never a known bug."""
        return CampaignFinding(
            protocol=row["protocol"],
            property=row["property"],
            seen=row["seen"],
            length=row["length"],
            is_shrunk=True,
            known_flaw=None,
        )


def _by_name(summed: Summed) -> list[dict[str, Any]]:
    return sorted(summed.errors.values(), key=lambda error: str(error["error"]))
