"""Read the results of test sequences, to plan the next round of sequences and to compute the outcome."""

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

from epochfuzz.harness.campaign.conformance import rows
from epochfuzz.harness.campaign.conformance.results import CampaignRunner, unstable
from epochfuzz.harness.campaign.conformance.tours_job import Tours
from epochfuzz.harness.campaign.run.job import BlockRange
from epochfuzz.harness.conform.exhaustive.counts import toured
from epochfuzz.harness.conform.exhaustive.crew import no_answer
from epochfuzz.harness.conform.exhaustive.rounds import Round, rounds
from epochfuzz.harness.conform.exhaustive.tour_block import TourResult
from epochfuzz.harness.conform.exhaustive.tour_progress import TourProgress
from epochfuzz.harness.conform.run import block_rows
from epochfuzz.harness.conform.run.block import BlockResult
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.campaign import Campaign

_ASK = "epochfuzz.harness.campaign.conformance.conformance_tasks:ask_subject"


def stages(campaign: "Campaign[Conformance]", work: Tours) -> Iterator[BlockRange]:
    """Yield a stage of blocks for each round of test sequences.

    Stops when all transitions are played, or after many failures.
    """
    subject = _subject(campaign, work)
    if subject["events"] is None:
        return
    graph = work.graph_of(subject["events"])
    standing = TourProgress.of_none(graph, work.protocol)
    unexpected = unjudged = 0
    # `rounds` is a generator that plans each round from `standing`. The loop adds the results of a round to `standing`
    # before the generator plans the next round.
    for each, first in _numbered(rounds(graph, standing), work.plan):
        steps = standing.before.shown.steps + sum(each.lengths)  # of all rounds up to the end of this round
        work.tell(subject["events"], each, first, steps)  # sets the round for the workers that play the next stage
        yield BlockRange(first, first + each.blocks(work.plan))
        for result in TourResults(campaign, work).results_of(each, first):
            standing.add(result, 0.0)
            unexpected, unjudged = unexpected + result.unexpected, unjudged + result.unjudged
            if work.plan.is_enough(unexpected, unjudged, result.given_up):
                return


class TourResults(CampaignRunner):
    """Reads the results of test sequences from the directory of a campaign."""

    def __init__(self, campaign: "Campaign[Conformance]", work: Tours) -> None:
        super().__init__(campaign, work)
        self._tours = work

    def results(self, plan: Plan, protocol: Protocol) -> Generator[BlockResult]:
        """Yield the results of all rounds, first round first."""
        subject = _subject(self._campaign, self._tours)
        if subject["events"] is None:
            yield no_answer(plan, protocol, block_rows.failed(subject["failed"], plan).fault)
            return
        graph = self._tours.graph_of(subject["events"])
        standing, is_complete = TourProgress.of_none(graph, protocol), False
        try:
            for each, first in _numbered(rounds(graph, standing), plan):  # plans each round from `standing`, as above
                for result in self.results_of(each, first):
                    standing.add(result, self.seconds)
                    yield result
            is_complete = True
        finally:
            self.toured = toured(graph, standing, is_complete)

    def results_of(self, each: Round, first: int) -> Iterator[TourResult]:
        """Yield the results of a round's blocks. `first` is the number of the round's first block.

        If a second run of a block had another result, the result of the block includes the difference as a failure.
        """
        plan, protocol = self._tours.plan, self._tours.protocol
        for row, second_row in self._rows(first, first + each.blocks(plan)):
            result = rows.tours_result(row, plan)
            if second_row is not None:  # a second run had another result
                trials = each.block(plan, protocol, row["number"] - first).trials
                result.failed.append(unstable(row, second_row, plan, trials))
            yield result


def _numbered(of_all: Iterator[Round], plan: Plan) -> Iterator[tuple[Round, int]]:
    """Yield the rounds, each with the number of its first block. Block numbers continue across rounds."""
    first = 0
    for each in of_all:
        yield each, first
        first += each.blocks(plan)


def _subject(campaign: "Campaign[Conformance]", work: Tours) -> dict[str, Any]:
    """Return the row of rows.SUBJECT: the events that the system under test supports.

    If the campaign's directory does not have the row yet, a worker asks the system, and the row is stored.
    """
    found = campaign.tables.read_rows("subject", rows.SUBJECT)
    if not found:
        found = campaign.map(_ASK, work.text, 1, rows.SUBJECT)
        campaign.directory.write_rows(found, rows.SUBJECT, "subject")
    return found[0]
