"""Records that the code uses, and that JSON documents contain unchanged."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Unseen:
    """A case expects a protocol to break a property, and no schedule of the run broke it."""

    case: str
    protocol: str
    property: str


@dataclass(frozen=True)
class Checked:
    """The number of blocks that ran more than once, and how many of these blocks ran in several processes.

    `memory` is the peak memory of any worker process, in bytes.
    """

    blocks: int
    elsewhere: int
    memory: int


@dataclass(frozen=True)
class CampaignFinding:
    """A finding, or an unshrunk violation: the property, the number of runs that broke it, and the fewest events.

    `property` is the class of an exception if a user's own state machine raised it, and the kind of difference if a
    system under test did not conform. `is_shrunk` is true once the reproducer has been shrunk. `known_flaw` gives the
    reason why the finding was expected; None if it was not expected.
    """

    protocol: str
    property: str
    seen: int
    length: int
    is_shrunk: bool
    known_flaw: str | None


@dataclass(frozen=True)
class Discovery:
    """The number of situations that the first `schedules` schedules met, under all protocols together."""

    schedules: int
    situations: int


@dataclass(frozen=True)
class Scale:
    """The size of a benchmark: rounds of each speed test, seeds of each hunt, and the largest number of schedules."""

    rounds: int
    seeds: int
    hypothesis_seeds: int
    most: int
    most_elsewhere: int
    spark_schedules: int
    spark_rounds: int
