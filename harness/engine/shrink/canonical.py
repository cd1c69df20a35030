"""Canonical: one schedule for all that are the same but for the names of replicas and the order of independent events.

Shrinking ends where it began: one failure shrinks to `produce A` before `crash B`, another to the reverse, a third to
the same story of C. They are one finding, and this gives it one form, so that it is listed once and found again
in a corpus.
"""

from collections.abc import Callable
from itertools import permutations

from epochfuzz.harness.engine.shrink.shrink import breaking_prefix
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.model import Protocol, Settings


def canonical(schedule: bytes, protocol: Protocol, settings: Settings, wanted: int) -> bytes:
    """Return the simplest schedule that is the same as this one, which breaks a wanted property with its last event.

    The first replica keeps its name, for schedules start from it. Of those that differ in names, the one whose events
    come soonest in the order of the model is taken, read from the left.
    """
    rank = protocol.model.events.in_order(settings.alphabet()).index
    followers = range(1, settings.replicas)
    same = {_in_order(_renamed(schedule, (0, *names)), protocol, settings, rank) for names in permutations(followers)}
    good = [each for each in same if breaking_prefix(each, protocol, settings, wanted) == each]
    return min(good, key=lambda each: [rank(event) for event in each], default=schedule)


def _renamed(schedule: bytes, names: tuple[int, ...]) -> bytes:
    return bytes(event & ~7 | names[event & 7] for event in schedule)


def _in_order(schedule: bytes, protocol: Protocol, settings: Settings, rank: Callable[[int], int]) -> bytes:
    """Return the schedule with independent events in order: at each place the simplest event that can come so early.

    That is the lexicographic normal form of a trace (Anisimov and Knuth, 1979), but for independence, which is here
    not a relation between events but holds where both orders lead to the same state.
    """
    execution = Execution(protocol, settings)
    rest, ordered = schedule, bytearray()
    while rest:
        rest = min(_brought_forward(execution, rest), key=lambda each: rank(each[0]))
        execution.apply(rest[0])
        ordered.append(rest[0])
        rest = rest[1:]
    return bytes(ordered)


def _brought_forward(start: Execution, schedule: bytes) -> list[bytes]:
    """Return the schedule with each event in front that can get there past all before it."""
    executions = [start.copy()]
    for event in schedule[:-1]:
        executions.append(executions[-1].copy())
        executions[-1].apply(event)
    forward = [schedule]
    for last in range(1, len(schedule)):
        place = last
        while place and _independent(executions[place - 1], schedule[place - 1], schedule[last]):
            place -= 1
        if place == 0:
            forward.append(schedule[last : last + 1] + schedule[:last] + schedule[last + 1 :])
    return forward


def _independent(start: Execution, first: int, second: int) -> bool:
    """Whether two events lead to the same state in either order."""
    one, other = start.copy(), start.copy()
    if not (other.apply(second) and other.apply(first)):
        return False
    one.apply(first)
    one.apply(second)
    variables = (field.name for field in one.state.table.variables if field.name != "goals")
    return all(getattr(one.state, name) == getattr(other.state, name) for name in variables)
