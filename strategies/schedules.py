"""Hypothesis strategies for events and schedules, in the byte format of model/kafka/vocabulary/events.py.

A drawn event may have no effect at its position, because it is not enabled. So shrinking can remove or replace any
event of a schedule, and the result is a valid schedule.
"""

from functools import cache

from hypothesis import strategies as st

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import PROGRESS, in_order, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


@cache
def simplest_first(settings: Configuration) -> bytes:
    """Return the events that the settings allow, with the events that shrinking prefers first."""
    return in_order(settings.alphabet())


def single_events(settings: Configuration) -> st.SearchStrategy[int]:
    """Return a strategy for one event that the settings allow."""
    return st.sampled_from(simplest_first(settings))


def schedules(settings: Configuration, *, max_size: int = 50) -> st.SearchStrategy[bytes]:
    """Return a strategy for schedules of random events. Few of the events are enabled, so most schedules change little.

    Examples shrink toward shorter schedules.
    """
    return st.lists(single_events(settings), max_size=max_size).map(bytes)


@st.composite
def lively_schedules(draw: st.DrawFn, protocol: Protocol, settings: Configuration, *, max_size: int = 40) -> bytes:
    """Draw a schedule of events that are mostly enabled under the protocol and make progress.

    All lengths up to `max_size` are equally likely.
    """
    execution = Execution(protocol, settings)
    schedule = bytearray()
    for _ in range(draw(st.integers(0, max_size))):
        schedule.append(draw(st.sampled_from(_likely(execution, simplest_first(settings)))))
        execution.apply(schedule[-1])
    return bytes(schedule)


def _likely(execution: Execution, alphabet: bytes) -> list[int]:
    """Return a list of events to sample from: every event once, and each enabled event several more times."""
    more = []
    scratch = execution.copy()
    for event in alphabet:
        if scratch.apply(event):
            more += [event] * (12 if verb_of(event) in PROGRESS else 3)
            scratch = execution.copy()
    return [*alphabet, *more]
