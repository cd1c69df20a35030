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
class Finished:
    """A finished campaign of schedules: what they come to, when it was begun, and for how long it ran them.

    `begun` is None where nothing was run and it is not on this machine.
    """

    parameters: Parameters
    begun: datetime | None
    tally: Tally
    seconds: float
    checked: Checked


@dataclass(frozen=True)
class MachineOutcome(Finished):
    """What a machine of the user's own has shown: rows of findings, which are errors, and how many `steps` it took."""

    errors: list[dict[str, Any]]
    steps: int


@dataclass(frozen=True)
class Outcome(Finished):
    """What schedules of the model have shown, and what remains to be found.

    `engine` is what ran them. `unreached`: numbers of situations within reach that were not met, by protocol text.
    """

    engine: Engine
    findings: list[Finding]
    unreached: dict[str, list[int]]

    @property
    def estimate(self) -> Estimate:
        """How likely it is that one more schedule shows something new."""
        return something_new(self.tally)

    @property
    def stopped_unstable(self) -> bool:
        """Whether the campaign was to go on until it is stable, and had to stop before."""
        return self.parameters.stable is not None and self.estimate.high >= self.parameters.stable
