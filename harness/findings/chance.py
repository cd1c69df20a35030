"""Estimate the probability that one more schedule of a conformance run shows a new kind of finding.

The estimate is Good and Turing's, as in engine/explore/estimate.py. It is the number of kinds that exactly one schedule
showed, divided by the number of schedules. The confidence interval is Wilson's (1927), which needs no library. With
`--selection coverage`, schedules are not independent. Later schedules then show fewer new kinds than earlier ones, so
the estimate tends to be too high.
"""

from collections.abc import Iterable
from statistics import NormalDist

from epochfuzz.harness.engine.explore.estimate import CONFIDENCE, Estimate


def of_new_finding(schedules: int, seen: Iterable[int]) -> Estimate:
    """Return the estimated probability that the next schedule shows a new kind of finding, with its interval.

    `schedules` is the number of schedules so far. `seen` has the number of schedules that showed each kind of finding.
    """
    if not schedules:
        return Estimate(0, 0, 1.0, 0.0, 1.0)
    alone = min(schedules, sum(count == 1 for count in seen))
    share = alone / schedules
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    middle = share + z * z / (2 * schedules)
    spread = z * (share * (1 - share) / schedules + (z / (2 * schedules)) ** 2) ** 0.5
    scale = 1 + z * z / schedules
    low = max(0.0, (middle - spread) / scale) if alone else 0.0  # rounding would leave a tiny bound
    return Estimate(schedules, alone, share, low, min(1.0, (middle + spread) / scale))
