"""Coverage: what schedules met, in how many of them, and in which first. Exact, and merged in any order."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

MOST = 1 << 15  # different situations that a block has room for, several times as many as were ever seen
_SITUATION, _SCHEDULES, _FIRST, _LAST = range(4)  # columns of Meetings.rows


@dataclass(frozen=True)
class Coverage:
    """The situations met, ascending; in how many schedules each; and the number of the first of these."""

    situations: Numbers
    schedules: Numbers
    first: Numbers

    @staticmethod
    def empty() -> "Coverage":
        """Nothing was met."""
        return Coverage(*np.empty((3, 0), np.int64))

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """Each situation with the number of schedules and the first."""
        return zip(self.situations.tolist(), self.schedules.tolist(), self.first.tolist(), strict=True)

    def merged(self, other: "Coverage") -> "Coverage":
        """Return the coverage of these schedules and others."""
        both, place = np.unique(np.concatenate([self.situations, other.situations]), return_inverse=True)
        schedules = np.zeros(both.shape, np.int64)
        np.add.at(schedules, place, np.concatenate([self.schedules, other.schedules]))
        first = np.full(both.shape, np.iinfo(np.int64).max)
        np.minimum.at(first, place, np.concatenate([self.first, other.first]))
        return Coverage(both, schedules, first)


@dataclass(frozen=True)
class Meetings:
    """Where a kernel writes down, for each protocol, what it meets.

    `place` has for each situation the row that it takes in `rows`, -1 for none yet; `size` counts rows taken.
    """

    place: npt.NDArray[np.int32]
    rows: Numbers
    size: Numbers

    @staticmethod
    def none(protocols: int, situations: int) -> "Meetings":
        """Return room for a block under that number of protocols, where there can be so many situations."""
        return Meetings(
            np.full((protocols, situations), -1, np.int32),
            np.empty((protocols, MOST, 4), np.int64),
            np.zeros(protocols, np.int64),
        )

    def coverage(self) -> list[Coverage]:
        """Return what was met under each protocol."""
        met = []
        for rows, size in zip(self.rows, self.size, strict=True):
            taken = rows[:size]
            taken = taken[np.argsort(taken[:, _SITUATION])]
            met.append(Coverage(*taken[:, [_SITUATION, _SCHEDULES, _FIRST]].T.copy()))
        return met


def meet(place, rows, size, protocol, situation, schedule):  # type: ignore[no-untyped-def]
    """Write down that a schedule met a situation; schedules come in ascending order."""
    row = place[protocol, situation]
    if row == -1:
        row = size[protocol]
        place[protocol, situation] = row
        size[protocol] = row + 1
        rows[protocol, row, _SITUATION] = situation
        rows[protocol, row, _SCHEDULES] = 1
        rows[protocol, row, _FIRST] = schedule
        rows[protocol, row, _LAST] = schedule
    else:  # not a branch: whether it is the first time in a schedule is what a processor would guess wrong
        rows[protocol, row, _SCHEDULES] += rows[protocol, row, _LAST] != schedule
        rows[protocol, row, _LAST] = schedule
