"""The verdicts of client libraries on cases, and the table of `make clients`."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rich.table import Column, Table

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.conform.client.client_subject import ClientSubject
from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.protocol.discrepancy import SubjectUnable
from epochfuzz.harness.conform.run.drive import ConformanceFailure, Driven, Setting, drive
from epochfuzz.harness.serve.settings import settings_for_clients
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.clients.library import REPORTS, Library

PROTOCOL = parse_protocol("kafka-2.6.1")  # a new leader accepts the next record of a producer that it does not know
PATIENCE = 5.0


@dataclass(frozen=True)
class Verdict:
    """The result of a case on a library.

    `failure` is the failure that two processes in a row have shown, None if there is none. `is_unstable` says that the
    second process did not repeat the failure. `missed` counts the events that did not happen in the first run, because
    the client did not send the request. `unable` is the client's reason why it cannot run with the case's settings, or
    an empty text. `seconds` is the time of the first run.
    """

    case: Case
    failure: ConformanceFailure | None
    is_unstable: bool
    missed: int
    seconds: float
    unable: str = ""

    @property
    def kind(self) -> "Kind":
        """The column of the table that counts the verdict."""
        if self.unable:
            return Kind.NOT_RUN
        if self.failure is None:
            return Kind.MISSED if self.missed else Kind.OK
        return Kind.UNSTABLE if self.is_unstable else Kind.FAILS


class Kind(StrEnum):
    """The kinds of verdicts, in the order of the columns."""

    OK = "ok"
    FAILS = "fails"
    UNSTABLE = "unstable"
    MISSED = "missed"
    NOT_RUN = "not run"


def verdicts(command: Sequence[str], cases: Sequence[Case]) -> Iterator[Verdict]:
    """Yield the verdict of a client on each case. A failure is repeated on a new process before it is reported."""
    with ClientSubject(command, PATIENCE) as subject:
        for case in cases:
            started = time.monotonic()
            try:
                driven = run(subject, case.events, case.settings)
            except SubjectUnable as error:
                yield Verdict(case, None, False, 0, time.monotonic() - started, str(error))
                continue
            seconds = time.monotonic() - started
            failure = next(iter(driven.sightings), None)
            missed = sum(not applied for applied, _ in driven.answers)
            yield Verdict(case, failure, failure is not None and not _repeats(command, case, failure), missed, seconds)


def _repeats(command: Sequence[str], case: Case, failure: ConformanceFailure) -> bool:
    with ClientSubject(command, PATIENCE) as subject:
        return any(map(failure.repeats, run(subject, case.events, case.settings).sightings))


def run(subject: ClientSubject, schedule: bytes, settings: Configuration) -> Driven:
    """Run a schedule on a client."""
    return drive(
        subject, schedule, Setting(PROTOCOL, settings_for_clients(settings), JudgedBy.PROMISES, is_client=True)
    )


def table(found: dict[Library, list[Verdict]], skipped: dict[Library, str]) -> Table:
    """Return the table: a row for each library with counts of its verdicts, or with the reason why it is skipped."""
    made = Table("library", "cases", *(kind.value for kind in Kind), "s per case")
    for library, of_library in found.items():
        made.add_row(library.title, *_counts(of_library))
    for library, reason in skipped.items():
        made.add_row(f"{library.name}: skipped, because {reason}")
    return made


def _counts(of_library: Sequence[Verdict]) -> Iterator[str]:
    """Yield the cells of a library's row."""
    kinds = Counter(verdict.kind for verdict in of_library)
    yield str(len(of_library))
    yield from (str(kinds[kind]) for kind in Kind)
    yield f"{sum(verdict.seconds for verdict in of_library) / len(of_library):.1f}"


def by_case(found: dict[Library, list[Verdict]]) -> Table:
    """Return the verdict of each library on each case: a row for each case, a column for each library.

    The last row counts the cases that are ok for all libraries.
    """
    made = Table(Column("case", no_wrap=True), *(library.title for library in found))
    rows = [*zip(*found.values(), strict=True)]
    different = [row for row in rows if any(verdict.kind is not Kind.OK for verdict in row)]
    for row in different:
        made.add_row(row[0].case.id, *(verdict.kind.value for verdict in row))
    made.add_row(f"{len(rows) - len(different)} other cases", *(Kind.OK.value for _ in found))
    return made


def evidence(found: dict[Library, list[Verdict]]) -> Iterator[str]:
    """Yield for each failure the sentence, the report of it, and the reproducer."""
    for library, of_library in found.items():
        for verdict in of_library:
            if verdict.failure is not None:
                known = REPORTS.get(verdict.case.id) or library.issue or "we know no report"
                yield f"{library.title}, {verdict.case.id}: {verdict.failure.fault.sentence} ({known})"
                yield f"    {', '.join(schedule_texts(verdict.failure.sent))}"
