"""What systems break: cases replayed on them, and the table that comes of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from epochfuzz.harness.cases.case import Case, OnSystem
from epochfuzz.harness.cases.verdict import broken_otherwise
from epochfuzz.harness.conform.protocol.discrepancy import JUDGED, Discrepancy, SubjectUnable
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.harness.conform.run.rerun import Rerun, rerun
from epochfuzz.harness.trace.replay import Run, broken_text
from epochfuzz.model.kafka.contract.properties import PROPERTIES
from tests.systems.system import System

PATIENCE = 60.0  # a machine that compiles at the same time may be slow


@dataclass(frozen=True)
class Sight:
    """What came of a case on a system. `again` is what came of it the second time, where something broke the first."""

    system: System
    case: Case
    rerun: Rerun
    again: Rerun | None

    @property
    def run(self) -> Run:
        """What broke."""
        return self.rerun.subject

    @property
    def expected(self) -> OnSystem | None:
        """What the case expects of the system; None if it says nothing of it."""
        return self.case.systems.get(self.system.name)

    @property
    def failed(self) -> Discrepancy | None:
        """Why there is no verdict, if there is none."""
        differs = self.rerun.differs
        return differs[1] if differs is not None and differs[1].kind not in JUDGED else None

    @property
    def complaints(self) -> list[str]:
        """All that is not as it should be."""
        if self.failed is not None:
            return [f"no answer: {self.failed.sentence}"]
        if self.again is not None and self.again.first_broken != self.rerun.first_broken:
            return [f"unstable: {broken_text(self.run)}, and the next time {broken_text(self.again.subject)}"]
        return [*broken_otherwise(self.run, self.expected)] if self.expected is not None else []


class Replays:
    """Replays cases on a system, one after another; `unable` has what it had not got for some, and how often."""

    def __init__(self, system: System) -> None:
        self.unable: dict[str, int] = {}
        self._system = system

    def of(self, cases: Sequence[Case]) -> Iterator[Sight]:
        """Yield what comes of each case that the system can do; what breaks is replayed once more."""
        with CommandSubject(self._system.command, PATIENCE) as subject:
            for case in cases:
                try:
                    yield self._sight(subject, case)
                except SubjectUnable as error:
                    self.unable[str(error)] = self.unable.get(str(error), 0) + 1

    def _sight(self, subject: CommandSubject, case: Case) -> Sight:
        protocol = self._system.protocol_for(case)
        first = rerun(subject, case, protocol)
        again = rerun(subject, case, protocol) if first.first_broken else None
        return Sight(self._system, case, first, again)


def fewest(sights: Sequence[Sight]) -> dict[tuple[str, str], Sight]:
    """Return by system and property the case that breaks it in the fewest events.

    As in the table of releases, elections are clean and no power fails; what is permitted breaks nothing.
    """
    found: dict[tuple[str, str], Sight] = {}
    for sight in sights:
        if sight.case.settings.unclean_leader_election or sight.case.settings.power_loss:
            continue
        for name in sight.run.broken:
            key = sight.system.name, name
            if key not in found or _events(sight, name) < _events(found[key], name):
                found[key] = sight
    return found


def _events(sight: Sight, name: str) -> int:
    return sight.run.first_broken[name]


def table(sights: Sequence[Sight]) -> Table:
    """A row for each system, a column for each property that one of them breaks: in how many events."""
    found = fewest(sights)
    columns = [each.name for each in PROPERTIES if any(name == each.name for _, name in found)]
    made = Table("system", *columns)
    for system in dict.fromkeys(sight.system.name for sight in sights):
        cells = ((found.get((system, name)), name) for name in columns)
        made.add_row(system, *("-" if sight is None else str(_events(sight, name)) for sight, name in cells))
    return made


def evidence(sights: Sequence[Sight]) -> Iterator[str]:
    """Yield for each cell of the table the case that shows it, and the issue that tells of it, if one does."""
    for (system, name), sight in fewest(sights).items():
        yield f"{system} breaks {name} in {_events(sight, name)} events: {sight.case.id} ({_known(sight)})"


def _known(sight: Sight) -> str:
    if sight.expected is not None and sight.expected.issue is not None:
        return sight.expected.issue
    return "no issue of the system's known: suspected"
