"""Replay schedules in plain tests, and find shortest schedules that break a property. Events are written as text.

>>> run = run_schedule(["produce A", "fetch B", "receive B"], "kip-320")
>>> run.broken, run.steps[-1].state.leo[1]
([], 1)
"""

from collections.abc import Iterable
from typing import Any

from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.model.kafka.contract.properties import named
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, EventError, parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol


class NoSuchSchedule(AssertionError):
    """The search found no schedule that breaks the property within the bounds, or it ran out of memory."""


def run_schedule(events: Iterable[str], protocol: str, **settings: Any) -> Run:
    """Replay a schedule under a protocol, and return the run. Each event is a text such as `fetch B`.

    `settings` are fields of Configuration. Raises EventError, ProtocolError or ConfigurationError, each a ValueError.
    """
    configuration = Configuration(**settings)
    schedule = parse_schedule(events)
    for number, event in enumerate(schedule, start=1):
        if replica_of(event) >= configuration.replicas:
            letter = REPLICA_NAMES[replica_of(event)]
            raise EventError(f"event {number} names replica {letter}, but there are {configuration.replicas} replicas")
    return replay(schedule, parse_protocol(protocol), configuration)


def minimal(protocol: str, property: str, **settings: Any) -> list[str]:
    """Return a shortest schedule that breaks a property under a protocol, found by exhaustive search.

    The bounds of the search are 3 records and 3 leader epoch changes, unless `settings` sets other bounds. Raises
    NoSuchSchedule if the search finds no schedule, and ValueError for an unknown protocol or property, or an invalid
    configuration.
    """
    wanted = named(property).bit
    parsed = parse_protocol(protocol)
    configuration = Configuration(**{"records": 3, "epochs": 3, **settings})

    from epochfuzz.harness.engine.explore.explore import explore  # imported on demand, because it loads Numba

    result = explore(parsed, configuration, wanted)
    if result.shortest is None and result.complete:
        raise NoSuchSchedule(f"{protocol} holds {property}: all {result.states:,} states within the bounds keep it")
    if result.shortest is None:
        raise NoSuchSchedule(
            f"memory ended the search: no schedule of up to {result.depth} events breaks {property} under {protocol}"
        )
    return schedule_texts(result.shortest)
