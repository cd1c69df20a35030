"""The probability of a new kind of finding, after a number of schedules."""

import pytest
from scipy.stats import binomtest

from epochfuzz.harness.engine.explore.estimate import CONFIDENCE
from epochfuzz.harness.findings.chance import of_new_finding


@pytest.mark.parametrize(
    ("schedules", "seen"), [(100, []), (382, [1]), (2_000, [1, 1, 7]), (10, [1] * 9), (3, [1] * 4)]
)
def test_the_interval_of_the_estimate_is_wilsons_score_interval(schedules: int, seen: list[int]) -> None:
    estimate = of_new_finding(schedules, seen)
    alone = min(schedules, seen.count(1))
    wilson = binomtest(alone, schedules).proportion_ci(CONFIDENCE, method="wilson")
    assert (estimate.schedules, estimate.alone) == (schedules, alone)
    assert estimate.probability == alone / schedules
    assert (estimate.low, estimate.high) == pytest.approx((wilson.low, wilson.high), abs=1e-12)


def test_a_hundred_schedules_without_a_finding_bound_the_probability_below_4_percent() -> None:
    assert of_new_finding(100, []).high == pytest.approx(0.037, abs=0.0005)


def test_an_estimate_without_schedules_has_the_interval_from_0_to_1() -> None:
    estimate = of_new_finding(0, [])
    assert (estimate.probability, estimate.low, estimate.high) == (1.0, 0.0, 1.0)
