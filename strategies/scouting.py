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

from model import events
from model.configuration import Configuration
from model.state import Partition
from model.step import step
from strategies.failures import Check
from strategies.schedules import PROGRESS

# Events of progress that a schedule tries, for each replica. Most are not enabled when their turn comes.
_TRIES = 40


def scout(
    seed: int, start: Partition, settings: Configuration, check: Check, *, schedules: int, disturbances: int
) -> bytes:
    """The enabled events of a random schedule up to where it breaks the property; empty where none of them does."""
    draw = random.Random(seed)
    progress = [(event,) for event in settings.alphabet() if events.verb_of(event) in PROGRESS]
    disturbing = [event for event in settings.alphabet() if events.verb_of(event) not in PROGRESS]
    for _ in range(schedules):
        plan: list[Sequence[int]] = list(draw.choices(progress, k=_TRIES * settings.replicas))
        left_out = {verb for verb in range(len(events.VERBS)) if draw.random() < 0.5}
        swarm = [event for event in disturbing if events.verb_of(event) not in left_out]
        for moment in draw.sample(range(len(plan)), disturbances):
            plan[moment] = draw.sample(swarm, len(swarm))
        found = _follow(plan, start.copy(), check)
        if found:
            return found
    return b""


def _follow(plan: Sequence[Sequence[int]], p: Partition, check: Check) -> bytes:
    """Of each group of events the first that is enabled happens. What happened, if that broke the property."""
    happened = bytearray()
    for alternatives in plan:
        for event in alternatives:
            if step(p, event):
                happened.append(event)
                break
        else:
            continue
        if not check.slow and check.is_broken(p):
            return bytes(happened)
    return bytes(happened) if check.slow and check.is_broken(p) else b""
