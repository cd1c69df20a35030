"""Shrink: from a failure of any length to a reproducer of few events, and the certificate that none is shorter.

Complete search looks at every schedule that is shorter than the failure, nearest first. What it finds is minimal, and
the same whatever it was looked for from. Where it runs out of memory, Hypothesis shrinks the failure (simplest.py), and
fewer levels remain to be searched.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from epochfuzz.harness.delta_debugging import delta_debugged
from epochfuzz.harness.search import explore
from epochfuzz.harness.search.simplest import simplest
from epochfuzz.model import properties
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.execution import Execution
from epochfuzz.model.protocols import Protocol

_MOST_ATTEMPTS = 10_000
_QUICK = 8  # the part of the memory with which to begin
_SMALL_BOUNDS = ((1, 1), (1, 2), (2, 2), (1, 3), (2, 3))  # records and epoch changes


class DoesNotBreak(ValueError):
    """The schedule to be shrunk does not break the property."""


@dataclass(frozen=True)
class Reproducer:
    """A schedule that breaks a property, every event of it enabled.

    `certified_minimal`: complete search found nothing shorter for that protocol, property and configuration.
    Otherwise `searched` is the length below which nothing shorter exists, for memory ended the search there.
    """

    schedule: bytes
    certified_minimal: bool
    searched: int


def breaking_prefix(
    schedule: bytes, protocol: Protocol, settings: Configuration, wanted: int, holding: Sequence[Protocol] = ()
) -> bytes | None:
    """The enabled events of a schedule up to where a wanted property first broke; None where none did.

    None also where one of the protocols `holding` broke any property by then. They must converge from there; where
    they do not, a later event at which they do, and the wanted property is still broken, will do.
    """
    execution = Execution(protocol, settings)
    others = [Execution(other, settings) for other in holding]
    applied = bytearray()
    for event in schedule:
        enabled = execution.apply(event)
        for other in others:
            enabled |= other.apply(event)
        if enabled:
            applied.append(event)
            if any(other.broken() for other in others):
                return None
            if execution.broken() & wanted and _end_well(others):
                return bytes(applied)
    if wanted & properties.AT_END and execution.broken_at_end() & wanted and _end_well(others):
        return bytes(applied)
    return None


def _end_well(others: Sequence[Execution]) -> bool:
    return not any(other.broken_at_end() for other in others)


def reproduce(
    schedule: bytes,
    protocol: Protocol,
    settings: Configuration,
    wanted: int,
    memory: int = explore.DEFAULT_MEMORY,
    report: Callable[[explore.SearchProgress], None] = lambda progress: None,
) -> Reproducer:
    """A reproducer from a schedule that breaks a wanted property. Raises DoesNotBreak."""
    found = within_reach(schedule, protocol, settings, wanted, memory, report)
    if found is not None:
        return found
    shrunk = shrink(schedule, protocol, settings, wanted)
    return certify_beyond_reach(shrunk, protocol, settings, wanted, memory, report)


def within_reach(
    schedule: bytes,
    protocol: Protocol,
    settings: Configuration,
    wanted: int,
    memory: int = explore.DEFAULT_MEMORY,
    report: Callable[[explore.SearchProgress], None] = lambda progress: None,
) -> Reproducer | None:
    """The minimal reproducer, where complete search has it within an eighth of the memory. Raises DoesNotBreak."""
    return _certified_quickly(trim(schedule, protocol, settings, wanted), protocol, settings, wanted, memory, report)


def all_within_reach(
    schedules: Mapping[int, bytes], protocol: Protocol, settings: Configuration, memory: int = explore.DEFAULT_MEMORY
) -> dict[int, Reproducer | None]:
    """For each of some properties what `within_reach` makes of its schedule. One search serves those it can.

    Raises DoesNotBreak.
    """
    failing = {bit: trim(schedule, protocol, settings, bit) for bit, schedule in schedules.items()}
    depths = {bit: len(each) - 1 for bit, each in failing.items() if not bit & properties.AT_END}
    deepest = max(depths.values(), default=0)
    ended = explore.explore_each(protocol, settings.bounded_by(deepest), depths, memory // _QUICK) if depths else {}
    return {
        bit: _minimal(each, ended[bit]) if bit in ended and not ended[bit].memory_exhausted
        else None if depths.get(bit) == deepest
        else within_reach(each, protocol, settings, bit, memory)
        for bit, each in failing.items()
    }  # fmt: skip


def shrink(
    schedule: bytes, protocol: Protocol, settings: Configuration, wanted: int, holding: Sequence[Protocol] = ()
) -> bytes:
    """A schedule as short as Hypothesis can make it that still breaks a wanted property. Raises DoesNotBreak."""
    failing = trim(schedule, protocol, settings, wanted, holding)

    def fails(events: bytes) -> bool:
        return breaking_prefix(events, protocol, settings, wanted, holding) is not None

    shrunk = simplest(failing, list(Execution(protocol, settings).alphabet()), fails, _MOST_ATTEMPTS)
    return breaking_prefix(shrunk, protocol, settings, wanted, holding) or failing


def trim(
    schedule: bytes, protocol: Protocol, settings: Configuration, wanted: int, holding: Sequence[Protocol] = ()
) -> bytes:
    """A schedule without runs of events that it breaks a wanted property without. Raises DoesNotBreak.

    Hypothesis deletes events too, but takes a millisecond for each attempt; what it is better at is events in place of
    others, and deletions that go together.
    """

    def breaking(events: bytes) -> bytes | None:
        return breaking_prefix(events, protocol, settings, wanted, holding)

    failing = breaking(schedule)
    if failing is None:
        raise DoesNotBreak
    return delta_debugged(failing, breaking)


def certify(
    schedule: bytes,
    protocol: Protocol,
    settings: Configuration,
    wanted: int,
    memory: int = explore.DEFAULT_MEMORY,
    report: Callable[[explore.SearchProgress], None] = lambda progress: None,
) -> Reproducer:
    """Search every shorter schedule; one that breaks a wanted property takes the place of the one given."""
    asked = schedule, protocol, settings, wanted, memory, report
    return _certified_quickly(*asked) or certify_beyond_reach(*asked)


def certify_beyond_reach(
    schedule: bytes,
    protocol: Protocol,
    settings: Configuration,
    wanted: int,
    memory: int = explore.DEFAULT_MEMORY,
    report: Callable[[explore.SearchProgress], None] = lambda progress: None,
) -> Reproducer:
    """The same, where an eighth of the memory (bytes) is known not to be enough.

    Most of what is short is short of records and elections too, so a shorter schedule is looked for within small bounds
    first: then all of the memory reaches further.
    """
    for records, epochs in _SMALL_BOUNDS:
        small = replace(settings, records=min(records, settings.records), epochs=min(epochs, settings.epochs))
        found = _search(len(schedule), protocol, small, wanted, memory // _QUICK, report).shortest
        schedule = schedule if found is None else found
    return _minimal(schedule, _search(len(schedule), protocol, settings, wanted, memory, report))


def _certified_quickly(
    schedule: bytes,
    protocol: Protocol,
    settings: Configuration,
    wanted: int,
    memory: int,
    report: Callable[[explore.SearchProgress], None],
) -> Reproducer | None:
    """The minimal reproducer, where complete search has it within an eighth of the memory."""
    result = _search(len(schedule), protocol, settings, wanted, memory // _QUICK, report)
    return None if result.memory_exhausted else _minimal(schedule, result)


def _minimal(schedule: bytes, result: explore.Exploration) -> Reproducer:
    """What a search for anything shorter than a schedule says of it."""
    if result.shortest is not None:
        return Reproducer(result.shortest, True, len(result.shortest))
    return Reproducer(schedule, not result.memory_exhausted, result.depth + 1)


def _search(
    length: int,
    protocol: Protocol,
    settings: Configuration,
    wanted: int,
    memory: int,
    report: Callable[[explore.SearchProgress], None],
) -> explore.Exploration:
    """Search for a schedule that is shorter than `length`."""
    depth = length - 1
    return explore.explore(protocol, settings.bounded_by(depth), wanted, depth=depth, memory=memory, report=report)
