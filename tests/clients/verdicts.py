"""The verdicts of client libraries on cases, and the table of `make clients`."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.conform.client.client_subject import ClientSubject
from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.run.drive import ConformanceFailure, Setting, drive
from epochfuzz.harness.serve.settings import settings_for_clients
from epochfuzz.harness.trace.replay import replay
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.clients.library import Library

PROTOCOL = parse_protocol("kafka-2.6.1")  # a new leader accepts the next record of a producer that it does not know
MOST_EVENTS = 15
PATIENCE = 5.0
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Verdict:
    """The result of a case on a library.

    `failure` is the failure that two processes in a row have shown, None if there is none. `is_unstable` says that the
    second process did not repeat the failure. `seconds` is the time of the first run.
    """

    case: Case
    failure: ConformanceFailure | None
    is_unstable: bool
    seconds: float

    @property
    def mark(self) -> str:
        """The text of the verdict's cell: the broken property, or the kind of failure."""
        if self.failure is None:
            return "ok"
        return "unstable" if self.is_unstable else self.failure.fault.field or self.failure.fault.kind.value


def client_cases() -> list[Case]:
    """Return the cases for clients: those of tests/clients/cases, and the bundled ones whose events all happen."""
    own = load_corpus([_HERE / "cases"])
    bundled = load_corpus([_HERE.parents[1] / "corpus"])
    return [*own, *filter(_is_for_clients, bundled)]


def _is_for_clients(case: Case) -> bool:
    """Return whether the endpoint can serve a case, all of its events happen, and it is short enough."""
    if case.settings.transactions or case.systems or len(case.events) > MOST_EVENTS:
        return False
    steps = replay(case.events, PROTOCOL, settings_for_clients(case.settings)).steps
    return all(step.applied for step in steps)


def verdicts(library: Library, command: Sequence[str], cases: Sequence[Case]) -> Iterator[Verdict]:
    """Yield the verdict of each case. A failure is repeated on a new process before it is reported."""
    for case in cases:
        started = time.monotonic()
        first = failure_of(command, case)
        seconds = time.monotonic() - started
        again = None if first is None else failure_of(command, case)
        is_unstable = first is not None and (again is None or not again.repeats(first))
        yield Verdict(case, first, is_unstable, seconds)


def failure_of(command: Sequence[str], case: Case) -> ConformanceFailure | None:
    """Run a case on a client, and return its first failure."""
    setting = Setting(PROTOCOL, settings_for_clients(case.settings), JudgedBy.PROMISES, is_client=True)
    with ClientSubject(command, PATIENCE) as subject:
        return next(iter(drive(subject, case.events, setting).sightings), None)


def table(found: dict[Library, list[Verdict]], skipped: dict[Library, str]) -> Table:
    """Return the table: a row for each library with counts of its verdicts, or with the reason why it is skipped."""
    made = Table("library", "cases", "ok", "fails", "unstable", "s per case")
    for library in [*found, *skipped]:
        if library in skipped:
            made.add_row(library.name, "skipped", skipped[library])
            continue
        marks = [verdict.mark for verdict in found[library]]
        ok, unstable = marks.count("ok"), marks.count("unstable")
        seconds = sum(verdict.seconds for verdict in found[library]) / len(marks)
        counts = (len(marks), ok, len(marks) - ok - unstable, unstable)
        made.add_row(library.title, *map(str, counts), f"{seconds:.1f}")
    return made


def by_case(found: dict[Library, list[Verdict]]) -> Table:
    """Return the verdict of each library on each case: a row for each case, a column for each library."""
    made = Table("case", *(library.title for library in found))
    for verdicts_on_case in zip(*found.values(), strict=True):
        made.add_row(verdicts_on_case[0].case.id, *(verdict.mark for verdict in verdicts_on_case))
    return made


def evidence(found: dict[Library, list[Verdict]]) -> Iterator[str]:
    """Yield for each failure its reproducer and the report of it."""
    for library, of_library in found.items():
        for verdict in of_library:
            if verdict.failure is not None:
                events = ", ".join(schedule_texts(verdict.failure.sent))
                known = library.issues.get(verdict.case.id, library.issue) or "we know no report"
                yield f"{library.title}, {verdict.case.id}: {verdict.failure.fault.sentence} ({known}): {events}"
