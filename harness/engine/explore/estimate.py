"""Estimate the probability that the next schedule shows something new.

The estimate is Good and Turing's (Good, 1953), for samples that are sets. For each schedule, ask whether it showed
something that no other schedule showed. The share of these schedules estimates the probability that one more schedule
shows something new: a situation, or a kind of failure, under any of the protocols.

The estimate assumes that schedules are drawn independently and in the same way. This is true, because schedule i
depends only on the seed and on i. The estimate holds only for the same protocols, configuration and generator. It
cannot account for situations that this generator almost never reaches. The interval treats schedules as independent
trials.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epochfuzz.harness.documents.records import Discovery
from epochfuzz.harness.engine.walk.walk import Tally

if TYPE_CHECKING:
    from epochfuzz.harness.documents import parts

CONFIDENCE = 0.95
_POINTS = 40  # number of points of the discovery curve


@dataclass(frozen=True)
class Estimate:
    """The probability that the next schedule shows something new, with its interval at CONFIDENCE.

    `alone` is the number of schedules that showed something that no other schedule showed, out of all `schedules`.
    """

    schedules: int
    alone: int
    probability: float
    low: float
    high: float


def estimate_json(estimate: Estimate) -> "parts.Estimate":
    """Return the JSON form of an estimate."""
    return {
        "schedules": estimate.schedules,
        "alone": estimate.alone,
        "probability": estimate.probability,
        "low": estimate.low,
        "high": estimate.high,
        "confidence": CONFIDENCE,
    }


def something_new(tally: Tally) -> Estimate:
    """Return the estimate for a tally. Without any schedules the probability is 1."""
    if not tally.schedules:
        return Estimate(0, 0, 1.0, 0.0, 1.0)
    from scipy.special import betaincinv  # imported here: it is slow to import, and workers don't need it

    alone = len(_alone(tally))
    others = tally.schedules - alone
    tail = (1 - CONFIDENCE) / 2  # of a binomial proportion (Clopper and Pearson, 1934)
    low = float(betaincinv(alone, others + 1, tail)) if alone else 0.0
    high = float(betaincinv(alone + 1, others, 1 - tail)) if others else 1.0
    return Estimate(tally.schedules, alone, alone / tally.schedules, low, high)


def _alone(tally: Tally) -> set[int]:
    """Return the numbers of the schedules that showed something that no other schedule showed."""
    schedules = set(tally.shortest[tally.failures == 1][:, 0, 1].tolist())
    for met in tally.met:
        schedules.update(met.first[met.schedules == 1].tolist())
    return schedules


def discovery_curve(tally: Tally) -> list[Discovery]:
    """Return how coverage grew with the number of schedules, at points evenly spread on a logarithmic scale."""
    first = np.sort(np.concatenate([met.first for met in tally.met]))
    walked = np.unique(np.geomspace(1, max(tally.schedules, 1), _POINTS).round().astype(np.int64))
    return [Discovery(int(n), int(np.searchsorted(first, n))) for n in walked]
