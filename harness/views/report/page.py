"""The content of a report as plain data. The templates determine its appearance.

A page is built from case files (from_cases.py) or from a random run (from_walk.py), and rendered by html.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from epochfuzz.harness.documents.records import Discovery
from epochfuzz.harness.engine.explore.estimate import Estimate
from epochfuzz.harness.trace.story import Story

BROKEN = "broken"  # broken, but should hold
KNOWN = "known"  # broken, a known bug
HELD = "held"
ASIDE = "aside"  # no guarantee, or not checked


@dataclass(frozen=True)
class TableCell:
    """A cell of a table. Its kind determines sign and colour, and `exhibit` is the id of its explanation."""

    kind: str
    text: str
    exhibit: str | None = None


@dataclass(frozen=True)
class TableRow:
    """A row of a table by protocol: its name, the meaning of the name, and a cell for each protocol."""

    name: str
    means: str
    cells: tuple[TableCell, ...]


@dataclass(frozen=True)
class Exhibit:
    """A schedule that the reader can step through. `remark` comments on expected violations.

    `case` is the text of its case file, which `command` reads from standard input. `file` is a name for the saved file.
    `play` is the address of the schedule in `play`; None if it is too long.
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
    play: str | None


@dataclass(frozen=True)
class CoverageSection:
    """The situations that a random run has met, and the situations that it has not met.

    `met` counts situations by protocol. `unreached` lists the reachable situations that were not met, if known. `curve`
    is the number of situations met under all protocols together, by the number of schedules. `estimate` is the
    probability that one more such schedule shows something new.
    """

    met: Mapping[str, int]
    unreached: Mapping[str, Sequence[str]]
    curve: Sequence[Discovery]
    estimate: Estimate


@dataclass(frozen=True)
class ReportPage:
    """A whole report."""

    title: str
    summary: str
    facts: tuple[tuple[str, str], ...]  # name and value
    protocols: tuple[str, ...]
    properties: tuple[TableRow, ...]
    exhibits: tuple[Exhibit, ...]
    commands: tuple[str, ...]  # commands that reproduce the report's contents
    cases: tuple[TableRow, ...] = ()
    goals: tuple[TableRow, ...] = ()
    coverage: CoverageSection | None = None
