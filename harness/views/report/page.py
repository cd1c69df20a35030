"""The content of a report as plain data, without its appearance.

A report is built from case files (from_cases.py) or from a random run (from_walk.py), and rendered by html.py.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from epochfuzz.harness.cases.case_yaml import STANDARD_INPUT
from epochfuzz.harness.documents.records import Discovery
from epochfuzz.harness.engine.explore.estimate import Estimate
from epochfuzz.harness.trace.story import Story

BROKEN = "broken"  # broken, but should hold
KNOWN = "known"  # broken, a known bug
HELD = "held"
ASIDE = "aside"  # no guarantee, or not checked


@dataclass(frozen=True)
class TableCell:
    """A cell of a table.

    `kind` determines the sign and the colour of the cell. `exhibit` is the id of the Exhibit that explains the cell, or
    None.
    """

    kind: str
    text: str
    exhibit: str | None = None


@dataclass(frozen=True)
class TableRow:
    """A row of a table by protocol: the name of a property, goal or case, its meaning, and a cell for each protocol."""

    name: str
    means: str
    cells: tuple[TableCell, ...]


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """A schedule that the reader can step through. `remark` is a comment such as `as expected`.

    `case` is the text of a case file with the schedule, and `file` is a name for this file. `play` is the address of
    the schedule in `play`, or None if the address would be too long.
    """

    id: str
    title: str
    kind: str
    remark: str
    notes: tuple[str, ...]
    story: Story
    case: str
    file: str
    play: str | None

    @property
    def command(self) -> str:
        """The command that replays the case from standard input under the protocols of the story."""
        protocols = [word for run in self.story.runs for word in ("--protocol", run.protocol.name)]
        return shlex.join(["epochfuzz", "replay", STANDARD_INPUT, *protocols, "--trace"])


@dataclass(frozen=True)
class CoverageSection:
    """The situations that a random run has met, and reachable situations that it has not met.

    `met` counts situations by protocol. `unreached` lists, by protocol, the situations that a search found and the run
    did not meet. `curve` counts the situations met under all protocols together, by the number of schedules.
    `estimate` is the probability that one more schedule shows something new.
    """

    met: Mapping[str, int]
    unreached: Mapping[str, Sequence[str]]
    curve: Sequence[Discovery]
    estimate: Estimate


@dataclass(frozen=True, kw_only=True)
class ReportPage:
    """The content of a whole report."""

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
