"""State machines as the work of a campaign: the replication machine, which finds what walks find, and users' own."""

import shlex
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from epochfuzz.harness.campaign.machines.own import load_machine, run_user_machine
from epochfuzz.harness.campaign.machines.replication import ReplicationMachines
from epochfuzz.harness.campaign.run.status import Found
from epochfuzz.harness.campaign.walks import findings, kept_blocks, walk_blocks
from epochfuzz.harness.campaign.walks.outcome import Outcome
from epochfuzz.harness.campaign.walks.parameters import Parameters
from epochfuzz.harness.campaign.walks.walk_work import Walks
from epochfuzz.harness.engine.walk.walk import Tally
from epochfuzz.harness.findings.findings import Engine, Finding

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.campaign import Campaign, Progress


class Machines(Walks):
    """Runs of the replication machine, one for each number. They do not count situations."""

    NAME = "hypothesis"
    CANDIDATES = 1

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the work of a row of PARAMETERS. Raises ValueError."""
        asked = Parameters.from_row(row)
        found = OwnMachines if asked.machine is not None else cls
        return found(asked)  # type: ignore[return-value]

    @cached_property
    def engine(self) -> Engine:
        """What runs the schedules."""
        return ReplicationMachines(self.parameters.protocols, self.parameters.settings, self.parameters.seed)

    def get_ready(self) -> None:
        """Do nothing: a machine compiles what it needs in its first run."""

    def look_for_unreached(self, campaign: "Campaign[Outcome]", tally: Tally, progress: "Progress") -> None:
        """Do nothing: machines do not count situations."""


class OwnMachines(Machines):
    """Runs of a state machine of the user's own, whose findings are exceptions and steps."""

    @property
    def _machine(self) -> str:
        assert self.parameters.machine is not None
        return self.parameters.machine

    @property
    def names(self) -> tuple[str, ...]:
        """The machine."""
        return (self._machine,)

    def command_to_resume(self, uri: str) -> str:
        """Return the command that goes on with it.

        It names the machine: code is imported that this directory asks for.
        """
        return f"{super().command_to_resume(uri)} --machine {shlex.quote(self._machine)}"

    def require(self) -> None:
        """Find the machine here, before workers look for it. Raises CampaignError."""
        load_machine(self._machine)

    def block(self, number: int) -> dict[str, Any]:
        """Run the machine for the numbers of a block."""
        first, count = self.parameters.range_of(number)
        steps, failures = run_user_machine(self._machine, self.parameters.seed, first, count)
        return walk_blocks.machine_row(first, count, steps, failures)

    def finish(self, campaign: "Campaign[Outcome]", progress: "Progress") -> dict[str, int]:
        """Keep each error once: Hypothesis has shrunk them."""
        finished = campaign.finished()
        errors = [] if finished is None else walk_blocks.errors(finished)
        rows = [findings.error_row(error, self._machine) for error in errors]
        campaign.directory.write_rows(rows, findings.SCHEMA, "findings")
        return {"schedules": self.tally(campaign).schedules, "events": 0, "findings": len(rows)}

    def findings_of(self, rows: list[dict[str, Any]]) -> list[Finding]:
        """None: what it finds is errors."""
        return []

    def errors_of(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """All rows."""
        return rows

    def steps(self, campaign: "Campaign[Outcome]") -> int:
        """How many steps the machine took."""
        return walk_blocks.steps(campaign.finished())

    def found(self, summed: kept_blocks.Summed) -> Iterator[Found]:
        """Yield the errors so far: Hypothesis has shrunk them."""
        for error in sorted(summed.errors.values(), key=lambda each: str(each["error"])):
            length = len(error["steps"])
            yield Found(self._machine, error["error"], error["seen"], length, is_shrunk=True, known_flaw=None)

    def flaw_of(self, row: dict[str, Any]) -> str | None:
        """None: nobody expects errors."""
        return None
