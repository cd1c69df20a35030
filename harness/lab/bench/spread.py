"""Summarize several measurements of one quantity by their median and their extremes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Spread:
    """The median, the least and the greatest of some measurements."""

    median: float
    least: float
    greatest: float

    @staticmethod
    def of(values: Sequence[float]) -> "Spread":
        """Return the spread of at least one value."""
        return Spread(median(values), min(values), max(values))

    def json(self) -> Any:
        """Return the three numbers, rounded to four significant digits."""
        return {name: float(f"{value:.4g}") for name, value in vars(self).items()}


def percentile_95(values: Sequence[float]) -> float:
    """Return the least value that 95 of 100 values do not exceed (nearest rank)."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]
