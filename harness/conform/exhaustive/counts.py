"""Counts: how many transitions there are within bounds, and what became of them."""

from dataclasses import dataclass

import numpy as np

from epochfuzz.harness.conform.exhaustive.graph import Graph
from epochfuzz.harness.conform.exhaustive.standing import Standing
from epochfuzz.harness.engine.explore.tours import Flags


@dataclass(frozen=True)
class Counts:
    """Of the transitions that can be reached by a subject's events: how many were played, and how many of them differ.

    Those that are `behind` can only be reached by ones that differ.
    """

    reachable: int
    played: int
    differing: int
    behind: int

    @property
    def is_complete(self) -> bool:
        """Whether all were played."""
        return self.played == self.reachable


@dataclass(frozen=True)
class Toured:
    """What a run along tours came to: of the transitions that apply, and of those refused where these were sent too.

    `lacking` are not asked for, for want of events of the subject. `is_complete`: no more of the others can be reached.
    """

    applied: Counts
    refused: Counts | None
    lacking: int
    is_complete: bool


def toured(graph: Graph, standing: Standing, is_complete: bool) -> Toured:
    """Count all that there is and was played."""
    applied = counts(graph, standing, refused=False)
    refused = counts(graph, standing, refused=True) if graph.refused.any() else None
    return Toured(applied, refused, _sum(~graph.refused) - applied.reachable, is_complete)


def counts(graph: Graph, standing: Standing, refused: bool) -> Counts:
    """Count the transitions that apply, or those that are refused and no bound forbids."""
    nothing = np.zeros(graph.size, bool)
    chosen = graph.reached(nothing) & (graph.refused == refused) & ~standing.bound
    reachable_yet = graph.reached(standing.differing) | standing.played
    return Counts(
        _sum(chosen), _sum(chosen & standing.played), _sum(chosen & standing.differing),
        _sum(chosen & ~reachable_yet),
    )  # fmt: skip


def _sum(flags: Flags) -> int:
    return int(flags.sum())
