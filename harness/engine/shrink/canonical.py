"""Bring schedules that differ only in replica names and in the order of independent events into one form.

The result of shrinking depends on the schedule that is shrunk. One schedule shrinks to `produce A` before `crash B`,
another to the reverse order, a third to the same events with C. These schedules are one finding. In canonical form they
are equal, so epochfuzz lists the finding once, and recognizes it in a corpus.
"""

from collections.abc import Callable
from itertools import permutations

from epochfuzz.harness.engine.shrink.shrink import breaking_prefix
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.model import Events, Protocol, Settings


def canonical(schedule: bytes, protocol: Protocol, settings: Settings, wanted: int) -> bytes:
    """Return the canonical form of a schedule that breaks a wanted property with its last event.

    The function tries all renamings of the replicas except the first one, which leads at the start of every schedule.
    After each renaming, it sorts independent events in the model's order. It returns the least result, in this order,
    that breaks the property. If no result breaks the property, it returns the given schedule.
    """
    rank = protocol.model.events.in_order(settings.alphabet()).index
    followers = range(1, settings.replicas)
    same = {
        _in_order(_renamed(schedule, (0, *names), protocol.model.events), protocol, settings, rank)
        for names in permutations(followers)
    }
    good = [each for each in same if breaking_prefix(each, protocol, settings, wanted) == each]
    return min(good, key=lambda each: [rank(event) for event in each], default=schedule)


def _renamed(schedule: bytes, names: tuple[int, ...], events: Events) -> bytes:
    return bytes(events.encode(events.verb_number(event), names[events.replica_of(event)]) for event in schedule)


def _in_order(schedule: bytes, protocol: Protocol, settings: Settings, rank: Callable[[int], int]) -> bytes:
    """Sort independent events of a schedule by `rank`.

    Each position gets the event of the lowest rank that can move there. This is the lexicographic normal form of a
    trace (Anisimov and Knuth, 1979), except that independence depends on the state: two events are independent in a
    state if both orders lead to the same state.
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
    """Return the schedules that result from moving one event to the front, and the unchanged schedule.

    An event can move to the front only if it is independent of all events before it.
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
    """Return whether two events can be exchanged in a state.

    The events `second` and then `first` must be enabled, and lead to the same state as `first` and then `second`.
    """
    one, other = start.copy(), start.copy()
    if not (other.apply(second) and other.apply(first)):
        return False
    one.apply(first)
    one.apply(second)
    variables = (field.name for field in one.state.table.variables if field.name != "goals")
    return all(getattr(one.state, name) == getattr(other.state, name) for name in variables)
