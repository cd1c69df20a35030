"""Fuzz: walk random schedules in this process, and turn what they break into minimal reproducers."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from harness import expectations, shrink
from harness.engine.walk import Failure, Tally, Walker
from model import properties
from model.protocols import Protocol

BLOCK = 2_000
_CANDIDATES = 3  # failures worth shrinking where nothing proves the first reproducer minimal
CERTIFICATE_MEMORY = 1 << 30


@dataclass(frozen=True)
class Finding:
    """A property that a protocol breaks, with the shortest reproducer known.

    `seen` counts the schedules that broke it, `schedule` is the number of the one that was shrunk, from
    `shrunk_from` events. `known_flaw` says why it is not news, None where it is.
    """

    protocol: Protocol
    property: str
    reproducer: shrink.Reproducer
    seen: int
    schedule: int
    shrunk_from: int
    known_flaw: str | None


@dataclass(frozen=True)
class Walked:
    """The outcome of a walk: its tally, and how long it ran, compilation not counted."""

    tally: Tally
    seconds: float


def walk(
    walker: Walker,
    schedules: int | None,
    seconds: float | None,
    jobs: int,
    report: Callable[[Tally, float], None] = lambda tally, elapsed: None,
) -> Walked:
    """Walk a number of schedules, or for some seconds, on `jobs` threads. Threads change nothing in the tally."""
    walker.walk(0, 1)  # compile before the clock starts
    tally = Tally.empty(len(walker.protocols))
    started = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        blocks = _blocks(schedules, seconds, started)
        running: set[Future[Tally]] = set()
        for first, count in blocks:
            running.add(pool.submit(walker.walk, first, count))
            if len(running) >= 2 * jobs:
                running = _collect(running, tally)
                report(tally, time.monotonic() - started)
        while running:
            running = _collect(running, tally)
            report(tally, time.monotonic() - started)
    return Walked(tally, time.monotonic() - started)


def _blocks(schedules: int | None, seconds: float | None, started: float) -> Iterator[tuple[int, int]]:
    first = 0
    while (schedules is None or first < schedules) and (seconds is None or time.monotonic() - started < seconds):
        count = BLOCK if schedules is None else min(BLOCK, schedules - first)
        yield first, count
        first += count


def _collect(running: set[Future[Tally]], tally: Tally) -> set[Future[Tally]]:
    done, still_running = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        tally.add(future.result())
    return still_running


def findings(walker: Walker, tally: Tally, report: Callable[[str], None] = lambda doing: None) -> list[Finding]:
    """A minimal reproducer for each property that each protocol broke and may not, in the order of both."""
    found = []
    allowed = properties.permitted(walker.settings)
    for index, protocol in enumerate(walker.protocols):
        for bit, name in enumerate(properties.PROPERTIES):
            failures = tally.failures(index, bit)
            if failures and name not in allowed:
                report(f"shrinking {name} under {protocol.name}")
                seen = int(tally.seen[index, bit])
                found.append(_finding(walker, protocol, name, seen, failures[:_CANDIDATES]))
    return found


def _finding(walker: Walker, protocol: Protocol, name: str, seen: int, failures: Sequence[Failure]) -> Finding:
    """Shrink and certify the shortest failure; where no certificate is to be had, the next ones may shrink further."""
    wanted = 1 << properties.PROPERTIES.index(name)

    def shrunk(failure: Failure) -> bytes:
        return shrink.shrink(walker.schedule(failure.schedule), protocol, walker.settings, wanted)

    failure = failures[0]
    reproducer = shrink.certify(shrunk(failure), protocol, walker.settings, wanted, CERTIFICATE_MEMORY)
    if not reproducer.certified_minimal:
        for other in failures[1:]:
            schedule = shrunk(other)
            if len(schedule) < len(reproducer.schedule):
                failure = other
                reproducer = shrink.Reproducer(schedule, len(schedule) <= reproducer.searched, reproducer.searched)
    flaw = expectations.known_flaw(protocol, walker.settings, name)
    return Finding(protocol, name, reproducer, seen, failure.schedule, failure.length, flaw)
