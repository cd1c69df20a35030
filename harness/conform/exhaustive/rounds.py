"""Plan test sequences in rounds, until every transition is played or cannot be reached.

A test sequence ends where the system under test differs from the model, so a round may leave planned transitions
unplayed. The next round plans test sequences for these transitions, on paths that avoid each transition with a
difference. Rounds leave out the transitions without such a path. A round depends only on the results of earlier rounds,
and not on the processes or machines that play its blocks.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from epochfuzz.harness.conform.exhaustive.graph import Graph
from epochfuzz.harness.conform.exhaustive.tour_block import TourBlock, tour_block
from epochfuzz.harness.conform.exhaustive.tour_progress import TourProgress
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.engine.explore.tours import Flags, Numbers
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


class Round:
    """Test sequences that cover the transitions in `wanted` and avoid the transitions in `without`.

    Test sequences are numbered across rounds. `first` is the number of this round's first test sequence.
    """

    def __init__(self, graph: Graph, wanted: Flags, without: Flags, first: int) -> None:
        self.graph, self.wanted, self.without, self.first = graph, wanted, without, first
        self._ahead: tuple[int, Iterator[Numbers]] | None = None

    @cached_property
    def lengths(self) -> list[int]:
        """The number of events of each test sequence."""
        return [len(way) for way in self.graph.ways(self.wanted, self.without)]

    def blocks(self, plan: Plan) -> int:
        """Return the number of blocks of this round."""
        return -(-len(self.lengths) // plan.processes_for)

    def block(self, plan: Plan, protocol: Protocol, number: int) -> TourBlock:
        """Return block `number` of this round.

        Request the blocks in ascending order, because each block continues the plan of the block before. If you go back
        to an earlier block, the round plans all its blocks again from the first.
        """
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


def rounds(graph: Graph, standing: TourProgress) -> Iterator[Round]:
    """Yield rounds until no transition is left to play. The first is the round that has begun, if there is one.

    The caller must add the results of a round to `standing` before it requests the next round.
    """
    begun = standing.round
    if begun is not None:
        yield Round(graph, begun.wanted, begun.without, begun.first)
    while True:
        next_one = Round(graph, ~standing.played, standing.differing | standing.bound, standing.planned)
        if not next_one.lengths:
            return
        standing.planned += len(next_one.lengths)
        yield next_one
