"""A case tests a client only if each request of the client arrives. Other cases are reported as not tested."""

from collections import Counter
from typing import Any

import pytest

pytest.importorskip("kio")

from epochfuzz.harness.conform.oracle.client_guarantees import CAUSED_BY_CLIENTS
from epochfuzz.harness.conform.oracle.judge import FIELDS, JudgedBy
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind
from epochfuzz.harness.conform.run.block import Block, BlockResult, Trial
from epochfuzz.harness.conform.run.drive import ConformanceFailure, Driven, Exercise
from epochfuzz.harness.conform.run.plan import Plan
from epochfuzz.harness.conform.run.run import Conformance
from epochfuzz.harness.serve.client_events import ROLES
from epochfuzz.harness.views.conformance import summary
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

SETTINGS = Configuration(consumer=True)
EVENTS = parse_schedule(["produce A", "fetch B", "receive B", "fetch B", "consume A"])


def block_of_client(protocol: str = "kafka-2.6.1") -> Block:
    return Block(
        command=("client",),
        patience=5.0,
        protocol=parse_protocol(protocol),
        judged_by=JudgedBy.PROMISES,
        trials=(),
        is_client=True,
    )


def missed(*applied: bool, protocol: str = "kafka-2.6.1", events: bytes = EVENTS, **trial: Any) -> str:
    """Return why a case with these replies of a client tests nothing, or an empty text."""
    block = block_of_client(protocol)
    driven = Driven(bytearray(events), [(each, {}) for each in applied])
    return block.missed(Trial(events, SETTINGS, **({"case": "mine"} | trial)), driven)


def test_a_case_tests_a_client_if_each_event_happens() -> None:
    assert missed(True, True, True, True, True) == ""


def test_a_case_without_a_request_of_the_client_tests_nothing() -> None:
    assert missed(True, True, True, True, False) == "the client sent no request for consume A"


def test_a_case_whose_broker_event_does_not_happen_still_tests_the_client() -> None:
    assert missed(True, False, True, True, True) == ""


def test_a_case_with_a_client_event_that_the_protocol_does_not_enable_tests_nothing() -> None:
    late = parse_schedule(["produce A", "consume A"])  # no follower has fetched m0, so the high watermark is 0
    assert missed(True, False, events=late) == "kafka-2.6.1 does not enable consume A"


def test_a_case_whose_client_event_was_not_sent_tests_nothing() -> None:
    block = block_of_client()
    driven = Driven(bytearray(EVENTS[:-1]), [(True, {})] * 4)
    assert block.missed(Trial(EVENTS, SETTINGS, case="mine"), driven) == "kafka-2.6.1 does not enable consume A"


def test_a_random_schedule_counts_although_some_of_its_events_do_not_happen() -> None:
    assert missed(True, True, True, True, False, case=None, number=3) == ""


def test_a_case_that_fails_counts_although_an_event_did_not_happen() -> None:
    block = block_of_client()
    driven = Driven(bytearray(EVENTS), [(False, {})] * 5)
    driven.sightings.append(ConformanceFailure(Discrepancy(DiscrepancyKind.TIMEOUT, None, "a reply", "none"), EVENTS))
    assert block.missed(Trial(EVENTS, SETTINGS, case="mine"), driven) == ""


def test_a_property_that_breaks_during_and_at_the_end_of_a_schedule_counts_once() -> None:
    protocol = parse_protocol("kafka-2.6.1")
    driven = Driven()
    for name, length in (("no-reorder", 2), ("consumer-no-skip", 4), ("consumer-no-skip", 5)):
        fault = Discrepancy(DiscrepancyKind.PROMISE, name, "holds", "it is broken")
        driven.sightings.append(ConformanceFailure(fault, EVENTS[:length]))
    result = BlockResult()
    result.add(Trial(EVENTS, SETTINGS, case="mine"), protocol, driven)
    assert [(one.fault.field, len(one.sighting.sent)) for one in result.failed] == [
        ("no-reorder", 2),
        ("consumer-no-skip", 4),
    ]


def test_a_run_whose_cases_all_tested_nothing_has_checked_nothing() -> None:
    conformance = Conformance()
    result = BlockResult()
    result.unable["mine"] = "the client sent no request for consume A"
    conformance.add(result, seconds=1.0)
    assert conformance.vacuous
    assert conformance.unable == {"mine": "the client sent no request for consume A"}


def test_the_endpoint_steers_a_client_at_each_event_that_clients_cause() -> None:
    assert set(ROLES) == CAUSED_BY_CLIENTS


def test_the_summary_of_a_client_names_untested_cases_and_gives_no_advice_for_brokers() -> None:
    protocols = [parse_protocol("kafka-2.6.1")]
    plan = Plan(
        command=("client",),
        protocols=protocols,
        settings=SETTINGS,
        schedules=0,
        seed=0,
        judged_by=JudgedBy.PROMISES,
        is_client=True,
    )
    conformance = Conformance(cases=1, shown=Exercise(steps=5, applied=Counter(produce=1), fields=Counter(FIELDS)))
    conformance.unable["mine"] = "the client sent no request for consume A"
    lines = list(summary(conformance, plan))
    assert "Not tested (the client sent no request for consume A): mine" in lines
    assert "Properties checked: no-acked-loss, no-duplicate, no-reorder, consumer-no-skip" in lines
    assert not [line for line in lines if line.startswith(("Next event to support", "Fields that were never shown"))]
