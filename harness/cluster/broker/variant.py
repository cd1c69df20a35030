"""The variants of a scenario: how the leader leaves, which process triggers the election, and controls.

A control is a change to the scenario, after which no acknowledged record is lost.
"""

from dataclasses import dataclass
from enum import StrEnum

_BALANCING_OFTEN = 10  # seconds; Kafka's default for leader.imbalance.check.interval.seconds is 300


class Scenario(StrEnum):
    """The scenarios."""

    RE_ELECTED_LEADER = "re-elected-leader"
    UNDER_LOAD = "re-elected-leader-under-load"


class FailureMode(StrEnum):
    """How A leaves at the end of the scenario."""

    TERM = "term"  # controlled shutdown
    KILL = "kill"
    PAUSE = "pause"  # paused until after its session has expired


class Election(StrEnum):
    """The trigger for the election of the preferred leader."""

    ADMIN = "admin"
    AUTO = "auto"  # the controller, by auto.leader.rebalance.enable


class Control(StrEnum):
    """A change to the scenario, after which no acknowledged record is lost."""

    NO_PAUSE = "no-pause"  # A is not paused, so it learns that C leads
    LATE = "late"  # A leaves after B has fetched m again


@dataclass(frozen=True)
class Variant:
    """A variant of the scenario."""

    end: FailureMode = FailureMode.TERM
    election: Election = Election.ADMIN
    control: Control | None = None

    def settings(self) -> dict[str, object]:
        """Return the cluster's settings that differ from Kafka's defaults."""
        if self.election is Election.AUTO:
            return {"leader.imbalance.check.interval.seconds": _BALANCING_OFTEN}
        return {}
