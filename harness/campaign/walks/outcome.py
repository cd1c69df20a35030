"""The outcome of a finished campaign of random runs or state machines."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from epochfuzz.harness.campaign.walks.parameters import Parameters
from epochfuzz.harness.documents.records import Checked
from epochfuzz.harness.engine.explore.estimate import Estimate, something_new
from epochfuzz.harness.engine.walk.walk import Tally
from epochfuzz.harness.findings.findings import Finding, ScheduleEngine


@dataclass(frozen=True)
class Finished:
    """The results of a finished campaign of schedules, with its start and the time that it took in `seconds`.

    `begun` is the start; None if no wave ran and the directory is not on this machine.
    """

    parameters: Parameters
    begun: datetime | None
    tally: Tally
    seconds: float
    checked: Checked


@dataclass(frozen=True)
class MachineOutcome(Finished):
    """The results of a user's own machine: its `errors`, which are rows of findings, and the number of its `steps`."""

    errors: list[dict[str, Any]]
    steps: int


@dataclass(frozen=True)
class ScheduleOutcome(Finished):
    """The results of schedules of the model, with an estimate of the results that are not yet found.

    `engine` ran the schedules. `unreached` maps each protocol text to the numbers of the reachable situations that no
    schedule met.
    """

    engine: ScheduleEngine
    findings: list[Finding]
    unreached: dict[str, list[int]]

    @property
    def estimate(self) -> Estimate:
        """The probability that one more schedule shows something new."""
        return something_new(self.tally)

    @property
    def stopped_unstable(self) -> bool:
        """True if another limit stopped the campaign before it was stable, although `stable` was requested."""
        return self.parameters.stable is not None and self.estimate.high >= self.parameters.stable
