"""Shrink a failure of any length to a schedule of few events that fails in the same way.

Delta debugging takes a fraction of a second, and Hypothesis (simplest.py) takes a few seconds. Neither proves that the
result is the shortest. Only exhaustive search proves that no shorter schedule exists (certificates.py).
"""

from collections.abc import Sequence

from epochfuzz.harness.engine.shrink.simplest import simplest
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.model import Bounds, Protocol, Settings
from epochfuzz.strategies.delta_debugging import delta_debugged

_MOST_ATTEMPTS = 10_000


class DoesNotBreak(ValueError):
    """The schedule to be shrunk does not break the property."""


def breaking_prefix(
    schedule: bytes, protocol: Protocol, settings: Settings, wanted: int, holding: Sequence[Protocol] = ()
) -> bytes | None:
    """Return the enabled events of a schedule up to the first event that breaks a wanted property.

    A property that is checked at the end can be broken only after the last event. Returns None if no event breaks a
    wanted property, or if a protocol in `holding` breaks any property before that event or at it. These protocols must
    also pass the checks at the end, as if the schedule ended there. If they don't, the function looks for a later event
    where they do and a wanted property is broken.
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
    if wanted & execution.model.judgement.at_end and execution.broken_at_end() & wanted and _end_well(others):
        return bytes(applied)
    return None


def _end_well(others: Sequence[Execution]) -> bool:
    return not any(other.broken_at_end() for other in others)


def shrink(
    schedule: bytes, protocol: Protocol, settings: Settings, wanted: int, holding: Sequence[Protocol] = ()
) -> bytes:
    """Shorten a schedule with Hypothesis, as far as it can. The result still breaks a wanted property.

    Raises DoesNotBreak.
    """
    failing = trim(schedule, protocol, settings, wanted, holding)

    def fails(events: bytes) -> bool:
        return breaking_prefix(events, protocol, settings, wanted, holding) is not None

    shrunk = simplest(failing, list(Execution(protocol, settings).alphabet()), fails, _MOST_ATTEMPTS)
    return breaking_prefix(shrunk, protocol, settings, wanted, holding) or failing


def trim(
    schedule: bytes, protocol: Protocol, settings: Settings, wanted: int, holding: Sequence[Protocol] = ()
) -> bytes:
    """Delete runs of events that a schedule does not need to break a wanted property.

    Raises DoesNotBreak.

    Hypothesis deletes events too, but takes a millisecond for each attempt. Its strengths are the replacement of
    events, and deletions that must happen together.
    """

    def breaking(events: bytes) -> bytes | None:
        return breaking_prefix(events, protocol, settings, wanted, holding)

    failing = breaking(schedule)
    if failing is None:
        raise DoesNotBreak
    return delta_debugged(failing, breaking)


def needed_bounds(schedule: bytes, protocol: Protocol, settings: Settings) -> Bounds:
    """Return the least bounds that enable every event of a schedule. The first bound is lowered first, then the second.

    Counting events would not suffice, because a record that is sent again may need room for one more record in the log.
    """

    def is_enabled(bounds: Bounds) -> bool:
        execution = Execution(protocol, settings.within(bounds))
        return all(execution.apply(event) for event in schedule)

    needed = settings.bounds
    for name, most in needed._asdict().items():
        least = settings.least_bounds._asdict()[name]
        tried = (type(needed)(**needed._asdict() | {name: n}) for n in range(least, most + 1))
        needed = next(each for each in tried if is_enabled(each))
    return needed
