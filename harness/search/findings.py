"""Fuzz: walk random schedules in this process, and turn what they break into minimal reproducers."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any
from typing import Protocol as Interface

from epochfuzz.harness.search import shrink
from epochfuzz.harness.search.canonical import canonical
from epochfuzz.harness.search.deadline import Deadline, TimeUp
from epochfuzz.harness.search.interruption import Interruption
from epochfuzz.harness.search.walk import Failure, Tally, Walker
from epochfuzz.harness.witness.causes import Causes, causes
from epochfuzz.harness.witness.witness import Witness
from epochfuzz.model import properties
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.events import schedule_texts
from epochfuzz.model.protocols import Protocol

BLOCK = 1_000
_CANDIDATES = 3  # failures worth shrinking where nothing proves the first reproducer minimal
MOST_CANDIDATES = 4  # and where there is time to look for variants
CERTIFICATE_MEMORY = 1 << 30


@dataclass(frozen=True)
class Breach:
    """A property that a protocol broke and may not, how many schedules did it, and the shortest of some kinds."""

    protocol: Protocol
    property: str
    seen: int
    failures: tuple[Failure, ...]


@dataclass(frozen=True)
class Finding:
    """A property that a protocol breaks, with the shortest reproducer known, in canonical form (canonical.py).

    `witness` is that schedule as it went under all protocols that were walked, `variants` are reproducers as short as
    that one which do not come to the same. `seen` counts the schedules that broke the property, `schedule` is the
    number of the one that was shrunk, from `shrunk_from` events.
    """

    protocol: Protocol
    property: str
    reproducer: shrink.Reproducer
    witness: Witness
    variants: tuple[bytes, ...]
    seen: int
    schedule: int
    shrunk_from: int

    @cached_property
    def causes(self) -> Causes:
        """Which choices of the protocol the reproducer needs, and what is known of them."""
        return causes(self.reproducer.schedule, self.protocol, self.witness.settings, self.property)

    @cached_property
    def known_flaw(self) -> str | None:
        """Why that was to be expected, None where it was not."""
        return self.causes.reason if self.protocol.is_named else None

    def plain(self) -> dict[str, Any]:
        """This as plain data, as both the JSON document and the tables of a campaign have it."""
        return {
            "protocol": self.protocol.name,
            "property": self.property,
            "events": schedule_texts(self.reproducer.schedule),
            "length": len(self.reproducer.schedule),
            "variants": [schedule_texts(variant) for variant in self.variants],
            "certified_minimal": self.reproducer.certified_minimal,
            "seen": self.seen,
            "schedule": self.schedule,
            "shrunk_from": self.shrunk_from,
        }


@dataclass(frozen=True)
class Walked:
    """What came of a walk: its tally, how long it ran, compilation not counted, and whether Ctrl-C ended it."""

    tally: Tally
    seconds: float
    interrupted: bool = False


class Engine(Interface):
    """What draws schedules, runs them, and gives again the one that failed: the walk, or a state machine."""

    protocols: tuple[Protocol, ...]
    settings: Configuration
    seed: int

    def walk(self, first: int, count: int) -> Tally:
        """Run schedules `first` to `first + count - 1`."""

    def failing(self, failure: Failure, protocol: Protocol, property_: str) -> bytes:
        """The schedule of a failure."""


def walk(
    walker: Walker,
    schedules: int | None,
    seconds: float | None,
    jobs: int,
    report: Callable[[Tally, float], None] = lambda tally, elapsed: None,
) -> Walked:
    """Walk a number of schedules, or for some seconds, on `jobs` threads. Threads change nothing in the tally.

    Ctrl-C ends it earlier: the tally is then that of the first so many schedules, as if no more had been asked for.
    """
    walker.walk(0, 1)  # compile before the clock starts
    tally = Tally.empty(len(walker.protocols))
    started = time.monotonic()
    with Interruption() as interruption, ThreadPoolExecutor(jobs) as pool:
        running: set[Future[Tally]] = set()
        for first, count in _blocks(schedules, seconds, started):
            if interruption.happened:
                break
            running.add(pool.submit(walker.walk, first, count))
            if len(running) >= 2 * jobs:
                running = _collect(running, tally)
                report(tally, time.monotonic() - started)
        while running:
            running = _collect(running, tally)
            report(tally, time.monotonic() - started)
    return Walked(tally, time.monotonic() - started, interruption.happened)


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
        Breach(protocol, name, int(tally.seen[index, bit]), tuple(failures[:MOST_CANDIDATES]))
        for index, protocol in enumerate(protocols)
        for bit, name in enumerate(properties.NAMES)
        if name not in allowed and (failures := tally.candidates(index, bit))
    ]


def findings(
    walker: Walker,
    tally: Tally,
    report: Callable[[str], None] = lambda doing: None,
    memory: int = CERTIFICATE_MEMORY,
) -> list[Finding]:
    """A minimal reproducer for each breach; see `finding`. `memory` (bytes) bounds the search that certifies one."""
    return list(each_finding(walker, tally, report, memory))


def each_finding(walker: Walker, tally: Tally, report: Callable[[str], None], memory: int) -> Iterator[Finding]:
    """The same, one after the other."""
    for protocol, of_protocol in groupby(breaches(walker.protocols, walker.settings, tally), attrgetter("protocol")):
        report(f"shrinking what breaks {protocol.name}")
        broken = {properties.named(breach.property).bit: breach for breach in of_protocol}
        failing = {bit: walker.failing(breach.failures[0], protocol, breach.property) for bit, breach in broken.items()}
        reached = shrink.all_within_reach(failing, protocol, walker.settings, memory)
        for bit, breach in broken.items():
            report(f"shrinking {breach.property} under {protocol.name}")
            yield _finding(walker, breach, reached[bit], memory, 1)


def findings_within(
    walker: Walker, tally: Tally, seconds: float, report: Callable[[str], None], memory: int
) -> Iterator[Finding]:
    """The findings, one after the other, in about so many seconds: each has its share of what is left.

    One whose share ends before complete search does is as short as leaving events out makes it.
    """
    started = time.monotonic()
    remaining = breaches(walker.protocols, walker.settings, tally)
    while remaining:
        breach = remaining[0]
        report(f"shrinking {breach.property} under {breach.protocol.name}")
        share = (seconds - (time.monotonic() - started)) / len(remaining)
        yield _hurried(walker, breach, memory, Deadline(share))
        del remaining[0]


def _hurried(walker: Walker, breach: Breach, memory: int, deadline: Deadline) -> Finding:
    protocol, settings, failure = breach.protocol, walker.settings, breach.failures[0]
    wanted = properties.named(breach.property).bit
    trimmed = shrink.trim(walker.failing(failure, protocol, breach.property), protocol, settings, wanted)
    try:
        watched = deadline.watching(lambda progress: None)
        reproducer = shrink.within_reach(trimmed, protocol, settings, wanted, memory, watched)
    except TimeUp:
        reproducer = None
    if reproducer is None:
        reproducer = shrink.Reproducer(trimmed, False, deadline.depth + 1)
    return _as_finding(walker, breach, reproducer, [], failure)


def finding(walker: Engine, breach: Breach, memory: int = CERTIFICATE_MEMORY, candidates: int = 1) -> Finding:
    """The minimal reproducer of a breach, or the shortest that can be had, and certified as far as `memory` allows.

    The shortest failure of each kind, up to `candidates` of them, is shrunk for others as short. Where no certificate
    is to be had, a few more are: they may shrink further.
    """
    failing = walker.failing(breach.failures[0], breach.protocol, breach.property)
    wanted = properties.named(breach.property).bit
    reached = shrink.within_reach(failing, breach.protocol, walker.settings, wanted, memory)
    return _finding(walker, breach, reached, memory, candidates)


def _finding(
    walker: Engine, breach: Breach, reproducer: shrink.Reproducer | None, memory: int, candidates: int
) -> Finding:
    """The same, with the minimal reproducer if it is within reach."""
    protocol, settings, failures = breach.protocol, walker.settings, breach.failures
    wanted = properties.named(breach.property).bit

    def shrunk(failure: Failure) -> tuple[bytes, Failure]:
        failing = walker.failing(failure, protocol, breach.property)
        return shrink.shrink(failing, protocol, settings, wanted), failure

    tried = [] if reproducer and candidates == 1 else [shrunk(failure) for failure in failures[:candidates]]
    best = min(tried, key=_length, default=(b"", failures[0]))
    if reproducer is None:
        reproducer = shrink.certify_beyond_reach(best[0], protocol, settings, wanted, memory)
    if not reproducer.certified_minimal:
        tried += [shrunk(failure) for failure in failures[candidates:_CANDIDATES]]
        best = min(tried, key=_length)
        if len(best[0]) < len(reproducer.schedule):
            proven = len(best[0]) <= reproducer.searched
            reproducer = shrink.Reproducer(best[0], proven, reproducer.searched)
    as_short = [schedule for schedule, _ in tried if len(schedule) == len(reproducer.schedule)]
    return _as_finding(walker, breach, reproducer, as_short, best[1])


def _as_finding(
    walker: Engine, breach: Breach, reproducer: shrink.Reproducer, as_short: Sequence[bytes], shrunk: Failure
) -> Finding:
    """The finding of a breach that was shrunk to a reproducer, and to others as short."""
    protocol, settings = breach.protocol, walker.settings
    wanted = properties.named(breach.property).bit
    schedules = [reproducer.schedule, *as_short]
    first, *others = dict.fromkeys(canonical(each, protocol, settings, wanted) for each in schedules)
    return Finding(
        protocol=protocol,
        property=breach.property,
        reproducer=replace(reproducer, schedule=first),
        witness=Witness(first, settings, walker.protocols),
        variants=tuple(sorted(others)),
        seen=breach.seen,
        schedule=shrunk.schedule,
        shrunk_from=shrunk.length,
    )


def _length(tried: tuple[bytes, Failure]) -> int:
    return len(tried[0])
