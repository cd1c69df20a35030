"""Shorten a failing schedule quickly, before Hypothesis shrinks it. The caller defines when a schedule fails.

Hypothesis deletes events too, but takes a millisecond for each attempt. The strength of Hypothesis is the replacement
of events.
"""

from collections.abc import Callable, Iterator
from itertools import combinations

from epochfuzz.model.kafka.vocabulary.event_codes import encode, replica_of
from epochfuzz.model.kafka.vocabulary.events import verb_of
from epochfuzz.strategies.delta_debugging import delta_debugged

# A function that returns the part of a schedule that is needed for its failure, or None if the schedule does not fail.
Failing = Callable[[bytes], bytes | None]


def shortest(schedule: bytes, failing: Failing) -> bytes:
    """Shorten a failing schedule as far as possible.

    The function removes runs of neighbouring events, renames replicas, and removes pairs of events that need not be
    neighbours.
    """
    schedule = delta_debugged(schedule, failing)
    for other in (*renamings(schedule), *without_pairs(schedule)):
        shorter = failing(other)
        if shorter is not None and len(shorter) < len(schedule):
            return shortest(shorter, failing)
    return schedule


def without_pairs(schedule: bytes) -> Iterator[bytes]:
    """Yield each schedule that results from the removal of two events, such as a crash and the restart after it."""
    for i, j in combinations(range(len(schedule)), 2):
        yield schedule[:i] + schedule[i + 1 : j] + schedule[j + 1 :]


def renamings(schedule: bytes) -> Iterator[bytes]:
    """Yield the schedule with two replicas exchanged or with one replaced by the other, for all pairs of replicas.

    This can save events: replica A leads from the start, and any other replica must be elected before it leads.
    """
    for a, b in combinations(range(max(map(replica_of, schedule), default=0) + 1), 2):
        for names in ({a: b, b: a}, {b: a}, {a: b}):
            yield bytes(encode(verb_of(e), names.get(replica_of(e), replica_of(e))) for e in schedule)
