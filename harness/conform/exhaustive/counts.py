"""Count the transitions within bounds, and how many of them the adapter played."""

from dataclasses import dataclass

import numpy as np

from epochfuzz.harness.conform.exhaustive.graph import Graph
from epochfuzz.harness.conform.exhaustive.tour_progress import TourProgress
from epochfuzz.harness.engine.explore.tours import Flags


@dataclass(frozen=True)
class Counts:
    """The number of transitions that the adapter's events can reach, and how many were played.

    `differing` counts the transitions at which the system under test differs from the model. `behind` counts those that
    can only be reached through a differing transition.
    """

    reachable: int
    played: int
    differing: int
    behind: int

    @property
    def is_complete(self) -> bool:
        """True if every reachable transition was played."""
        return self.played == self.reachable


@dataclass(frozen=True)
class Toured:
    """The transition counts of an exhaustive run.

    `applied` counts the enabled transitions. `refused` counts the events that are not enabled, or is None if the run
    does not send them. `lacking` is the number of enabled transitions that the adapter cannot reach, because it lacks
    events. `is_complete` means that no transition is left that could be played.
    """

    applied: Counts
    refused: Counts | None
    lacking: int
    is_complete: bool


def toured(graph: Graph, standing: TourProgress, is_complete: bool) -> Toured:
    """Return the counts of all transitions, after the run has played what `standing` records."""
    applied = counts(graph, standing, refused=False)
    refused = counts(graph, standing, refused=True) if graph.refused.any() else None
    return Toured(applied, refused, _sum(~graph.refused) - applied.reachable, is_complete)


def counts(graph: Graph, standing: TourProgress, refused: bool) -> Counts:
    """Return the counts of the enabled transitions, or of the events that are not enabled (`refused`).

    Events that only a bound of the run forbids are not counted.
    """
    nothing = np.zeros(graph.size, bool)
    chosen = graph.reached(nothing) & (graph.refused == refused) & ~standing.bound
    reachable_yet = graph.reached(standing.differing) | standing.played
    return Counts(
        _sum(chosen), _sum(chosen & standing.played), _sum(chosen & standing.differing),
        _sum(chosen & ~reachable_yet),
    )  # fmt: skip


def _sum(flags: Flags) -> int:
    return int(flags.sum())
