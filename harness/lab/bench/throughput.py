"""Measure the speed of epochfuzz and of other tools: events per second, and transitions per second of a search.

Every measurement uses the processor time of one thread, except that Spin reports its own seconds. The programs take
turns, so other load on the machine slows all of them by the same factor and leaves their ratios unchanged.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hypothesis import Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.engine.walk.generate import MAX_LENGTH
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.harness.lab.bench import peer, spin
from epochfuzz.harness.lab.bench.spread import Spread
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary import state
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED
from epochfuzz.strategies.machine import ReplicationMachine, replication_machine
from epochfuzz.strategies.profiles import UNATTENDED

PROTOCOL = GENERATIONS["kip-320"]
SIDE_BY_SIDE = [GENERATIONS[name] for name in ("hw", "kip-101", "kip-279", "kip-320")]
MODERN = GENERATIONS["kip-966"]
SETTINGS = Configuration(replicas=3)
SEARCHED = Configuration(records=3, epochs=3)
_STEPS = 50  # steps of a Hypothesis example


@dataclass(frozen=True)
class Workload:
    """A program to measure. `run(i)` does the work of round i, and returns the amount (in `unit`) and the seconds."""

    name: str
    unit: str
    run: Callable[[int], tuple[int, float]]


@dataclass(frozen=True)
class Speed:
    """The speed of a program, in units per second.

    `behind` is the speed of the first program with the same unit, divided by this speed.
    """

    subject: Workload
    per_second: Spread
    behind: Spread


def timed(run: Callable[[int], int]) -> Callable[[int], tuple[int, float]]:
    """Return a function that calls `run`, and returns its result with the processor time of this thread in seconds."""

    def with_seconds(number: int) -> tuple[int, float]:
        started = time.thread_time()
        done = run(number)
        return done, time.thread_time() - started

    return with_seconds


def walked(number: int, schedules: int = 20_000) -> int:
    """Run random schedules in compiled code, as `epochfuzz fuzz` does. Returns the number of applied events."""
    return int(Walker([PROTOCOL], SETTINGS, number).walk(0, schedules).events.sum())


def walked_side_by_side(number: int, schedules: int = 10_000) -> int:
    """Run each random schedule under four reference designs, as campaigns do. Returns the number of applied events."""
    return int(Walker(SIDE_BY_SIDE, SETTINGS, number).walk(0, schedules).events.sum())


def walked_as_of_today(number: int, schedules: int = 10_000) -> int:
    """Run random schedules under the design of Kafka 4, `kip-966`. Returns the number of applied events."""
    return int(Walker([MODERN], SETTINGS, number).walk(0, schedules).events.sum())


def interpreted(number: int, schedules: int = 60) -> int:
    """Run random schedules on the model in plain Python, without compilation. Returns the number of applied events."""
    walker = Walker([PROTOCOL], SETTINGS, number)
    applied = 0
    for i in range(schedules):
        p = state.initial(PROTOCOL, SETTINGS)
        for event in walker.schedule(i):
            if step(p, event) == APPLIED:
                applied += 1
                properties.broken_now(p)
        properties.broken_at_end(p)
    return applied


def driven_by_hypothesis(number: int, examples: int = 30) -> int:
    """Run the Hypothesis state machine with random events, without scouting, shrinking or a database.

    Returns the number of applied events.
    """
    applied = 0

    class Counting(replication_machine(PROTOCOL.name, settings=SETTINGS, scouted=0)):  # type: ignore[misc]
        def teardown(self) -> None:
            nonlocal applied
            applied += len(self.histories[0])

    machine: type[ReplicationMachine] = seed(number)(Counting)
    only_generate = settings(UNATTENDED, max_examples=examples, stateful_step_count=_STEPS, phases=[Phase.generate])
    run_state_machine_as_test(machine, settings=only_generate)
    return applied


def driven_plainly(number: int, schedules: int = 100) -> int:
    """Run random schedules on the plain Python implementation (peer.py). Returns the number of applied events."""
    return peer.drive(number, schedules, SETTINGS.replicas)


def searched(number: int) -> int:
    """Search all states within fixed bounds, on one core. Returns the number of transitions."""
    return explore(PROTOCOL, SEARCHED, properties.named("no-committed-loss").bit, jobs=1, symmetric=False).transitions


def spin_at_random(number: int, seconds: int = 2) -> tuple[int, float]:
    """Let Spin search depth first in random order. A schedule of Spin is at most MAX_LENGTH events long.

    Returns the number of transitions, and the seconds that Spin reports.
    """
    verified = spin.walked(SETTINGS, MAX_LENGTH, number + 1, seconds)
    return verified.transitions, verified.seconds


SUBJECTS = (
    Workload("compiled walk", "events", timed(walked)),
    Workload("compiled walk, four reference designs side by side", "events", timed(walked_side_by_side)),
    Workload(f"compiled walk of {MODERN.name}", "events", timed(walked_as_of_today)),
    Workload("plain Python with dataclasses", "events", timed(driven_plainly)),
    Workload("same model, interpreted", "events", timed(interpreted)),
    Workload("Hypothesis state machine", "events", timed(driven_by_hypothesis)),
    Workload("exhaustive search", "transitions", timed(searched)),
)
SPIN = Workload("Spin, a verifier in C, depth first in random order", "events", spin_at_random)


def measure(rounds: int) -> Iterator[Speed]:
    """Yield the speed of every program.

    Each program runs once in each round. A first round, which compiles the code, does not count.
    """
    subjects = SUBJECTS if spin.missing() else (SUBJECTS[0], SPIN, *SUBJECTS[1:])
    rates: dict[str, list[float]] = {subject.name: [] for subject in subjects}
    for number in range(rounds + 1):
        for subject in subjects:
            done, seconds = subject.run(number)
            if number:
                rates[subject.name].append(done / seconds)
    for subject in subjects:
        first = next(rates[each.name] for each in subjects if each.unit == subject.unit)
        own = rates[subject.name]
        behind = [one / other for one, other in zip(first, own, strict=True)]
        yield Speed(subject, Spread.of(own), Spread.of(behind))
