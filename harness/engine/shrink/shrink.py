"""Shorten a failing schedule of any length to a few events that break the same property.

Delta debugging takes a fraction of a second, and Hypothesis (simplest.py) a few seconds. Neither proves that the result
is a shortest schedule. Such a proof needs an exhaustive search (certificates.py).
"""

from collections.abc import Sequence

from epochfuzz.harness.engine.shrink.simplest import simplest
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.model import Bounds, Protocol, Settings
from epochfuzz.strategies.delta_debugging import delta_debugged

_MOST_ATTEMPTS = 10_000


class DoesNotBreak(ValueError):
    """The schedule to shorten does not break the property."""


def breaking_prefix(
    schedule: bytes, protocol: Protocol, settings: Settings, wanted: int, holding: Sequence[Protocol] = ()
) -> bytes | None:
    """Return the enabled events of a schedule up to the first event that breaks a wanted property.

    Returns None if no event breaks a wanted property. A property that is checked at the end can break only after the
    last event. With `holding` protocols, the result is None if a holding protocol breaks a property at that event or
    before. The event counts only if no holding protocol would break a property at the end of a schedule that ends with
    the event. An event is enabled if `protocol` or a holding protocol enables it.
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
    """Shorten a schedule as far as Hypothesis can. The result still breaks a wanted property.

    Under the `holding` protocols the result breaks no property. Raises DoesNotBreak if the given schedule breaks
    no wanted property.
    """
    failing = trim(schedule, protocol, settings, wanted, holding)

    def fails(events: bytes) -> bool:
        return breaking_prefix(events, protocol, settings, wanted, holding) is not None

    shrunk = simplest(failing, list(Execution(protocol, settings).alphabet()), fails, _MOST_ATTEMPTS)
    return breaking_prefix(shrunk, protocol, settings, wanted, holding) or failing


def trim(
    schedule: bytes, protocol: Protocol, settings: Settings, wanted: int, holding: Sequence[Protocol] = ()
) -> bytes:
    """Delete events from a schedule by delta debugging. The result still breaks a wanted property.

    This is fast. Hypothesis (`shrink`) deletes events too, but takes a millisecond for each attempt. Hypothesis can
    also replace events, and make several deletions that work only together. Raises DoesNotBreak.
    """

    def breaking(events: bytes) -> bytes | None:
        return breaking_prefix(events, protocol, settings, wanted, holding)

    failing = breaking(schedule)
    if failing is None:
        raise DoesNotBreak
    return delta_debugged(failing, breaking)


def needed_bounds(schedule: bytes, protocol: Protocol, settings: Settings) -> Bounds:
    """Return the lowest bounds within which every event of a schedule is enabled.

    The function lowers the first bound as far as possible, then the next. It replays the schedule instead of counting
    events, because a record that is sent again may need room for one more record in a log.
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
