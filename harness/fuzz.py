"""Fuzz: walk random schedules in this process, and turn what they break into minimal reproducers."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from harness import expectations, shrink
from harness.engine.walk import Failure, Tally, Walker
from model import properties
from model.configuration import Configuration
from model.protocols import Protocol

BLOCK = 1_000
_CANDIDATES = 3  # failures worth shrinking where nothing proves the first reproducer minimal
CERTIFICATE_MEMORY = 1 << 30


@dataclass(frozen=True)
class Breach:
    """A property that a protocol broke and may not, the number of schedules that did it, and the shortest of them."""

    protocol: Protocol
    property: str
    seen: int
    failures: tuple[Failure, ...]


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


def breaches(protocols: Sequence[Protocol], settings: Configuration, tally: Tally) -> list[Breach]:
    """What each protocol broke and may not, in the order of protocols and then of properties."""
    allowed = properties.permitted(settings)
    return [
        Breach(protocol, name, int(tally.seen[index, bit]), tuple(failures[:_CANDIDATES]))
        for index, protocol in enumerate(protocols)
        for bit, name in enumerate(properties.PROPERTIES)
        if name not in allowed and (failures := tally.candidates(index, bit))
    ]


def findings(
    walker: Walker,
    tally: Tally,
    report: Callable[[str], None] = lambda doing: None,
    memory: int = CERTIFICATE_MEMORY,
) -> list[Finding]:
    """A minimal reproducer for each breach; `memory` (bytes) bounds the search that certifies one."""
    found = []
    for breach in breaches(walker.protocols, walker.settings, tally):
        report(f"shrinking {breach.property} under {breach.protocol.name}")
        found.append(finding(walker, breach, memory))
    return found


def finding(walker: Walker, breach: Breach, memory: int = CERTIFICATE_MEMORY) -> Finding:
    """Shrink and certify the shortest failure; where no certificate is to be had, the next ones may shrink further."""
    protocol, settings = breach.protocol, walker.settings
    wanted = 1 << properties.PROPERTIES.index(breach.property)

    def shrunk(failure: Failure) -> bytes:
        return shrink.shrink(walker.schedule(failure.schedule), protocol, settings, wanted)

    failure = breach.failures[0]
    reproducer = shrink.certify(shrunk(failure), protocol, settings, wanted, memory)
    if not reproducer.certified_minimal:
        for other in breach.failures[1:]:
            schedule = shrunk(other)
            if len(schedule) < len(reproducer.schedule):
                failure = other
                reproducer = shrink.Reproducer(schedule, len(schedule) <= reproducer.searched, reproducer.searched)
    flaw = expectations.known_flaw(protocol, settings, breach.property)
    return Finding(protocol, breach.property, reproducer, breach.seen, failure.schedule, failure.length, flaw)
