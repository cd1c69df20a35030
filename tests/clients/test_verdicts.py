"""The table of `make clients`: its cases, its verdicts and its rows, with clients that are scripts."""

import sys
from dataclasses import replace
from io import StringIO

import pytest

pytest.importorskip("kio")

from rich.console import Console

from epochfuzz.harness.cases.case import Case, load_case
from epochfuzz.harness.cases.verdict import judge
from epochfuzz.harness.conform.client.client_cases import MOST_EVENTS, client_cases, is_for_clients
from epochfuzz.harness.conform.protocol.discrepancy import DiscrepancyKind
from tests.clients import verdicts
from tests.clients.fake import FAKE
from tests.clients.library import Library, libraries
from tests.clients.verdicts import PROTOCOL, Kind, Verdict
from tests.systems.system import BuildError

CASES = client_cases([PROTOCOL])
SILENT = FAKE % "pass"
UNABLE = FAKE % 'report["error"] = "no acks=all"'


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "PATIENCE", 0.3)


def verdict_of(program: str, case: Case) -> Verdict:
    (verdict,) = verdicts.verdicts([sys.executable, "-c", program], [case])
    return verdict


def printed(table: object) -> str:
    console = Console(width=300, file=StringIO())
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_there_are_at_least_forty_cases_for_clients() -> None:
    assert len(CASES) >= 40
    assert max(len(case.events) for case in CASES) <= MOST_EVENTS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_client_can_cause_every_event_of_a_case(case: Case) -> None:
    assert is_for_clients(case, PROTOCOL)
    assert judge(case).as_expected


@pytest.mark.parametrize("name", ["m1-loss", "acks-all-never-answered", "kafka-13141-diverging-fetch-counted"])
def test_a_case_whose_events_no_client_causes_is_not_for_clients(name: str) -> None:
    assert not is_for_clients(load_case(name), PROTOCOL)


def test_a_client_that_sends_nothing_fails() -> None:
    verdict = verdict_of(SILENT, load_case("normal-replication"))
    assert verdict.failure is not None
    assert (verdict.kind, verdict.failure.fault.kind) == (Kind.FAILS, DiscrepancyKind.TIMEOUT)


def test_a_client_that_cannot_run_with_the_settings_has_no_verdict() -> None:
    verdict = verdict_of(UNABLE, load_case("normal-replication"))
    assert (verdict.kind, verdict.unable) == (Kind.NOT_RUN, "no acks=all")


def test_a_case_whose_events_did_not_all_happen_is_not_ok() -> None:
    case = load_case("normal-replication")
    verdict = Verdict(case, failure=None, is_unstable=False, missed=2, seconds=1.0)
    assert verdict.kind is Kind.MISSED


def test_a_library_whose_toolchain_is_missing_has_a_row_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    sarama = next(library for library in libraries() if library.name == "Sarama")
    with pytest.raises(BuildError, match="go is missing") as caught:
        sarama.command()
    assert "Sarama: skipped, because go is missing" in printed(verdicts.table({}, {sarama: str(caught.value)}))


def test_the_tables_have_a_row_for_each_library_and_for_each_case() -> None:
    case = load_case("normal-replication")
    library = Library("mine", "1.0", list)
    found = {library: [Verdict(case, failure=None, is_unstable=False, missed=0, seconds=0.5)]}
    cells = [cell.strip() for cell in printed(verdicts.table(found, {})).splitlines()[3].strip("│ ").split("│")]
    assert cells == ["mine 1.0", "1", "1", "0", "0", "0", "0", "0.5"]
    assert "1 other cases" in printed(verdicts.by_case(found))
    found[library] = [replace(found[library][0], missed=2)]
    assert "normal-replication" in printed(verdicts.by_case(found))


def test_a_failure_is_printed_with_its_schedule_and_its_report() -> None:
    case = load_case("normal-replication")
    library = Library("mine", "1.0", list, issue="mine#1")
    line, events = verdicts.evidence({library: [verdict_of(SILENT, case)]})
    assert line.startswith("mine 1.0, normal-replication: ")
    assert line.endswith("(mine#1)")
    assert events == "    produce A, fetch B, receive B, fetch B, receive B"


def test_every_library_of_the_page_has_a_row() -> None:
    names = {library.name for library in libraries()}
    assert names == {"librdkafka", "aiokafka", "kafka-python", "franz-go", "Sarama", "Kafka's Java client"}
