"""Shrink a failing schedule by running shorter schedules on the adapter.

The result is not proven shortest, because an exhaustive search would have to run the adapter millions of times. The
passes (ways to make a schedule shorter) that save the most events per attempt come first. The last passes escape from
local minima, such as a schedule with an election and a second election that undoes the first election.
"""

import time
from collections.abc import Callable, Iterator

from epochfuzz.harness.conform.run.drive import ConformanceFailure
from epochfuzz.harness.engine.shrink.simplest import simplest
from epochfuzz.strategies.delta_debugging import delta_debugged
from epochfuzz.strategies.trimming import renamings, without_pairs

MOST_ATTEMPTS = 3_000
MOST_SECONDS = 30.0  # time limit; slow adapters and failures by time-out reach it
FOR_SLOW = 300  # schedules of a slow adapter, see limit_for
_WINDOW = 3

Attempt = Callable[[bytes], ConformanceFailure | None]
Report = Callable[[str], None]


def limit_for(limit: float, seconds: float, schedules: int, for_slow: int = FOR_SLOW) -> float:
    """Return the time limit for shrinking in seconds: `limit`, or the time of `for_slow` schedules if that is longer.

    A run of `schedules` schedules took `seconds`.
    """
    return max(limit, for_slow * seconds / max(1, schedules))


def shrink(
    sighting: ConformanceFailure,
    attempt: Attempt,
    alphabet: bytes,
    enabled: Callable[[bytes], bytes],
    seconds: float = MOST_SECONDS,
    report: Report = lambda doing: None,
) -> ConformanceFailure:
    """Run shorter schedules for at most `seconds`, and return the shortest failure found.

    `attempt` runs a schedule, and returns a failure with the signature of `sighting`, or None. `alphabet` has the
    events that may replace other events. `enabled` removes the events of a schedule that are not enabled in the model,
    because a renamed or replaced event may disable later events. `enabled` always keeps the last event, because the
    failure may be that the adapter applies this event although it is not enabled. `report` is called with the progress.
    """
    attempts = _Attempts(sighting, attempt, seconds, report)

    def renamed_and_shorter(schedule: bytes) -> Iterator[bytes]:
        for renamed in map(enabled, renamings(schedule)):
            yield renamed
            yield from _without_one(renamed)

    def replacements(schedule: bytes) -> Iterator[bytes]:
        candidates = map(enabled, _replacements(schedule, alphabet))
        return (candidate for candidate in candidates if len(candidate) < len(schedule))

    while not attempts.exhausted:
        before = attempts.best.sent
        while delta_debugged(attempts.best.sent, attempts.better) != before:
            before = attempts.best.sent
        for shorter in (without_pairs, renamed_and_shorter, replacements):
            while any(map(attempts.fails_better, shorter(attempts.best.sent))):
                pass
        if attempts.best.sent == before:
            simplest(attempts.best.sent, list(alphabet), attempts.fails, MOST_ATTEMPTS)
            if attempts.best.sent == before:
                break
    return attempts.best


class _Attempts:
    """Runs each schedule at most once, and remembers the best failure: the one with the fewest events.

    The number of attempts and the time are limited.
    """

    def __init__(self, sighting: ConformanceFailure, attempt: Attempt, seconds: float, report: Report) -> None:
        self.best = sighting
        self._attempt = attempt
        self._report = report
        self._known: dict[bytes, bool] = {sighting.sent: True}
        self._end = time.monotonic() + seconds

    @property
    def exhausted(self) -> bool:
        return len(self._known) > MOST_ATTEMPTS or time.monotonic() > self._end

    def fails(self, schedule: bytes) -> bool:
        """Return whether a schedule fails, and update `best` if its failure is the best so far.

        Each schedule runs once. Once a limit is reached, a schedule that has not run counts as passing.
        """
        if schedule not in self._known and not self.exhausted:
            found = self._attempt(schedule)
            self._known[schedule] = found is not None
            if found is not None and _is_better(found.sent, self.best.sent):
                self.best = found
            self._report(f"shrinking a failure: {len(self.best.sent)} events left at attempt {len(self._known) - 1:,}")
        return self._known.get(schedule, False)

    def fails_better(self, schedule: bytes) -> bool:
        """Return whether a schedule fails, and its failure is better than `best`. `best` then becomes this failure."""
        before = self.best.sent
        return self.fails(schedule) and self.best.sent != before

    def better(self, schedule: bytes) -> bytes | None:
        """Run a schedule. If its failure is better than `best`, return the events sent up to the failure, else None."""
        return self.best.sent if self.fails_better(schedule) else None


def _is_better(schedule: bytes, other: bytes) -> bool:
    return (len(schedule), schedule) < (len(other), other)


def _without_one(schedule: bytes) -> Iterator[bytes]:
    """Yield variants of a schedule, each without one event. The first variant lacks the last event."""
    for at in reversed(range(len(schedule))):
        yield schedule[:at] + schedule[at + 1 :]


def _replacements(schedule: bytes, alphabet: bytes) -> Iterator[bytes]:
    """Yield variants of a schedule with one event in place of up to three consecutive events."""
    for size in range(_WINDOW, 0, -1):
        for start in range(len(schedule) - size + 1):
            for event in alphabet:
                yield schedule[:start] + bytes([event]) + schedule[start + size :]
