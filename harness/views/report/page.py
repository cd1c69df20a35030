"""What a report shows, as plain data; how it looks is up to the templates.

A page is made from case files (from_cases.py) or from a walk (from_walk.py), and rendered by html.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from epochfuzz.harness.engine.explore.estimate import Discovery, Estimate
from epochfuzz.harness.witness.story import Story

BROKEN = "broken"  # and should not be
KNOWN = "known"  # broken, as is known
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
    """A schedule to step through, and what is to be said of runs that break something as they should: `remark`.

    `case` is the text of its case file, which is read by `command` from standard input; `file` is what to save it as.
    """

    id: str
    title: str
    kind: str
    remark: str
    notes: tuple[str, ...]
    story: Story
    command: str
    case: str
    file: str


@dataclass(frozen=True)
class CoverageSection:
    """What a walk has met of the protocol's situations, and what remains to be met.

    `met` counts situations by protocol, `unreached` lists those within reach that were not met, where that is known.
    `curve` is how many were met, under all protocols together, in that number of first schedules. The `estimate` is of
    one more such schedule showing something new.
    """

    met: Mapping[str, int]
    unreached: Mapping[str, Sequence[str]]
    curve: Sequence[Discovery]
    estimate: Estimate


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
    coverage: CoverageSection | None = None
