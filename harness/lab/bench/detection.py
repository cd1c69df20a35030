"""Measure how many schedules and seconds a strategy needs to detect a mutant, a protocol with one wrong rule."""

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

from hypothesis import Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from epochfuzz.harness.engine.walk.hunt import STRATEGIES
from epochfuzz.harness.lab.bench.spread import percentile_95
from epochfuzz.harness.lab.mutants import DEFECTS, hunting
from epochfuzz.harness.lab.mutants.mutant import Mutant
from epochfuzz.harness.lab.mutants.proofs import judged, proofs
from epochfuzz.model.kafka.contract import properties
from epochfuzz.strategies.failures import PropertyBroken
from epochfuzz.strategies.machine import replication_machine
from epochfuzz.strategies.profiles import UNATTENDED

HYPOTHESIS = "hypothesis"
_EXAMPLES = 5  # examples of the Hypothesis machine, for each seed
_SCOUTED = 1_000  # schedules that a scout runs before each example (strategies/scouting.py)
_STEPS = 50  # steps of each example


@dataclass(frozen=True)
class Hunt:
    """The result of a strategy with one mutant and one seed.

    `schedules` is the number of schedules until the mutant was detected, or None if the strategy missed the mutant.
    `seconds` is processor time.
    """

    schedules: int | None
    seconds: float


@dataclass(frozen=True)
class Detection:
    """The results of a strategy with one mutant: a Hunt for each seed from 0. A Hunt runs at most `most` schedules."""

    defect: Mutant
    strategy: str
    hunts: tuple[Hunt, ...]
    most: int

    @property
    def missed(self) -> list[int]:
        """Return the seeds whose schedules did not detect the mutant."""
        return [number for number, hunt in enumerate(self.hunts) if hunt.schedules is None]

    @property
    def schedules(self) -> list[int]:
        """Return, for each seed, the number of schedules until the mutant was detected (if missed: `most + 1`)."""
        return [self.most + 1 if hunt.schedules is None else hunt.schedules for hunt in self.hunts]

    @property
    def typical(self) -> float:
        """Return the median number of schedules over the seeds.

        The median is above `most` if more than half of the seeds missed the mutant.
        """
        return median(self.schedules)

    @property
    def is_held_back(self) -> bool:
        """Return whether the mutant was held out while the weights of the strategies were tuned.

        About half of the mutants are held out. A hash of the mutant's name decides.
        """
        return hashlib.sha256(self.defect.name.encode()).digest()[0] % 2 == 1

    @property
    def nearly_always(self) -> float:
        """Return the 95th percentile of the number of schedules over the seeds."""
        return percentile_95(self.schedules)


def detectable() -> list[Mutant]:
    """Return the mutants with a proof (a schedule that detects the mutant) in proofs.yaml."""
    return [defect for defect in DEFECTS if defect.name in proofs()]


def detections(seeds: int, most: int, most_elsewhere: int, defects: Sequence[Mutant]) -> Iterator[Detection]:
    """Measure each compiled strategy with each mutant.

    Yields one Detection, with the results of all seeds, for each pair of strategy and mutant. The default strategy
    runs at most `most` schedules. The other strategies run at most `most_elsewhere` schedules.
    """
    for defect in defects:
        for strategy in STRATEGIES:
            limit = most if strategy == hunting.DEFAULT_STRATEGY else most_elsewhere
            hunts = tuple(hunt(defect, strategy, number, limit) for number in range(seeds))
            yield Detection(defect, strategy, hunts, limit)


def hunt(defect: Mutant, strategy: str, number: int, most: int) -> Hunt:
    """Run up to `most` schedules of a compiled strategy, with seed `number`, until one detects the mutant."""
    hunter = hunting.hunter(defect)
    started = time.thread_time()
    found = hunter.first(strategy, number, most)
    return Hunt(found[0] + 1 if found else None, time.thread_time() - started)


def hypothesis_detections(seeds: int, defects: Sequence[Mutant]) -> Iterator[Detection]:
    """Measure the Hypothesis state machine with each mutant.

    Yields one Detection, with the results of all seeds, for each mutant. Each example counts as 1,001 schedules: the
    example itself, and the 1,000 random schedules that run before the example.
    """
    for defect in defects:
        hunts = tuple(hypothesis_hunt(defect, number) for number in range(seeds))
        yield Detection(defect, HYPOTHESIS, hunts, _EXAMPLES * (1 + _SCOUTED))


def hypothesis_hunt(defect: Mutant, number: int) -> Hunt:
    """Run the Hypothesis state machine with seed `number` until an example detects the mutant.

    The failure is not shrunk.
    """
    configuration = hunting.settings_for(defect)
    machine_class = replication_machine(
        defect.broken_protocol, settings=configuration, scouted=_SCOUTED,
        judged=properties.names(judged(defect, configuration)),
    )  # fmt: skip
    examples = 0

    class Counting(machine_class):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            nonlocal examples
            examples += 1
            super().__init__()

    only_generate = settings(
        UNATTENDED, max_examples=_EXAMPLES, stateful_step_count=_STEPS, phases=[Phase.generate],
        report_multiple_bugs=False,
    )  # fmt: skip
    started = time.thread_time()
    try:
        run_state_machine_as_test(seed(number)(Counting), settings=only_generate)
    except PropertyBroken:
        return Hunt(examples * (1 + _SCOUTED), time.thread_time() - started)
    return Hunt(None, time.thread_time() - started)


def mean_schedules(each_defect: Sequence[Detection]) -> float:
    """Return the geometric mean of the numbers of schedules, over all mutants and seeds."""
    return geometric_mean([count for detection in each_defect for count in detection.schedules])


def wins(of_one_defect: Sequence[Detection]) -> list[str]:
    """Return the strategies that needed the fewest schedules (by the median over the seeds) to detect a mutant.

    The list is empty if every strategy missed the mutant with most of its seeds.
    """
    least = min(detection.typical for detection in of_one_defect)
    return [each.strategy for each in of_one_defect if each.typical == least and each.typical <= each.most]
