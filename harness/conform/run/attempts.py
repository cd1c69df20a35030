"""Shrink: from a schedule that shows a fault to one as short as can be found, running the subject each time.

Nothing proves it minimal: an exhaustive search would have to run the subject millions of times. The passes go from
those that save most for an attempt to those that get out of a rut, such as an election and another back.
"""

import time
from collections.abc import Callable, Iterator
from itertools import combinations

from epochfuzz.harness.conform.run.drive import Sighting
from epochfuzz.harness.engine.shrink.delta_debugging import delta_debugged
from epochfuzz.harness.engine.shrink.simplest import simplest
from epochfuzz.model.kafka.vocabulary.events import encode, replica_of, verb_of

MOST_ATTEMPTS = 3_000
MOST_SECONDS = 30.0  # for subjects that are slow, or that have to time out to fail
_WINDOW = 3

Attempt = Callable[[bytes], Sighting | None]


def shrink(
    sighting: Sighting,
    attempt: Attempt,
    alphabet: bytes,
    enabled: Callable[[bytes], bytes],
    seconds: float = MOST_SECONDS,
) -> Sighting:
    """Yield the shortest sighting found by running shorter schedules, for so many seconds.

    `attempt` runs a schedule and says whether it fails in the same way. `enabled` guesses which events of a schedule
    are enabled, and gives those and the last one: where one is put in the place of others, more may have become idle.
    """
    attempts = _Attempts(sighting, attempt, seconds)

    def renamings(schedule: bytes) -> Iterator[bytes]:
        for renamed in map(enabled, _renamings(schedule)):
            yield renamed
            yield from _without_one(renamed)

    def replacements(schedule: bytes) -> Iterator[bytes]:
        candidates = map(enabled, _replacements(schedule, alphabet))
        return (candidate for candidate in candidates if len(candidate) < len(schedule))

    while not attempts.exhausted:
        before = attempts.best.sent
        while delta_debugged(attempts.best.sent, attempts.better) != before:
            before = attempts.best.sent
        for shorter in (_pairs, renamings, replacements):
            while any(map(attempts.fails_better, shorter(attempts.best.sent))):
                pass
        if attempts.best.sent == before:
            simplest(attempts.best.sent, list(alphabet), attempts.fails, MOST_ATTEMPTS)
            if attempts.best.sent == before:
                break
    return attempts.best


class _Attempts:
    """Runs each schedule once, remembers the best that failed, and runs no more when it has been enough."""

    def __init__(self, sighting: Sighting, attempt: Attempt, seconds: float) -> None:
        self.best = sighting
        self._attempt = attempt
        self._known: dict[bytes, bool] = {sighting.sent: True}
        self._end = time.monotonic() + seconds

    @property
    def exhausted(self) -> bool:
        return len(self._known) > MOST_ATTEMPTS or time.monotonic() > self._end

    def fails(self, schedule: bytes) -> bool:
        """Whether a schedule fails, as far as is known when there are no more attempts."""
        if schedule not in self._known and not self.exhausted:
            found = self._attempt(schedule)
            self._known[schedule] = found is not None
            if found is not None and _is_better(found.sent, self.best.sent):
                self.best = found
        return self._known.get(schedule, False)

    def fails_better(self, schedule: bytes) -> bool:
        """Whether a schedule fails that is better than the best before."""
        before = self.best.sent
        return self.fails(schedule) and self.best.sent != before

    def better(self, schedule: bytes) -> bytes | None:
        """Return the best there is now if a schedule is, or shows, one that is better than the best before."""
        return self.best.sent if self.fails_better(schedule) else None


def _is_better(schedule: bytes, other: bytes) -> bool:
    return (len(schedule), schedule) < (len(other), other)


def _without_one(schedule: bytes) -> Iterator[bytes]:
    """Without any one event, the last first."""
    for at in reversed(range(len(schedule))):
        yield schedule[:at] + schedule[at + 1 :]


def _pairs(schedule: bytes) -> Iterator[bytes]:
    """Without any two events, such as a crash and the restart that is due to it."""
    for i, j in combinations(range(len(schedule)), 2):
        yield schedule[:i] + schedule[i + 1 : j] + schedule[j + 1 :]


def _renamings(schedule: bytes) -> Iterator[bytes]:
    """With one replica in the place of another: A leads from the start, any other has to be elected first."""
    for a, b in combinations(range(max(map(replica_of, schedule), default=-1) + 1), 2):
        for names in ({a: b, b: a}, {b: a}, {a: b}):
            yield bytes(encode(verb_of(e), names.get(replica_of(e), replica_of(e))) for e in schedule)


def _replacements(schedule: bytes, alphabet: bytes) -> Iterator[bytes]:
    """With one event in the place of up to three."""
    for size in range(_WINDOW, 0, -1):
        for start in range(len(schedule) - size + 1):
            for event in alphabet:
                yield schedule[:start] + bytes([event]) + schedule[start + size :]
