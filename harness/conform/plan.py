"""A plan: what to run a subject on, cut into blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.case import Case
from harness.conform.block import Block, Trial
from harness.conform.judge import Judgement
from harness.conform.subject import PATIENCE
from harness.engine import generate
from model.configuration import Configuration
from model.protocols import Protocol

BLOCK = 50  # schedules; long enough for a start of the subject not to matter, short enough for jobs to share the work


@dataclass(frozen=True)
class Plan:
    """What to run a subject on, and how to judge it."""

    command: tuple[str, ...]
    protocols: Sequence[Protocol]
    settings: Configuration
    schedules: int
    seed: int
    cases: Sequence[Case] = ()
    judgement: Judgement = Judgement.LOCKSTEP
    patience: float = PATIENCE
    jobs: int = 1
    max_failures: int | None = None  # failing schedules after which to run no more

    def blocks(self, protocol: Protocol) -> Iterator[Block]:
        """The blocks to be run under a protocol: the cases, in one, and then the schedules."""
        if self.cases:
            yield self._block(protocol, [Trial(case.events, case.settings, case=case.id) for case in self.cases])
        deck = generate.deck_for(self.settings)
        for first in range(0, self.schedules, BLOCK):
            numbers = range(first, min(first + BLOCK, self.schedules))
            drawn = [Trial(generate.schedule(self.seed, i, deck), self.settings, number=i) for i in numbers]
            yield self._block(protocol, drawn)

    def _block(self, protocol: Protocol, trials: list[Trial]) -> Block:
        return Block(self.command, self.patience, protocol, self.judgement, tuple(trials), self.max_failures)
