"""Dataclasses for small results. The code uses them, and JSON documents contain them unchanged."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Unseen:
    """A violation that a case expects under a protocol and that no schedule of the run showed."""

    case: str
    protocol: str
    property: str


@dataclass(frozen=True)
class Checked:
    """The numbers of a check for determinism, which runs some blocks of schedules twice.

    `blocks` is the number of blocks that ran more than once. `elsewhere` is the number of blocks that ran in more than
    one process. `memory` is the peak memory of any worker process, in bytes.
    """

    blocks: int
    elsewhere: int
    memory: int


@dataclass(frozen=True, kw_only=True)
class CampaignFinding:
    """A finding of a campaign, or a violation that is not shortened yet.

    `property` is the broken property. Three kinds of findings have another text there: the class of the exception that
    a user's own state machine raised, the kind of difference of a system under test that did not conform, and the
    outcome of a schedule on a cluster. `seen` counts the runs that showed the finding, and `length` is the number of
    events of the shortest run. `is_shrunk` is True if the schedule has been shortened. `known_flaw` is the reason to
    expect the finding, None for no reason.
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
class Played:
    """Numbers of transitions: `reachable` with the events that the adapter supports, and `played` in the run.

    `differing` counts the transitions that showed a difference between the system under test and the model. `behind`
    counts the transitions that were not played because every path to them has a differing transition.
    """

    reachable: int
    played: int
    differing: int
    behind: int

    @property
    def is_complete(self) -> bool:
        """True if every reachable transition was played."""
        return self.played == self.reachable


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The size of a benchmark.

    `rounds` is the number of rounds of each speed test. `step` selects every `step`-th mutant. `seeds` is the number of
    seeds for each strategy that searches for mutants, and `hypothesis_seeds` the number for Hypothesis. `most` is the
    largest number of schedules for each seed with the default strategy, and `most_elsewhere` with the other strategies.
    `spark_schedules` and `spark_rounds` are the size of the comparison with Spark.
    """

    rounds: int
    step: int
    seeds: int
    hypothesis_seeds: int
    most: int
    most_elsewhere: int
    spark_schedules: int
    spark_rounds: int
