"""How a scenario is played: what ends the leader, who elects, and what is done otherwise so that the record is kept."""

from dataclasses import dataclass
from enum import StrEnum

_BALANCING_OFTEN = 10  # seconds; Kafka's default for leader.imbalance.check.interval.seconds is 300


class Scenario(StrEnum):
    """What is played."""

    RE_ELECTED_LEADER = "re-elected-leader"
    UNDER_LOAD = "re-elected-leader-under-load"


class End(StrEnum):
    """How A is lost in the end."""

    TERM = "term"  # a shutdown in good order
    KILL = "kill"
    PAUSE = "pause"  # beyond its session


class Election(StrEnum):
    """Who has the preferred leader elected."""

    ADMIN = "admin"
    AUTO = "auto"  # the controller, by auto.leader.rebalance.enable


class Control(StrEnum):
    """What is done otherwise, so that the record is kept."""

    NO_PAUSE = "no-pause"  # A is not paused: it hears of C
    LATE = "late"  # A is lost when B has m again


@dataclass(frozen=True)
class Variant:
    """How the scenario is played."""

    end: End = End.TERM
    election: Election = Election.ADMIN
    control: Control | None = None

    def settings(self) -> dict[str, object]:
        """Return what of the cluster's settings is not Kafka's default."""
        if self.election is Election.AUTO:
            return {"leader.imbalance.check.interval.seconds": _BALANCING_OFTEN}
        return {}
