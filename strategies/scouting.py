"""Scouting: where should a state machine go?

A step of a Hypothesis state machine costs some hundred times what a step of the model costs, so a machine sees too few
schedules to meet a failure that needs nine events in order. A scout runs thousands of random schedules on the bare
model, and the machine then takes the way of the first that breaks a property; from there it is Hypothesis's own.

The schedules are like those of priority-based testing (PCT, Burckhardt et al. 2010), which rests on the observation
that bugs have little depth: replication makes progress, and a few disturbances come in between. Few disturbances also
keep apart what shrinking cannot join: `hw` loses a record by a restart and an election, in nine events, or by three
elections, in ten, and taking events out of the one never gives the other.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from epochfuzz.model.configuration import Configuration
from epochfuzz.model.events import PROGRESS, Verb, verb_of
from epochfuzz.model.execution import Execution
from epochfuzz.model.properties import CONVERGENCE, set_of
from epochfuzz.model.protocols import Protocol
from epochfuzz.strategies.failures import first_broken

# Events of progress that a schedule tries, for each replica. Most are not enabled when their turn comes.
_TRIES = 40


@dataclass(frozen=True)
class Scout:
    """How to look for failures: under which protocol and configuration, of which properties, and how far.

    It runs up to `schedules` schedules, with that many `disturbances` in each.
    """

    protocol: Protocol
    settings: Configuration
    judged: tuple[str, ...]
    schedules: int
    disturbances: int


@lru_cache(maxsize=1_000)  # shrinking asks for the same one many times
def find(scout: Scout, seed: int, wanted: str) -> bytes:
    """The enabled events of a random schedule that breaks the wanted property, and no other judged before it.

    Empty where no schedule does.
    """
    draw = random.Random(seed)
    start = Execution(scout.protocol, scout.settings)
    for _ in range(scout.schedules):
        happened, broken = _follow(_plan(draw, scout), start.copy(), set_of(scout.judged))
        if broken == wanted:
            return happened
    return b""


def _plan(draw: random.Random, scout: Scout) -> list[Sequence[int]]:
    """What to try, one after the other: an event of progress, or some disturbances, the first of which can happen.

    Every plan leaves out about half of the verbs that disturb (swarm testing, Groce et al. 2012).
    """
    alphabet = scout.settings.alphabet()
    left_out = {verb for verb in Verb if draw.random() < 0.5}.difference(PROGRESS)
    progress = [(event,) for event in alphabet if verb_of(event) in PROGRESS]
    disturbing = [event for event in alphabet if verb_of(event) not in left_out.union(PROGRESS)]
    plan: list[Sequence[int]] = list(draw.choices(progress, k=_TRIES * scout.settings.replicas))
    for moment in draw.sample(range(len(plan)), scout.disturbances):
        plan[moment] = draw.sample(disturbing, len(disturbing))
    return plan


def _follow(plan: Sequence[Sequence[int]], execution: Execution, judged: int) -> tuple[bytes, str | None]:
    """What happened by the plan until a property broke, and which. What is slow to judge is left to the end."""
    happened = bytearray()
    for alternatives in plan:
        event = next(filter(execution.apply, alternatives), None)
        if event is None:
            continue
        happened.append(event)
        broken = first_broken(execution, judged & ~CONVERGENCE)
        if broken:
            return bytes(happened), broken
    return bytes(happened), first_broken(execution, judged)
