"""The variants of a scenario on a cluster: how leader A fails, what triggers the election, and control experiments.

A control experiment changes the scenario so that no acknowledged record is lost.
"""

from dataclasses import dataclass
from enum import StrEnum

_BALANCING_OFTEN = 10  # seconds; Kafka's default for leader.imbalance.check.interval.seconds is 300


class Scenario(StrEnum):
    """The scenarios that `epochfuzz cluster run` can run."""

    RE_ELECTED_LEADER = "re-elected-leader"
    UNDER_LOAD = "re-elected-leader-under-load"


class FailureMode(StrEnum):
    """The ways for broker A to leave at the end of a scenario: controlled shutdown, kill or pause."""

    TERM = "term"  # controlled shutdown
    KILL = "kill"
    PAUSE = "pause"  # paused until after its session has expired


class Election(StrEnum):
    """The trigger for the election of the preferred leader: an admin client, or the controller."""

    ADMIN = "admin"
    AUTO = "auto"  # the controller, by auto.leader.rebalance.enable


class Control(StrEnum):
    """A control experiment: a change to the scenario that keeps all acknowledged records."""

    NO_PAUSE = "no-pause"  # A is not paused, so it learns that C leads
    LATE = "late"  # A leaves after B has fetched m again


@dataclass(frozen=True)
class Variant:
    """A variant of a scenario. `control` is None without a control experiment."""

    end: FailureMode = FailureMode.TERM
    election: Election = Election.ADMIN
    control: Control | None = None

    def settings(self) -> dict[str, object]:
        """Return the broker settings of the variant. All other settings have Kafka's defaults."""
        if self.election is Election.AUTO:
            return {"leader.imbalance.check.interval.seconds": _BALANCING_OFTEN}
        return {}
