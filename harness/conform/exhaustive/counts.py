"""Count the transitions of an exhaustive run: those within bounds, and those that the adapter played."""

from dataclasses import dataclass

import numpy as np

from epochfuzz.harness.conform.exhaustive.graph import Graph
from epochfuzz.harness.conform.exhaustive.tour_progress import TourProgress
from epochfuzz.harness.documents.records import Played
from epochfuzz.harness.engine.explore.tours import Flags


@dataclass(frozen=True)
class Toured:
    """The counts of an exhaustive run: `applied` for enabled events, and `refused` for events that are not enabled.

    `refused` is None if the run sends only enabled events. `lacking` is the number of enabled transitions that need an
    event that the adapter does not support. `is_complete` means that the run played every transition that it could.
    """

    applied: Played
    refused: Played | None
    lacking: int
    is_complete: bool


def toured(graph: Graph, standing: TourProgress, is_complete: bool) -> Toured:
    """Return the counts of an exhaustive run, from the graph of its transitions and its progress (`standing`)."""
    applied = counts(graph, standing, refused=False)
    refused = counts(graph, standing, refused=True) if graph.refused.any() else None
    return Toured(applied, refused, _sum(~graph.refused) - applied.reachable, is_complete)


def counts(graph: Graph, standing: TourProgress, refused: bool) -> Played:
    """Return the counts for the enabled events, or with `refused` for the events that are not enabled.

    An event that only a bound of the run forbids is not counted.
    """
    nothing = np.zeros(graph.size, bool)
    chosen = graph.reached(nothing) & (graph.refused == refused) & ~standing.bound
    reachable_yet = graph.reached(standing.differing) | standing.played
    return Played(
        _sum(chosen), _sum(chosen & standing.played), _sum(chosen & standing.differing),
        _sum(chosen & ~reachable_yet),
    )  # fmt: skip


def _sum(flags: Flags) -> int:
    return int(flags.sum())
