"""The second epoch of an idempotent producer (KIP-360): bump."""

from dataclasses import replace
from typing import Any

import pytest

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.storage import idempotence, log
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import schedule_texts, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE
from tests.model.client_events import client_state
from tests.model.client_events.client_state import A, B, refusal

UNKNOWN = "kip-320:unknown_producer=any_sequence"
RESTARTED = "kip-320:producer_snapshot=last_record"
ANY_RECORD = "kip-320:producer_bump=any_record"
# B accepts m1 of a producer that it does not know, so it rejects m0.
OUT_OF_ORDER = "produce A, elect B, notify B, produce B"
BUMPED = f"{OUT_OF_ORDER}, bump B"
SETTINGS = Configuration(records=2, epochs=2, retries=True, producer_epochs=True)


def after(protocol: str, schedule: str, **settings: Any) -> Execution:
    return client_state.after(protocol, schedule, retries=True, producer_epochs=True, **settings)


def test_bump_is_not_enabled_without_producer_epochs() -> None:
    assert "bump" not in {verb_of(event).text for event in Configuration(retries=True).alphabet()}
    assert refusal("bump B", client_state.after(UNKNOWN, OUT_OF_ORDER, retries=True)) == Refusal.DOES_NOT_HAPPEN


def test_a_producer_begins_an_epoch_if_a_leader_rejects_its_first_unacknowledged_record() -> None:
    assert refusal("retry B", after(UNKNOWN, OUT_OF_ORDER)) == Refusal.OUT_OF_ORDER_SEQUENCE
    assert after(UNKNOWN, BUMPED).state.epoch_record == 0
    assert refusal("bump B", after(UNKNOWN, BUMPED)) == Refusal.EPOCH_IS_NEW


def test_a_producer_whose_record_is_accepted_begins_no_epoch() -> None:
    assert refusal("bump A", after(UNKNOWN, "produce A")) == Refusal.IS_IN_SEQUENCE
    assert refusal("bump A", after(UNKNOWN, "produce A, shrink B")) == Refusal.NOTHING_TO_RETRY


def test_a_producer_begins_no_epoch_after_a_later_record_is_acknowledged() -> None:
    acknowledged = after(UNKNOWN, "produce A, crash A, elect B, notify B, produce B")
    assert acknowledged.state.acked == 0b10
    assert refusal("bump B", acknowledged) == Refusal.IS_IN_SEQUENCE


def test_a_leader_accepts_the_first_record_of_a_new_epoch_after_records_of_the_last_epoch() -> None:
    p = after(UNKNOWN, f"{BUMPED}, retry B").state
    assert (p.epoch_offset[A], p.epoch_offset[B], p.leo[B]) == (NONE, 1, 2)
    assert idempotence.offset_of(p, B, 0) == 1
    assert idempotence.offset_of(p, B, 1) == NONE  # B has m1 from the epoch before only


def test_a_leader_accepts_the_second_record_of_a_new_epoch_only_after_the_first_record() -> None:
    assert refusal("retry B", after(UNKNOWN, BUMPED)) == APPLIED
    assert idempotence.is_out_of_sequence(after(UNKNOWN, BUMPED).state, B, 1)
    assert not idempotence.is_out_of_sequence(after(UNKNOWN, f"{BUMPED}, retry B").state, B, 1)


COPIED = "notify A, fetch A, receive A, fetch A, receive A, fetch A, receive A"


def test_a_replica_learns_a_producer_epoch_from_its_records_and_loses_it_with_the_records() -> None:
    copied = after(UNKNOWN, f"{BUMPED}, retry B, {COPIED}").state
    assert (copied.leo[A], copied.epoch_offset[A]) == (2, 1)
    lost = after(UNKNOWN, f"{BUMPED}, retry B, power_loss B", power_loss=True).state
    assert (lost.leo[B], lost.epoch_offset[B]) == (0, NONE)


def test_a_follower_that_becomes_leader_recognises_the_records_of_the_new_producer_epoch() -> None:
    led = after(UNKNOWN, f"{BUMPED}, retry B, {COPIED}, elect A, notify A")
    assert idempotence.recognises(led.state, A, 0)
    assert not idempotence.recognises(led.state, A, 1)


@pytest.mark.parametrize(
    ("protocol", "name", "shortest"),
    [
        (UNKNOWN, "no-reorder", f"{BUMPED}, shrink A, retry B"),
        ("kafka-2.6.1", "no-reorder", f"{BUMPED}, shrink A, retry B"),
        (
            ANY_RECORD,
            "no-duplicate",
            "produce A, produce A, elect B, notify A, notify B, fetch A, receive A, elect A, notify A, retry A, bump B,"
            " retry A, shrink B",
        ),
    ],
)
def test_a_search_finds_the_shortest_schedule_of_each_flaw(protocol: str, name: str, shortest: str) -> None:
    found = explore(parse_protocol(protocol), SETTINGS, properties.set_of([name]))
    assert found.shortest is not None
    assert ", ".join(schedule_texts(found.shortest)) == shortest


@pytest.mark.parametrize("protocol", ["kip-320", "kafka-2.4"])
def test_two_records_in_a_log_for_two_are_not_written_twice_or_out_of_order(protocol: str) -> None:
    found = explore(parse_protocol(protocol), SETTINGS, properties.set_of(["no-duplicate", "no-reorder"]))
    assert (found.shortest, found.complete) == (None, True)


@pytest.mark.parametrize(
    ("protocol", "shortest"),
    [
        (ANY_RECORD, "elect B, notify B, produce B, produce B, bump A, retry B, shrink A"),
        (RESTARTED, "produce A, produce A, crash A, expire B, restart A, elect A, notify A, bump A, retry A"),
        (
            "kip-320",
            "produce A, produce A, elect B, notify A, notify B, elect A, notify A, shrink B, retry A, bump B, retry A",
        ),
    ],
)
def test_a_search_finds_the_shortest_duplicate_in_a_log_for_three_records(protocol: str, shortest: str) -> None:
    bounds = replace(SETTINGS, records=3, epochs=3)
    found = explore(parse_protocol(protocol), bounds, properties.set_of(["no-duplicate"]))
    assert found.shortest is not None
    assert ", ".join(schedule_texts(found.shortest)) == shortest


# B has m0 and m1, and leads after a restart.
LEADS_AGAIN = "produce A, produce A, fetch B, receive B, crash A, elect B, crash B, restart B, elect B, notify B"


def recognised(execution: Execution, r: int) -> list[int]:
    return [record for record in range(execution.state.produced) if idempotence.recognises(execution.state, r, record)]


def test_a_restarted_leader_recognises_only_the_last_record() -> None:
    restarted = after(RESTARTED, LEADS_AGAIN, records_per_fetch=2)
    assert (restarted.state.leo[B], recognised(restarted, B)) == (2, [1])
    assert refusal("retry B", restarted) == Refusal.OUT_OF_ORDER_SEQUENCE
    assert refusal("bump B", restarted) == APPLIED
    assert recognised(after("kip-320", LEADS_AGAIN, records_per_fetch=2), B) == [0, 1]


def test_a_restarted_leader_recognises_the_records_that_it_appends_afterwards() -> None:
    again = f"{LEADS_AGAIN}, bump B, retry B, retry B"
    assert recognised(after(RESTARTED, again, records_per_fetch=2), B) == [0, 1]


def test_a_truncation_below_the_snapshot_makes_a_replica_read_its_records_again() -> None:
    copied = "produce A, fetch B, receive B, produce A, fetch B, receive B"
    follows = f"{copied}, produce A, crash A, elect B, notify B, restart A, notify A"
    ahead = after(RESTARTED, follows)
    assert (ahead.state.leo[A], ahead.state.snapshot_offset[A], recognised(ahead, A)) == (3, 3, [2])
    truncated = after(RESTARTED, f"{follows}, fetch A, receive A")
    assert (truncated.state.leo[A], truncated.state.snapshot_offset[A]) == (2, 0)
    assert recognised(truncated, A) == [0, 1]


@pytest.mark.parametrize(
    ("release", "registered"),
    [
        ("kafka-2.4", "restart B"),
        ("kafka-2.6.1", "restart B"),
        ("kafka-4.3.1", "expire B, restart B, register B, notify B, unfence B"),
    ],
)
def test_a_restarted_leader_of_kafka_lets_the_producer_write_two_records_twice(release: str, registered: str) -> None:
    acknowledged = "produce A, fetch B, receive B, fetch B, receive B"
    copied = "produce A, produce A, fetch B, receive B, expire A, elect B, crash B"
    schedule = f"{acknowledged}, {copied}, {registered}, elect B, notify B, bump B, retry B, retry B"
    p = after(release, schedule, records_per_fetch=2).state
    assert [log.at(p.log_record[B], offset) for offset in range(p.leo[B])] == [0, 1, 2, 1, 2]
