"""Rounds: tours along all that is left to be played, until there is nothing more that can be reached.

A tour ends where the subject differs. So after a round there may be transitions that were planned and not played; the
next one plans tours along those, by ways that have nothing differing in them, as long as there are any. What a round
consists of depends on what came of those before it and on nothing else: whoever plays its blocks, and wherever, plays
the same.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from epochfuzz.harness.conform.exhaustive.graph import Graph
from epochfuzz.harness.conform.exhaustive.standing import Standing
from epochfuzz.harness.conform.exhaustive.tour_block import TourBlock, tour_block
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.engine.explore.tours import Flags, Numbers
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


class Round:
    """Tours along the transitions `wanted`, `without` some. The tours of all rounds are numbered, from `first` here."""

    def __init__(self, graph: Graph, wanted: Flags, without: Flags, first: int) -> None:
        self.graph, self.wanted, self.without, self.first = graph, wanted, without, first
        self._ahead: tuple[int, Iterator[Numbers]] | None = None

    @cached_property
    def lengths(self) -> list[int]:
        """How many steps each of the tours has."""
        return [len(way) for way in self.graph.ways(self.wanted, self.without)]

    def blocks(self, plan: Plan) -> int:
        """In how many blocks the tours are played."""
        return -(-len(self.lengths) // plan.processes_for)

    def block(self, plan: Plan, protocol: Protocol, number: int) -> TourBlock:
        """Return one of its blocks; the next one after that takes the least work."""
        first = number * plan.processes_for
        ways = self._ways_from(first)
        together = list(islice(ways, plan.processes_for))
        self._ahead = first + len(together), ways
        return tour_block(plan, protocol, enumerate(map(self.graph.tour, together), self.first + first))

    def _ways_from(self, first: int) -> Iterator[Numbers]:
        at, ways = self._ahead or (first + 1, iter(()))
        if at > first:
            at, ways = 0, self.graph.ways(self.wanted, self.without)
        return islice(ways, first - at, None)


def rounds(graph: Graph, standing: Standing) -> Iterator[Round]:
    """Yield round after round, each once what came of the one before it was added to how the run stands."""
    while True:
        next_one = Round(graph, ~standing.played, standing.differing | standing.bound, standing.planned)
        if not next_one.lengths:
            return
        standing.planned += len(next_one.lengths)
        yield next_one
