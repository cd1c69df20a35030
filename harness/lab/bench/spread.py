"""Summarize measurements of one quantity: the median, the least and the greatest."""

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
        """Return the median, the least and the greatest of at least one value."""
        return Spread(median(values), min(values), max(values))

    def json(self) -> Any:
        """Return the three numbers by name, rounded to four significant digits."""
        return {name: float(f"{value:.4g}") for name, value in vars(self).items()}


def percentile_95(values: Sequence[float]) -> float:
    """Return the 95th percentile of some values, by the nearest rank."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]
