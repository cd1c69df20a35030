"""Small results that the code uses, and that JSON documents contain unchanged."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Unseen:
    """A violation that a case expects under a protocol and that no schedule of the run showed."""

    case: str
    protocol: str
    property: str


@dataclass(frozen=True)
class Checked:
    """A check for determinism: `blocks` of schedules ran more than once, `elsewhere` of them in several processes.

    `memory` is the peak memory of any worker process, in bytes.
    """

    blocks: int
    elsewhere: int
    memory: int


@dataclass(frozen=True)
class CampaignFinding:
    """A finding of a campaign, or a violation that is not shortened yet.

    `property` is the class of the exception if a user's own state machine raised it, and the kind of difference if a
    system under test did not conform. `seen` counts the runs that showed it, and `length` is the fewest events.
    `is_shrunk`: the schedule has been shortened. `known_flaw` is the reason to expect the finding, None for no reason.
    """

    protocol: str
    property: str
    seen: int
    length: int
    is_shrunk: bool
    known_flaw: str | None


@dataclass(frozen=True)
class Discovery:
    """The number of coverage points (`situations`) that the first `schedules` schedules reached, in all protocols."""

    schedules: int
    situations: int


@dataclass(frozen=True)
class Scale:
    """The size of a benchmark: rounds of a speed test, seeds to hunt mutants, and the largest number of schedules."""

    rounds: int
    seeds: int
    hypothesis_seeds: int
    most: int
    most_elsewhere: int
    spark_schedules: int
    spark_rounds: int
