"""`conformance_test` with `client=True`: the random schedules of a client as a test case."""

import sys
from types import SimpleNamespace
from unittest import TestCase

import pytest

pytest.importorskip("kio")

from epochfuzz.harness.conform import CommandSubject, conformance_test
from epochfuzz.harness.conform.client import client_test
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind, SubjectUnable
from epochfuzz.harness.conform.run.block import Trial
from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
from epochfuzz.harness.conform.run.drive import ConformanceFailure
from epochfuzz.harness.conform.run.machine import NonConformance
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.plugin.failures import sections
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from tests.clients.fake import FAKE

INVENTS = FAKE % 'report["acked"] = ["m0"]'
EVENTS = parse_schedule(["produce A", "fetch B"])
UNABLE = FAKE % 'report["error"] = "no acks=all"'


@pytest.fixture(autouse=True)
def one_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand for a Hypothesis profile of one schedule with seed 0."""
    monkeypatch.setattr(client_test, "hypothesis_settings", lambda: SimpleNamespace(max_examples=1, derandomize=True))


def run_test(*command: str) -> None:
    """Run the test of a client. Raises the exception of the test."""
    kind = conformance_test(lambda: CommandSubject([sys.executable, *command]), client=True, protocol="kafka-2.6.1")
    test: TestCase = kind("test_random_schedules")
    test.debug()


def finding(known_flaw: str | None = None) -> ConformanceFinding:
    fault = Discrepancy(DiscrepancyKind.PROMISE, "consumer-no-skip", "holds", "the consumer has never read m0")
    trial = Trial(EVENTS, Configuration(consumer=True), number=3)
    return ConformanceFinding(
        protocol=parse_protocol("kafka-2.6.1"),
        sighting=ConformanceFailure(fault, EVENTS),
        answers=[(True, {})] * 2,
        trial=trial,
        shrunk_from=9,
        seen=1,
        known_flaw=known_flaw,
    )


def run_test_that_finds(monkeypatch: pytest.MonkeyPatch, *findings: ConformanceFinding) -> None:
    monkeypatch.setattr(client_test, "run", lambda *_: Conformance(schedules=1, nonconformities=[*findings]))
    run_test("unused")


@pytest.mark.thorough
def test_a_client_that_breaks_a_guarantee_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_test, "MOST_SECONDS", 0.0)
    with pytest.raises(NonConformance, match=r"no-acked-loss is broken.*; schedule 0 of seed 0"):
        run_test("-c", INVENTS)


def test_the_failure_of_a_client_has_its_schedule_its_drawing_and_its_case(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NonConformance, match=r"m0; schedule 3 of seed 0\nafter produce A, fetch B$") as caught:
        run_test_that_finds(monkeypatch, finding())
    (_, drawing), (_, case) = sections(caught.value, None)
    assert "produce A" in drawing
    assert "- fetch B" in case


def test_a_known_bug_of_the_protocol_does_not_fail_the_test_of_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    run_test_that_finds(monkeypatch, finding(known_flaw="KAFKA-1"))


@pytest.mark.thorough
def test_a_client_that_keeps_its_guarantees_passes() -> None:
    pytest.importorskip("confluent_kafka")
    run_test("-m", "tests.clients.librdkafka")


def test_a_client_that_cannot_run_the_settings_fails_with_the_reason() -> None:
    with pytest.raises(SubjectUnable, match="no acks=all"):
        run_test("-c", UNABLE)


def test_a_conformance_test_of_a_client_needs_a_command() -> None:
    with pytest.raises(ValueError, match="needs a factory that returns a CommandSubject"):
        conformance_test(object, client=True)  # type: ignore[arg-type]
