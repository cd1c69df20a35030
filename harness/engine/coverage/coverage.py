"""For each situation (coverage point), count the schedules that reached it, and note the number of the first schedule.

The counts are exact. You can merge the coverage of different schedules in any order with the same result.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

MOST = 1 << 15  # most situations that a block can record; several times the largest number in any block so far
_SITUATION, _SCHEDULES, _FIRST, _LAST = range(4)  # columns of Meetings.rows


@dataclass(frozen=True)
class Coverage:
    """The situations (coverage points) that some schedules reached: their numbers, and two values for each.

    The three arrays are parallel, in ascending order of `situations`. `schedules` counts the schedules that reached the
    situation, and `first` is the lowest number of a schedule that reached it.
    """

    situations: Numbers
    schedules: Numbers
    first: Numbers

    @staticmethod
    def empty() -> "Coverage":
        """Return the coverage of no schedules."""
        return Coverage(*np.empty((3, 0), np.int64))

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """Yield (situation, number of schedules that reached it, lowest number of these schedules)."""
        return zip(self.situations.tolist(), self.schedules.tolist(), self.first.tolist(), strict=True)

    def merged(self, other: "Coverage") -> "Coverage":
        """Return the coverage of two sets of schedules together. No schedule may be in both sets."""
        both, place = np.unique(np.concatenate([self.situations, other.situations]), return_inverse=True)
        schedules = np.zeros(both.shape, np.int64)
        np.add.at(schedules, place, np.concatenate([self.schedules, other.schedules]))
        first = np.full(both.shape, np.iinfo(np.int64).max)
        np.minimum.at(first, place, np.concatenate([self.first, other.first]))
        return Coverage(both, schedules, first)


@dataclass(frozen=True)
class Meetings:
    """The arrays that a kernel (a compiled function) fills with the situations that schedules reach, by protocol.

    `place[protocol, situation]` is the number of the situation's row in `rows[protocol]`, or -1 if it has none.
    `size[protocol]` is the number of rows in use.
    """

    place: npt.NDArray[np.int32]
    rows: Numbers
    size: Numbers

    @staticmethod
    def none(protocols: int, situations: int) -> "Meetings":
        """Return empty arrays for a block of schedules.

        `protocols` is the number of protocols. `situations` is the number of situations that the model can have.
        """
        return Meetings(
            np.full((protocols, situations), -1, np.int32),
            np.empty((protocols, MOST, 4), np.int64),
            np.zeros(protocols, np.int64),
        )

    def coverage(self) -> list[Coverage]:
        """Return the recorded coverage, one Coverage for each protocol."""
        met = []
        for rows, size in zip(self.rows, self.size, strict=True):
            taken = rows[:size]
            taken = taken[np.argsort(taken[:, _SITUATION])]
            met.append(Coverage(*taken[:, [_SITUATION, _SCHEDULES, _FIRST]].T.copy()))
        return met


def meet(place, rows, size, protocol, situation, schedule):  # type: ignore[no-untyped-def]
    """Record that a schedule reached a situation. Call the function in ascending order of schedule numbers."""
    row = place[protocol, situation]
    if row == -1:
        row = size[protocol]
        place[protocol, situation] = row
        size[protocol] = row + 1
        rows[protocol, row, _SITUATION] = situation
        rows[protocol, row, _SCHEDULES] = 1
        rows[protocol, row, _FIRST] = schedule
        rows[protocol, row, _LAST] = schedule
    else:  # add the result of the comparison: the processor would often mispredict a branch on it
        rows[protocol, row, _SCHEDULES] += rows[protocol, row, _LAST] != schedule
        rows[protocol, row, _LAST] = schedule
