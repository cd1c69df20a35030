"""Estimate the probability that the next random schedule shows something new: a coverage point or a kind of failure.

Some schedules of a run show something that no other schedule of the run shows. The estimate is the share of these
schedules among all schedules of the run. This is the Good-Turing estimate (Good, 1953), for schedules that each show a
set of things.

The estimate assumes that schedules are drawn independently and in the same way. This assumption is true, because
schedule i depends only on the seed and on i. The estimate is valid only for the protocols, the configuration and the
generator of the run. The estimate cannot account for coverage points that the generator almost never reaches. The
confidence interval treats schedules as independent trials.
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
    """The estimated probability that the next schedule shows something new, with its interval (`low` to `high`).

    The confidence of the interval is CONFIDENCE. `schedules` is the number of schedules in the sample. `alone` is the
    number of schedules that showed something that no other schedule showed.
    """

    schedules: int
    alone: int
    probability: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """The probability with its interval, such as `0.001 (95% interval: 0.0008 to 0.0012)`."""
        return f"{self.probability:.2g} ({CONFIDENCE:.0%} interval: {self.low:.2g} to {self.high:.2g})"


def estimate_json(estimate: Estimate) -> "parts.Estimate":
    """Return an estimate as plain data for JSON."""
    return {
        "schedules": estimate.schedules,
        "alone": estimate.alone,
        "probability": estimate.probability,
        "low": estimate.low,
        "high": estimate.high,
        "confidence": CONFIDENCE,
    }


def something_new(tally: Tally) -> Estimate:
    """Return the estimate for the schedules of a Tally (counted results). Without schedules, the probability is 1."""
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
    """Return the growth of coverage: the number of situations (coverage points) that the first n schedules reached.

    The numbers n are on a logarithmic scale.
    """
    first = np.sort(np.concatenate([met.first for met in tally.met]))
    walked = np.unique(np.geomspace(1, max(tally.schedules, 1), _POINTS).round().astype(np.int64))
    return [Discovery(int(n), int(np.searchsorted(first, n))) for n in walked]
