"""The estimated probability that a further schedule shows something new."""

import numpy as np
import pytest
from scipy.stats import binomtest

from epochfuzz.harness.engine.coverage.coverage import Coverage
from epochfuzz.harness.engine.explore import estimate
from epochfuzz.harness.engine.walk.walk import Tally, Walker
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol


def met(**schedules):
    """Return a tally of ten schedules, from the schedules that met each situation."""
    tally = Tally.empty(KAFKA, 1)
    tally.schedules = 10
    counted = [(len(numbers), min(numbers)) for numbers in schedules.values()]
    tally.met = [Coverage(np.arange(len(counted)), *np.array(counted, np.int64).reshape(-1, 2).T)]
    return tally


def test_the_estimate_is_the_share_of_schedules_that_alone_met_a_situation():
    tally = met(a=[0, 1, 2], b=[3], c=[3], d=[7], e=[8, 9])
    assert estimate.something_new(tally).alone == 2
    assert estimate.something_new(tally).probability == 0.2


def test_a_kind_of_failure_seen_once_counts_like_a_situation():
    tally = met(a=[0, 1])
    tally.failures[0, 0, 5] = 1
    tally.shortest[0, 0, 5, 0] = 12, 4
    tally.failures[0, 1, 5] = 2
    tally.shortest[0, 1, 5, 0] = 12, 6
    assert estimate.something_new(tally).alone == 1


def test_the_interval_of_the_estimate_is_the_clopper_pearson_interval():
    # The interval of Clopper and Pearson for 2 of 10, from published tables.
    known = estimate.something_new(met(a=[0], b=[1]))
    assert (known.low, known.high) == (pytest.approx(0.0252, abs=5e-5), pytest.approx(0.5561, abs=5e-5))
    none = estimate.something_new(met(a=[0, 1]))
    assert (none.low, none.high) == (0.0, pytest.approx(0.3085, abs=5e-5))


def test_the_estimate_is_1_before_the_first_schedule():
    assert estimate.something_new(Tally.empty(KAFKA, 1)).probability == 1.0


@pytest.mark.thorough
def test_the_estimate_predicts_how_often_schedules_show_something_new():
    walker = Walker([parse_protocol("kip-101")], Configuration(), seed=11)
    tally = walker.walk(0, 2_000)
    foretold = estimate.something_new(tally)
    situations, kinds = set(tally.met[0].situations.tolist()), tally.failures > 0

    def shows_something_new(number):
        one = walker.walk(number, 1)
        return not situations.issuperset(one.met[0].situations.tolist()) or (one.failures > 0)[~kinds].any()

    new = sum(map(shows_something_new, range(2_000, 4_000)))
    seen = binomtest(new, 2_000).proportion_ci(estimate.CONFIDENCE)
    assert seen.low <= foretold.high
    assert foretold.low <= seen.high


def test_the_discovery_curve_counts_the_situations_met_so_far():
    curve = estimate.discovery_curve(met(a=[0, 1], b=[3], c=[9]))
    so_far = [1, 1, 1, 2, 2, 2, 2, 2, 2, 3]
    assert [(point.schedules, point.situations) for point in curve] == list(enumerate(so_far, start=1))
