"""Scouting: a quick search for failing schedules that a state machine can follow.

A step of a Hypothesis state machine takes some hundred times as long as a step of the model. So a machine runs too few
schedules to find a failure that needs nine events in a certain order. A scout runs random schedules in the model alone.
If some of these schedules break a property, the scout removes unnecessary events from the shortest failing schedules,
and the machine follows the result.

The schedules resemble those of probabilistic concurrency testing (PCT, Burckhardt et al. 2010): replication makes
progress, interrupted by a few disturbances such as crashes and elections. With fewer disturbances a schedule breaks a
property less often, but the failing schedules are shorter. The protocol `hw` loses a record by a restart and an
election in nine events, or by three elections in ten events. Removing events from the second schedule never results in
the first. So a scout uses a few more disturbances, and takes the shortest failure. With six disturbances and a hundred
events to try, a second of scouting finds the loss 29 times, and 10 of these schedules have nine events. With two
disturbances and forty events, a second of scouting finds the loss 2 times.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract.properties import AT_END, set_of
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import PROGRESS, Verb, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.strategies.balance import balanced
from epochfuzz.strategies.failures import first_broken
from epochfuzz.strategies.trimming import shortest

# The number of events of progress that a schedule tries for each replica. Most of them are not enabled at that moment.
_TRIES = 100
# A scout collects this many failures of each property, and takes the shortest failure. More failures make it shorter.
_ENOUGH = 3


@dataclass(frozen=True, kw_only=True)
class Scout:
    """The parameters of a quick search for failing schedules.

    The search runs up to `schedules` random schedules, with `disturbances` disturbances such as crashes in each. The
    search looks for violations of the properties `wanted`. A schedule ends when any of the properties `judged` breaks.
    """

    protocol: Protocol
    settings: Configuration
    judged: tuple[str, ...]
    wanted: tuple[str, ...]
    schedules: int
    disturbances: int


@lru_cache(maxsize=1_000)  # shrinking asks for an equal schedule many times
def find(scout: Scout, seed: int, length: int) -> bytes:
    """Return the enabled events of a schedule that breaks one of the scout's `wanted` properties.

    No other property in the scout's `judged` breaks earlier in the schedule. If the search found schedules for several
    properties, the function draws one of these properties. It draws a property with few schedules more often. If the
    search found nothing, the function returns a balanced schedule with about `length` enabled events.
    """
    draw = random.Random(seed)
    start = Execution(scout.protocol, scout.settings)
    judged = set_of(scout.judged)
    found: dict[str, list[bytes]] = {name: [] for name in scout.wanted}
    for _ in range(scout.schedules):
        happened, broken = _follow(_plan(draw, start, scout.disturbances), start.copy(), judged)
        if broken in found:
            found[broken].append(happened)
            if all(len(failing) >= _ENOUGH for failing in found.values()):
                break
    broken_ones = [name for name in scout.wanted if found[name]]
    if not broken_ones:
        return balanced(draw, start, start.alphabet(), length)
    (name,) = draw.choices(broken_ones, [1 / len(found[name]) for name in broken_ones])

    def failing(events: bytes) -> bytes | None:
        happened, broken = _follow(((event,) for event in events), start.copy(), judged)
        return happened if broken == name else None

    return min((shortest(each, failing) for each in sorted(found[name], key=len)[:_ENOUGH]), key=len)


def _plan(draw: random.Random, start: Execution, disturbances: int) -> list[Sequence[int]]:
    """Return a plan for a schedule: alternative events for each step. A step applies the first enabled alternative.

    Most steps have a single alternative, an event of progress. A few steps have many disturbances in a random order.
    About half of the verbs of disturbances are left out (swarm testing, Groce et al. 2012).
    """
    alphabet = start.alphabet()
    drawn = {verb_of(event) for event in alphabet}
    verbs = [verb for verb in Verb if verb in drawn or not verb.is_particular]
    left_out = {verb for verb in verbs if draw.random() < 0.5}.difference(PROGRESS)
    progress = [(event,) for event in alphabet if verb_of(event) in PROGRESS]
    disturbing = [event for event in alphabet if verb_of(event) not in left_out.union(PROGRESS)]
    plan: list[Sequence[int]] = list(draw.choices(progress, k=_TRIES * start.settings.replicas))
    for moment in draw.sample(range(len(plan)), disturbances):
        plan[moment] = draw.sample(disturbing, len(disturbing))
    return plan


def _follow(plan: Iterable[Sequence[int]], execution: Execution, judged: int) -> tuple[bytes, str | None]:
    """Run a plan until a property breaks. Returns the events that happened, and the name of the property or None.

    The function checks the properties in AT_END only after the last event.
    """
    happened = bytearray()
    for alternatives in plan:
        for event in filter(execution.apply, alternatives):
            happened.append(event)
            broken = first_broken(execution, judged & ~AT_END)
            if broken:
                return bytes(happened), broken
            break
    return bytes(happened), first_broken(execution, judged)
