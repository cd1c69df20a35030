"""The outcome of a finished campaign of walks or machines."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from epochfuzz.harness.campaign.store.checks import Checked
from epochfuzz.harness.campaign.walks.parameters import Parameters
from epochfuzz.harness.engine.explore.estimate import Estimate, something_new
from epochfuzz.harness.engine.walk.walk import Tally
from epochfuzz.harness.findings.findings import Engine, Finding


@dataclass(frozen=True)
class Outcome:
    """What a finished campaign has shown, when it was begun, for how long it walked, and what remains to be found.

    `begun` is None where nothing was walked and it is not on this machine. `engine` is what ran its schedules.
    `errors`: rows of findings of a machine of the user's own, which has no other findings; it took `steps`.
    `unreached`: numbers of situations within reach that were not met, by protocol text.
    """

    parameters: Parameters
    begun: datetime | None
    engine: Engine
    tally: Tally
    seconds: float
    findings: list[Finding]
    errors: list[dict[str, Any]]
    steps: int
    checked: Checked
    unreached: dict[str, list[int]]

    @property
    def estimate(self) -> Estimate:
        """How likely it is that one more schedule shows something new."""
        return something_new(self.tally)

    @property
    def stopped_unstable(self) -> bool:
        """Whether the campaign was to go on until it is stable, and had to stop before."""
        return self.parameters.stable is not None and self.estimate.high >= self.parameters.stable
