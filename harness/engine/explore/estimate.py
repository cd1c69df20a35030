"""Estimate: how likely it is that the next schedule shows what no schedule has shown yet.

The estimate is Good and Turing's (Good, 1953), for samples that are sets: take away any one schedule, and ask whether
it had shown something that none of the others did. The share of schedules that answer yes estimates the probability
that one more schedule shows something new, be it a situation or a kind of failure under any of the protocols.

It assumes that schedules are drawn independently and all in the same way, which they are, for schedule i depends on
the seed and on i alone. It speaks of such schedules only: same protocols, same configuration, same generator. What
that generator can hardly reach, it cannot know of. The interval takes the yes and no of schedules for independent.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epochfuzz.harness.documents.records import Discovery
from epochfuzz.harness.engine.walk.walk import Tally

if TYPE_CHECKING:
    from epochfuzz.harness.documents import parts

CONFIDENCE = 0.95
_POINTS = 40  # of the discovery curve


@dataclass(frozen=True)
class Estimate:
    """The probability that the next schedule shows something new, with its interval at CONFIDENCE.

    `alone` schedules, of `schedules` walked, have shown something that no other one has.
    """

    schedules: int
    alone: int
    probability: float
    low: float
    high: float


def estimate_json(estimate: Estimate) -> "parts.Estimate":
    """Return the JSON form."""
    return {
        "schedules": estimate.schedules,
        "alone": estimate.alone,
        "probability": estimate.probability,
        "low": estimate.low,
        "high": estimate.high,
        "confidence": CONFIDENCE,
    }


def something_new(tally: Tally) -> Estimate:
    """Return the estimate after a walk. Nothing walked, nothing known: then the probability is 1."""
    if not tally.schedules:
        return Estimate(0, 0, 1.0, 0.0, 1.0)
    from scipy.special import betaincinv  # slow to import, and not needed by workers

    alone = len(_alone(tally))
    others = tally.schedules - alone
    tail = (1 - CONFIDENCE) / 2  # of a binomial proportion (Clopper and Pearson, 1934)
    low = float(betaincinv(alone, others + 1, tail)) if alone else 0.0
    high = float(betaincinv(alone + 1, others, 1 - tail)) if others else 1.0
    return Estimate(tally.schedules, alone, alone / tally.schedules, low, high)


def _alone(tally: Tally) -> set[int]:
    """Return the numbers of the schedules that have shown something that no other one has."""
    schedules = set(tally.shortest[tally.failures == 1][:, 0, 1].tolist())
    for met in tally.met:
        schedules.update(met.first[met.schedules == 1].tolist())
    return schedules


def discovery_curve(tally: Tally) -> list[Discovery]:
    """How coverage grew with the schedules walked, at points that are evenly spread on a logarithmic scale."""
    first = np.sort(np.concatenate([met.first for met in tally.met]))
    walked = np.unique(np.geomspace(1, max(tally.schedules, 1), _POINTS).round().astype(np.int64))
    return [Discovery(int(n), int(np.searchsorted(first, n))) for n in walked]
