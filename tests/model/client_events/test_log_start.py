"""Deleted records and log starts (KIP-107): trim, followers behind the log start, and KAFKA-12996."""

from typing import Any

import pytest

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import healing, properties
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_event, schedule_texts, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from tests.model.client_events import client_state
from tests.model.client_events.client_state import A, B, refusal

SETTINGS = Configuration(records=2, epochs=3, retention=True)
REPLICATED = "produce A, fetch B, receive B, fetch B, receive B"
BEHIND = "produce A, shrink B, trim A"
FAILED = (
    "produce A, produce A, elect B, notify B, elect A, expire B, catch_up A, trim A, catch_up B, fetch B, receive B"
)
FAILS = "kip-595:below_log_start=diverging,diverging_high_watermark=applied"


def after(protocol: str, schedule: str, **settings: Any) -> Execution:
    return client_state.after(protocol, schedule, retention=True, **settings)


def shown(execution: Execution, replica: str) -> tuple[int, int, list[list[Any]], list[list[int]]]:
    """Return the log start, the high watermark, the log and the epoch cache of a replica."""
    seen = observe(execution.state)["replicas"][replica]
    return seen["log_start"], seen["hw"], seen["log"], seen["epochs"]


def broken(execution: Execution) -> list[str]:
    return properties.names(execution.broken() | execution.broken_at_end())


def test_no_replica_deletes_records_without_the_setting_or_with_retries_or_transactions() -> None:
    assert "trim" not in {verb_of(event).text for event in Configuration().alphabet()}
    for other in ("retries", "transactions"):
        assert refusal("trim A", after("kip-320", "produce A, shrink B", **{other: True})) == Refusal.DOES_NOT_HAPPEN


def test_a_replica_deletes_only_records_below_its_high_watermark() -> None:
    assert refusal("trim A", after("kip-320", "produce A")) == Refusal.NOTHING_TO_DELETE
    assert refusal("trim A", after("kip-320", BEHIND)) == Refusal.NOTHING_TO_DELETE
    assert refusal("trim A", after("kip-320", "produce A, shrink B, crash A")) == Refusal.IS_DOWN
    assert refusal("trim B", after("kip-320", REPLICATED)) == APPLIED


@pytest.mark.parametrize("protocol", ["kip-320", "kip-966"])
def test_a_restarted_replica_deletes_no_record_before_its_first_metadata_update(protocol: str) -> None:
    restarted = f"{REPLICATED}, expire A, crash B, restart B"
    assert refusal("trim B", after(protocol, restarted)) == Refusal.KNOWS_NO_LEADER


def test_a_replica_without_a_leader_deletes_records_in_kraft() -> None:
    assert refusal("trim B", after("kip-966", f"{REPLICATED}, expire A, notify B")) == APPLIED


def test_a_deleted_record_leaves_its_offset_and_its_epoch_moves_to_the_log_start() -> None:
    trimmed = after("kip-320", "produce A, produce A, shrink B, trim A")
    assert shown(trimmed, "A") == (1, 2, [["DELETED", 0], ["m1", 0]], [[0, 1]])


def test_a_log_start_removes_the_epochs_before_it() -> None:
    trimmed = after("kip-320", "produce A, elect B, elect A, expire B, catch_up A, produce A, trim A")
    assert shown(trimmed, "A") == (1, 2, [["DELETED", 0], ["m1", 3]], [[3, 1]])


def test_a_follower_deletes_the_records_that_its_leader_has_deleted() -> None:
    followed = after("kip-320", f"{REPLICATED}, trim A, fetch B, receive B")
    assert shown(followed, "B") == shown(followed, "A") == (1, 1, [["DELETED", 0]], [[0, 1]])


def test_a_leader_does_not_follow_the_log_start_of_a_follower() -> None:
    trimmed = after("kip-320", f"{REPLICATED}, trim B, fetch B, receive B")
    assert (trimmed.state.log_start[A], trimmed.state.log_start[B]) == (0, 1)
    assert broken(trimmed) == []


@pytest.mark.parametrize(
    ("protocol", "behind"),
    [
        ("hw", BEHIND),
        ("kip-101", BEHIND),
        ("kip-320", BEHIND),
        ("kip-595", "produce A, expire B, notify A, trim A, notify B"),
        ("kip-966", "produce A, expire B, notify A, trim A"),
    ],
)
def test_a_follower_whose_log_ends_below_the_leaders_log_start_restarts_its_log_there(
    protocol: str, behind: str
) -> None:
    restarted = after(protocol, f"{behind}, fetch B, receive B")
    assert shown(restarted, "B") == (1, 1, [["DELETED", 0]], [])
    assert broken(restarted) == []


def test_a_log_that_restarts_at_the_leaders_log_start_has_no_epochs() -> None:
    behind = "produce A, fetch B, receive B, shrink B, produce A, trim A, trim A"
    restarted = after("kip-320", f"{behind}, fetch B, receive B")
    assert shown(restarted, "B") == (2, 2, [["DELETED", 0], ["DELETED", 0]], [])


def test_up_to_2_3_the_high_watermark_stays_below_the_log_start_until_the_replica_leads() -> None:
    schedule = f"{BEHIND}, fetch B, receive B"
    restarted = after("kafka-2.3", schedule)
    assert (restarted.state.log_start[B], restarted.state.high_watermark[B]) == (1, 0)
    leads = after("kafka-2.3", f"{schedule}, fetch B, expand B, elect B, notify B")
    assert (leads.state.isr[B], leads.state.high_watermark[B]) == (0b11, 1)


def test_up_to_2_3_a_restarted_log_moves_back_to_the_high_watermark_in_the_next_epoch() -> None:
    schedule = "produce A, shrink B, trim A, fetch B, receive B, expire A, elect A, catch_up B"
    for protocol, expected in (("kafka-2.3", 0), ("kafka-2.4", 1)):
        again = after(protocol, schedule)
        assert (again.state.log_start[B], again.state.leo[B]) == (expected, expected)


def test_since_2_4_a_high_watermark_does_not_fall_below_the_log_start() -> None:
    known_to_b = "produce A, fetch B, receive B, fetch C, receive C, fetch B, fetch C, receive B, fetch B, receive B"
    unknown_to_c = "crash A, elect C, notify C, produce C, notify B, fetch B, receive B, fetch B, receive B"
    for protocol, expected in (("kip-320", 1), ("kafka-2.3", 0)):
        fell = after(protocol, f"{known_to_b}, trim B, {unknown_to_c}", replicas=3)
        assert fell.state.high_watermark[B] == expected


def test_a_log_that_is_truncated_below_its_start_then_starts_at_its_new_end() -> None:
    elected = "crash A, elect B, notify B, restart A, notify A, fetch A, receive A, fetch A, receive A"
    cut = after("kip-320", f"{BEHIND}, {elected}", unclean_leader_election=True)
    assert shown(cut, "A") == (0, 0, [], [])


def test_a_deleted_record_does_not_count_as_lost_but_a_kept_record_does() -> None:
    elected = "crash A, elect B, notify B"
    one = after("kip-320", f"{BEHIND}, {elected}", unclean_leader_election=True)
    assert one.broken() == 0
    two = after("kip-320", f"produce A, {BEHIND}, {elected}", unclean_leader_election=True)
    assert broken(two)[:2] == ["no-committed-loss", "no-acked-loss"]


def test_a_new_leader_exposes_no_deleted_offset() -> None:
    leads = after("kip-320", f"{REPLICATED}, trim B, crash A, elect B, notify B")
    assert leads.state.exposed == 0b1


def test_deleted_offsets_do_not_count_as_differences() -> None:
    p = after(
        "kip-320", "produce A, fetch B, receive B, fetch B, produce A, receive B, fetch B, receive B, trim B"
    ).state
    assert log.differences(p, A, B, 1) == 0
    assert healing.is_equal(p, A, B)
    p.log_record[B] ^= 1 << 4  # another record at offset 1
    assert log.differences(p, A, B, 2) != 0
    assert not healing.is_equal(p, A, B)


def test_after_all_faults_have_stopped_the_followers_have_the_log_start_of_their_leader() -> None:
    p = after("kip-320", f"{REPLICATED}, trim A").state
    healing.heal(p)
    assert p.log_start[B] == 1


def test_a_lost_directory_has_no_log_start() -> None:
    wiped = after("kip-320", f"{REPLICATED}, trim B, wipe B", lost_directory=True)
    assert (wiped.state.log_start[B], wiped.state.leo[B]) == (0, 0)


def test_records_below_the_log_start_need_no_flush() -> None:
    trimmed = after("kip-320", f"{REPLICATED}, trim B, power_loss B", power_loss=True)
    assert (trimmed.state.log_start[B], trimmed.state.leo[B]) == (1, 1)


def test_a_checkpoint_below_the_log_start_counts_as_the_log_start_since_2_4() -> None:
    for protocol, expected in (("kip-320", 1), ("kafka-2.3", 0)):
        died = after(protocol, f"{REPLICATED}, trim B, crash B", asynchronous_checkpoint=True)
        assert died.state.high_watermark[B] == expected


def test_a_consumer_below_the_log_start_continues_there_and_has_skipped_no_record() -> None:
    read = after("kip-320", "produce A, produce A, shrink B, trim A, consume A", consumer=True)
    assert (read.state.position, read.state.delivered) == (2, 0b10)
    assert read.broken() == 0


def test_a_consumer_has_nothing_to_read_if_all_records_are_deleted() -> None:
    p = after("kip-320", BEHIND, consumer=True).state
    assert step(p, parse_event("consume A")) == Refusal.NOTHING_TO_CONSUME
    assert p.position == 0


def test_a_follower_does_not_serve_a_consumer_below_its_log_start() -> None:
    trimmed = after("kip-320", f"{REPLICATED}, fetch B, receive B, trim B", consumer=True, follower_reads=True)
    assert refusal("consume B", trimmed) == Refusal.NO_READ_REPLICA
    assert refusal("consume A", trimmed) == APPLIED


def test_a_follower_fails_if_a_diverging_response_has_a_log_start_beyond_its_high_watermark() -> None:
    failed = after(FAILS, FAILED)
    assert refusal("fetch B", failed) == Refusal.FETCHER_HAS_FAILED
    assert broken(failed) == ["convergence"]


def test_a_failed_fetcher_resumes_after_a_restart_or_in_the_next_leader_epoch() -> None:
    assert broken(after(FAILS, f"{FAILED}, crash B, restart B")) == []
    assert refusal("fetch B", after(FAILS, f"{FAILED}, expire A, elect A, catch_up A, notify B")) == APPLIED


@pytest.mark.parametrize("protocol", [FAILS, "kafka-2.8.0"])
def test_a_search_finds_the_shortest_schedule_of_kafka_12996(protocol: str) -> None:
    found = explore(parse_protocol(protocol), SETTINGS, properties.set_of(["convergence"]))
    assert found.shortest is not None
    assert ", ".join(schedule_texts(found.shortest)) == (
        "produce A, produce A, elect B, elect A, expire B, catch_up A, trim A"
    )


@pytest.mark.parametrize("protocol", ["kip-320", "kip-595"])
def test_deleted_records_break_no_property_of_a_sound_design(protocol: str) -> None:
    settings = Configuration(records=2, epochs=2, retention=True)
    found = explore(parse_protocol(protocol), settings, properties.set_of(properties.NAMES))
    assert (found.shortest, found.complete) == (None, True)
