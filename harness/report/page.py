"""What a report shows, as plain data; how it looks is up to the templates.

A page is made from case files (from_cases.py) or from a walk (from_walk.py), and rendered by html.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.story import Story

BROKEN = "broken"  # and should not be
KNOWN = "known"  # broken, which is no news
HELD = "held"
ASIDE = "aside"  # nothing was promised, or nothing was looked at


@dataclass(frozen=True)
class Cell:
    """One cell of a table: its kind decides on sign and colour, `exhibit` is the id of the one that shows why."""

    kind: str
    text: str
    exhibit: str | None = None


@dataclass(frozen=True)
class Row:
    """A row of a table by protocol: what it is about, what that means, and a cell for each protocol."""

    name: str
    means: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Exhibit:
    """A schedule to step through. `case` is the text of its case file, `file` its name; `command` replays it."""

    id: str
    title: str
    kind: str
    notes: tuple[str, ...]
    story: Story
    command: str
    case: str
    file: str


@dataclass(frozen=True)
class Estimate:
    """The probability that the next schedule shows a situation not yet seen, with an interval and its assumption."""

    probability: float
    low: float
    high: float
    assumption: str


@dataclass(frozen=True)
class Coverage:
    """What a run has met under one protocol, in the protocol's own terms.

    `situations` gives the number of schedules that showed each, 0 for those never reached; `curve` is how many had
    been seen after so many schedules.
    """

    protocol: str
    situations: Sequence[tuple[str, int]]
    curve: Sequence[tuple[int, int]]
    estimate: Estimate | None = None


@dataclass(frozen=True)
class Page:
    """A whole report."""

    title: str
    summary: str
    facts: tuple[tuple[str, str], ...]  # name and value
    protocols: tuple[str, ...]
    properties: tuple[Row, ...]
    exhibits: tuple[Exhibit, ...]
    commands: tuple[str, ...]  # that make this report's contents again
    cases: tuple[Row, ...] = ()
    goals: tuple[Row, ...] = ()
    coverage: tuple[Coverage, ...] = ()
