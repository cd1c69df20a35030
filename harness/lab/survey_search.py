"""Search exhaustively for the survey, within a budget of time and memory, and continue on Spark if the budget is spent.

A search that ends early covers all schedules up to some length. Then the growth of the search estimates how many states
the whole search would keep.
"""

import math
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from epochfuzz.harness.cli.campaigns import spark_session
from epochfuzz.harness.cli.output import console
from epochfuzz.harness.engine.explore.explore import Exploration, SearchProgress, explored
from epochfuzz.harness.findings.search_request import SearchRequest
from epochfuzz.harness.views.progress import show_search
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


@dataclass(frozen=True)
class Budget:
    """The limits of a search: its memory in bytes, and its duration in seconds.

    `spark` is the directory for searches on Spark, which have no limits. Without it, a search ends with its budget.
    """

    memory: int
    seconds: float = math.inf
    spark: Path | None = None


@dataclass(frozen=True)
class SearchEnd:
    """The end of a search for one property. `shortest` is the schedule that breaks it, None if there is none.

    No other schedule of up to `covered` events breaks the property; `covered` is sys.maxsize if the search visited
    every state. If the search ended early, `states` estimates the number of states that the whole search would keep.
    """

    shortest: bytes | None
    covered: int
    states: int | None = None


class TimeEnded(Exception):
    """The search has used its time."""


@dataclass
class StateGrowth:
    """The number of states of a search, by distance from the start: `states[d]` are at most d events away."""

    deadline: float
    states: dict[int, int] = field(default_factory=lambda: {0: 1})
    depth: int = 0
    _last: int = 1

    def note(self, progress: SearchProgress) -> None:
        """Note the progress of the search. Raises TimeEnded after the deadline."""
        if progress.depth > self.depth:
            self.depth = progress.depth
            self.states[self.depth] = self._last
        self._last = progress.states
        if time.monotonic() > self.deadline:
            raise TimeEnded

    def estimate(self, depth: int) -> int | None:
        """Estimate the number of states that a search for schedules of up to `depth` events keeps.

        The estimate assumes that the number of states grows by the same factor with each event. Within bounds on
        records and epochs, the factor decreases, so the estimate is then too high. Returns None if the search has not
        tried all schedules of one event.
        """
        if self.depth == 0:
            return None
        factor = self.states[self.depth] / self.states[self.depth - 1]
        # The search does not keep the states at the largest depth.
        return round(self.states[self.depth] * factor ** max(0, depth - 1 - self.depth))


def search(
    protocol: Protocol, settings: Configuration, depths: Mapping[int, int], budget: Budget
) -> dict[int, SearchEnd]:
    """Search for violations of several properties, each with schedules of up to a number of events.

    A key of `depths` is a property's bit, and the value is the number of events. Returns a SearchEnd for each key.
    """
    growth = StateGrowth(time.monotonic() + budget.seconds)
    ended: dict[int, SearchEnd] = {}
    with show_search(console(json_wanted=False)) as progress:

        def report(searched: SearchProgress) -> None:
            progress.searched(searched)
            growth.note(searched)

        try:
            for wanted, result in explored(protocol, settings, depths, budget.memory, report):
                if not result.memory_exhausted:
                    ended[wanted] = _end_of(result)
        except TimeEnded:
            pass
    for wanted in depths.keys() - ended.keys():
        depth = depths[wanted]
        if budget.spark is not None and depth < sys.maxsize:
            (name,) = properties.names(wanted)
            ended[wanted] = _end_of(
                on_spark(SearchRequest(protocol=protocol, settings=settings, sought=name, depth=depth), budget.spark)
            )
        else:
            ended[wanted] = SearchEnd(None, growth.depth, growth.estimate(depth) if depth < sys.maxsize else None)
    return ended


def _end_of(result: Exploration) -> SearchEnd:
    return SearchEnd(result.shortest, sys.maxsize if result.complete else result.depth)


def on_spark(asked: SearchRequest, directory: Path) -> Exploration:
    """Search on Spark, with the tables in a subdirectory that is named for the request. Resumes an earlier search."""
    bounds = f"{asked.settings.replicas}-{asked.settings.records}-{asked.settings.epochs}-{asked.depth}"
    at = str(directory / f"{asked.protocol.name}-{asked.sought}-{bounds}")
    with spark_session(None, None, at) as spark, show_search(console(json_wanted=False)) as progress:
        from epochfuzz.harness.campaign.search.search import SearchCampaign
        from epochfuzz.harness.campaign.store.directory import CampaignDirectory

        is_begun = CampaignDirectory(spark, at).has("search")
        campaign = SearchCampaign.load(spark, at) if is_begun else SearchCampaign.start(spark, at, asked)
        return campaign.run(progress.searched)
