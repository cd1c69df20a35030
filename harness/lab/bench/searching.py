"""Measure the speed of exhaustive search in states per second, on one core and on all cores, with and without symmetry.

Threads are timed by the wall clock, so the results are valid only on a machine that does nothing else. The
configurations take turns, and a ratio compares two times of the same round. If Spin is installed, it searches the same
states on one core, without symmetry, and the result uses the seconds that Spin reports.
"""

import time
from dataclasses import dataclass

from epochfuzz.harness.engine.explore.explore import Exploration, explore
from epochfuzz.harness.engine.runtime.threads import cores
from epochfuzz.harness.lab.bench import spin
from epochfuzz.harness.lab.bench.spread import Spread
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS

PROTOCOL = GENERATIONS["kip-320"]
SEARCHED = (Configuration(records=3, epochs=3), Configuration(replicas=3, records=1, epochs=2))


@dataclass(frozen=True, kw_only=True)
class MeasuredSearch:
    """The speed of a search, with or without symmetry, in states per second on one core and on all cores.

    `ratio` is the speed on all cores divided by the speed on one core. `spin` is Spin's speed in states per second, or
    None if Spin was not measured.
    """

    settings: Configuration
    symmetric: bool
    found: Exploration
    one_core: Spread
    all_cores: Spread
    ratio: Spread
    spin: Spread | None

    @property
    def bytes_per_state(self) -> float:
        """Return the memory of the search per state, in bytes."""
        return self.found.memory / self.found.states


def measure(rounds: int) -> list[MeasuredSearch]:
    """Run every search once in each round. A first round, which compiles the code, does not count."""
    measured = [(settings, symmetric) for settings in SEARCHED for symmetric in (False, True)]
    seconds: dict[tuple[Configuration, bool, int], list[float]] = {}
    of_spin: dict[Configuration, list[float]] = {}
    found: dict[tuple[Configuration, bool], Exploration] = {}
    for number in range(rounds + 1):
        for settings, symmetric in measured:
            for jobs in (1, cores()):
                started = time.monotonic()
                found[settings, symmetric] = explore(PROTOCOL, settings, 0, jobs=jobs, symmetric=symmetric)
                if number:
                    seconds.setdefault((settings, symmetric, jobs), []).append(time.monotonic() - started)
            if number and not symmetric and not spin.missing():
                of_spin.setdefault(settings, []).append(spin.searched(settings).per_second)
    return [
        _searched(
            settings,
            symmetric,
            found[settings, symmetric],
            [seconds[settings, symmetric, jobs] for jobs in (1, cores())],
            of_spin.get(settings) if not symmetric else None,
        )
        for settings, symmetric in measured
    ]


def _searched(
    settings: Configuration, symmetric: bool, found: Exploration,
    seconds: list[list[float]], of_spin: list[float] | None,
) -> MeasuredSearch:  # fmt: skip
    alone, together = seconds
    return MeasuredSearch(
        settings=settings, symmetric=symmetric, found=found,
        one_core=Spread.of([found.states / each for each in alone]),
        all_cores=Spread.of([found.states / each for each in together]),
        ratio=Spread.of([one / other for one, other in zip(alone, together, strict=True)]),
        spin=Spread.of(of_spin) if of_spin else None,
    )  # fmt: skip
