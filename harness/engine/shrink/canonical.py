"""Give one form to all schedules that differ only in the names of replicas and the order of independent events.

The result of shrinking depends on the failure at the start. One failure shrinks to `produce A` before `crash B`,
another to the reverse order, a third to the same events with C. These schedules are a single finding. With a canonical
form, epochfuzz lists the finding once, and recognizes it in a corpus.
"""

from collections.abc import Callable
from itertools import permutations

from epochfuzz.harness.engine.shrink.shrink import breaking_prefix
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.model import Protocol, Settings


def canonical(schedule: bytes, protocol: Protocol, settings: Settings, wanted: int) -> bytes:
    """Return the simplest equivalent of a schedule that breaks a wanted property with its last event.

    The first replica keeps its name, because it leads at the start of every schedule. The function tries all names of
    the other replicas and takes the least schedule. It compares schedules event by event, in the model's order.
    """
    rank = protocol.model.events.in_order(settings.alphabet()).index
    followers = range(1, settings.replicas)
    same = {_in_order(_renamed(schedule, (0, *names)), protocol, settings, rank) for names in permutations(followers)}
    good = [each for each in same if breaking_prefix(each, protocol, settings, wanted) == each]
    return min(good, key=lambda each: [rank(event) for event in each], default=schedule)


def _renamed(schedule: bytes, names: tuple[int, ...]) -> bytes:
    return bytes(event & ~7 | names[event & 7] for event in schedule)


def _in_order(schedule: bytes, protocol: Protocol, settings: Settings, rank: Callable[[int], int]) -> bytes:
    """Sort the independent events of a schedule by `rank`.

    Each position has the event of the lowest rank that can move there. The result is the lexicographic normal form of a
    trace (Anisimov and Knuth, 1979), with one difference: here independence depends on the state. Two events are
    independent in a state if they lead to the same result in either order.
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
    """Return the schedules that result from moving an event to the front, and the unchanged schedule.

    Only an event that is independent of all events before it can move to the front.
    """
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
    """Return whether two events lead to the same state in either order."""
    one, other = start.copy(), start.copy()
    if not (other.apply(second) and other.apply(first)):
        return False
    one.apply(first)
    one.apply(second)
    variables = (field.name for field in one.state.table.variables if field.name != "goals")
    return all(getattr(one.state, name) == getattr(other.state, name) for name in variables)
