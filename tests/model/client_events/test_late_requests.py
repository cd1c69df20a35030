"""Late records and markers of transactions (KIP-890, KIP-1228): begin, delay, arrive and mark."""

from dataclasses import replace

import pytest

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import schedule_texts, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Marker, Transaction
from tests.model.client_events import client_state
from tests.model.client_events.client_state import A, refusal

ACCEPTED, VERIFIED, RECORD_REJECTED, REJECTED = (
    f"kip-320:late_request={choice}" for choice in ("accepted", "verified", "record_rejected", "rejected")
)
EVERY_RULE = (ACCEPTED, VERIFIED, RECORD_REJECTED, REJECTED)
SETTINGS = Configuration(records=2, epochs=2, transactions=True, late_requests=True)
COMMITTED = "produce A, shrink B, commit A"
EARLY_MARKER = f"{COMMITTED}, produce A, mark A"


def after(protocol: str, schedule: str) -> Execution:
    return client_state.after(protocol, schedule, transactions=True, late_requests=True)


def broken_at_the_end(execution: Execution) -> list[str]:
    return properties.names(execution.broken() | execution.broken_at_end())


def test_late_requests_need_the_setting_and_transactions_and_exclude_retries() -> None:
    verbs = {"begin", "delay", "arrive", "mark"}
    assert verbs.isdisjoint(verb_of(event).text for event in Configuration(transactions=True).alphabet())
    alone = client_state.after(ACCEPTED, "", late_requests=True)
    retried = client_state.after(ACCEPTED, "", late_requests=True, transactions=True, retries=True)
    for verb in verbs:
        assert refusal(f"{verb} A", alone) == refusal(f"{verb} A", retried) == Refusal.DOES_NOT_HAPPEN


def test_a_producer_sends_no_other_record_while_its_transaction_has_a_late_record() -> None:
    delayed = after(ACCEPTED, "delay A")
    assert refusal("delay A", delayed) == Refusal.A_RECORD_IS_LATE
    assert refusal("produce A", delayed) == Refusal.OUT_OF_ORDER_SEQUENCE
    assert refusal("commit A", delayed) == Refusal.IS_NOT_ACKNOWLEDGED
    assert refusal("produce A", after(ACCEPTED, "delay A, abort A")) == APPLIED


def test_begin_and_delay_are_written_with_replica_a_only() -> None:
    assert refusal("begin B", after(ACCEPTED, "")) == Refusal.IS_OF_THE_PRODUCER
    assert refusal("delay B", after(ACCEPTED, "")) == Refusal.IS_OF_THE_PRODUCER


def test_a_transaction_begins_only_if_no_other_transaction_is_open() -> None:
    begun = after(ACCEPTED, "begin A")
    assert begun.state.transaction == Transaction.OPEN
    assert refusal("begin A", begun) == Refusal.HAS_A_TRANSACTION
    assert after(ACCEPTED, "begin A, abort A").state.transaction == Transaction.NONE


@pytest.mark.parametrize("protocol", EVERY_RULE)
def test_a_record_that_arrives_within_its_transaction_is_appended(protocol: str) -> None:
    arrived = after(protocol, "delay A, arrive A")
    assert (arrived.state.leo[A], arrived.state.late_record) == (1, NONE)


@pytest.mark.parametrize(
    ("protocol", "outcome"),
    [(ACCEPTED, APPLIED), (VERIFIED, Refusal.IS_LATE), (RECORD_REJECTED, Refusal.IS_LATE), (REJECTED, Refusal.IS_LATE)],
)
def test_a_leader_that_asks_the_coordinator_rejects_a_late_record_while_no_transaction_is_open(
    protocol: str, outcome: int
) -> None:
    assert refusal("arrive A", after(protocol, "delay A, abort A")) == outcome


@pytest.mark.parametrize(
    ("protocol", "outcome"),
    [(ACCEPTED, APPLIED), (VERIFIED, APPLIED), (RECORD_REJECTED, Refusal.IS_LATE), (REJECTED, Refusal.IS_LATE)],
)
def test_a_leader_needs_the_producer_epoch_to_reject_a_late_record_in_the_next_transaction(
    protocol: str, outcome: int
) -> None:
    assert refusal("arrive A", after(protocol, "delay A, abort A, begin A")) == outcome


@pytest.mark.parametrize("protocol", EVERY_RULE)
def test_no_leader_appends_a_late_record_after_a_later_record(protocol: str) -> None:
    later = after(protocol, "delay A, abort A, produce A")
    assert refusal("arrive A", later) == Refusal.OUT_OF_ORDER_SEQUENCE


@pytest.mark.parametrize(
    ("protocol", "outcome"),
    [(ACCEPTED, APPLIED), (VERIFIED, APPLIED), (RECORD_REJECTED, APPLIED), (REJECTED, Refusal.IS_LATE)],
)
def test_before_kip_1228_a_late_marker_ends_the_next_transaction_in_the_log(protocol: str, outcome: int) -> None:
    assert refusal("mark A", after(protocol, f"{COMMITTED}, produce A")) == outcome


def test_a_late_marker_arrives_once_and_only_after_a_record() -> None:
    assert refusal("mark A", after(ACCEPTED, "produce A")) == Refusal.NO_MARKER_IS_LATE
    assert refusal("mark A", after(ACCEPTED, COMMITTED)) == Refusal.NOTHING_TO_MARK
    marked = after(ACCEPTED, EARLY_MARKER)
    assert marked.state.log_record[A] >> 12 == Marker.COMMIT
    assert refusal("mark A", marked) == Refusal.NO_MARKER_IS_LATE


def test_a_leader_appends_a_late_marker_to_a_hanging_transaction_under_every_rule() -> None:
    for protocol in EVERY_RULE:
        hanging = after(ACCEPTED, "delay A, abort A, arrive A, shrink B")
        hanging.state.late_request = parse_protocol(protocol).numbers()["late_request"]
        assert broken_at_the_end(hanging) == ["lso-advances"]
        assert refusal("mark A", hanging) == APPLIED


def test_the_coordinator_ends_a_transaction_that_a_late_marker_has_ended_in_the_log() -> None:
    ended = after(ACCEPTED, f"{EARLY_MARKER}, commit A")
    assert ended.state.transaction == Transaction.NONE
    assert ended.state.leo[A] == 4


def test_an_open_transaction_ends_after_all_faults_have_stopped() -> None:
    assert broken_at_the_end(after(REJECTED, "produce A, shrink B")) == []


@pytest.mark.parametrize(
    ("protocol", "name", "shortest"),
    [
        (ACCEPTED, "lso-advances", "crash B, delay A, abort A, arrive A"),
        (ACCEPTED, "read-committed", EARLY_MARKER),
        (VERIFIED, "read-committed", EARLY_MARKER),
        (RECORD_REJECTED, "read-committed", EARLY_MARKER),
    ],
)
def test_a_search_finds_the_shortest_schedule_of_each_flaw(protocol: str, name: str, shortest: str) -> None:
    found = explore(parse_protocol(protocol), SETTINGS, properties.set_of([name]))
    assert found.shortest is not None
    assert ", ".join(schedule_texts(found.shortest)) == shortest


def test_the_late_request_rule_since_4_2_breaks_no_property() -> None:
    settings = replace(SETTINGS, epochs=1)
    found = explore(parse_protocol(REJECTED), settings, properties.set_of(properties.NAMES))
    assert (found.shortest, found.complete) == (None, True)


@pytest.mark.thorough
def test_the_last_stable_offset_advances_if_the_leader_checks_the_producer_epoch() -> None:
    found = explore(parse_protocol(RECORD_REJECTED), SETTINGS, properties.set_of(["lso-advances"]))
    assert (found.shortest, found.complete) == (None, True)
