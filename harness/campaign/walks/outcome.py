"""The results of a finished campaign of random runs or of state machines."""

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
    """The results that random runs and state machines have in common. `seconds` is the time that the campaign took.

    `tally` has the sums over all schedules. `begun` is the start of the campaign, or None if it is unknown.
    """

    parameters: Parameters
    begun: datetime | None
    tally: Tally
    seconds: float
    checked: Checked


@dataclass(frozen=True)
class MachineOutcome(Finished):
    """The results of a user's own state machine.

    `errors` has rows of the findings table. `steps` is the number of steps of all runs.
    """

    errors: list[dict[str, Any]]
    steps: int


@dataclass(frozen=True)
class ScheduleOutcome(Finished):
    """The results of schedules on the model. `engine` ran the schedules.

    `unreached` lists, for each protocol, the reachable situations that no schedule met. A situation is given by its
    number (see situations.describe).
    """

    engine: ScheduleEngine
    findings: list[Finding]
    unreached: dict[str, list[int]]

    @property
    def estimate(self) -> Estimate:
        """The estimated probability that one more schedule shows something new."""
        return something_new(self.tally)

    @property
    def stopped_unstable(self) -> bool:
        """True if the limit `stable` was set, but another limit ended the campaign before the campaign was stable."""
        return self.parameters.stable is not None and self.estimate.high >= self.parameters.stable
