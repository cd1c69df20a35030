"""The committed position of a consumer: commit_offset and reset."""

from typing import Any

import pytest

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, alphabet, parse_event, schedule_texts, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE
from tests.model.client_events import client_state
from tests.model.client_events.client_state import refusal

COMMITTED = "produce A, shrink B, consume A, commit_offset A"
# B leads with another log. Its offset 1 follows a record that the consumer has not read.
REPLACED = f"{COMMITTED}, crash A, elect B, notify B, produce B"


def after(protocol: str, schedule: str, **settings: Any) -> Execution:
    group = {"consumer": True, "consumer_group": True, "unclean_leader_election": True}
    return client_state.after(protocol, schedule, **group | settings)


def skips(execution: Execution) -> bool:
    return "consumer-no-skip" in properties.names(execution.broken())


def reports_falsely(execution: Execution) -> bool:
    return "no-false-truncation" in properties.names(execution.broken())


def test_commit_offset_and_reset_are_not_enabled_without_consumer_group() -> None:
    assert not {"commit_offset", "reset"} & {verb_of(event).text for event in Configuration(consumer=True).alphabet()}
    plain = client_state.after("kip-320", "", consumer=True)
    assert refusal("commit_offset A", plain) == refusal("reset A", plain) == Refusal.DOES_NOT_HAPPEN


def test_commit_offset_is_written_with_replica_a_only() -> None:
    assert [event for event in alphabet(3) if verb_of(event) is Verb.COMMIT_OFFSET] == [parse_event("commit_offset A")]
    assert refusal("commit_offset B", after("kip-320", "produce A, shrink B, consume A")) == Refusal.IS_OF_THE_CONSUMER


def test_a_consumer_commits_its_position_with_the_epoch_of_the_record_before_the_position() -> None:
    p = after("kip-320", COMMITTED).state
    assert (p.committed, p.committed_epoch) == (1, 0)
    assert refusal("commit_offset A", after("kip-320", COMMITTED)) == Refusal.NOTHING_TO_COMMIT


@pytest.mark.parametrize("protocol", ["hw", "kafka-2.2", "kip-320:consumer_restart=offset"])
def test_consumers_up_to_2_2_and_applications_that_omit_the_epoch_commit_only_an_offset(protocol: str) -> None:
    p = after(protocol, COMMITTED).state
    assert (p.committed, p.committed_epoch) == (1, NONE)


def test_a_restarted_consumer_resumes_at_its_committed_position() -> None:
    p = after("kip-320", f"{COMMITTED}, produce A, consume A, reset A").state
    assert (p.position, p.position_epoch) == (1, 0)
    assert p.delivered == 0b11  # the application has processed both records


@pytest.mark.parametrize("protocol", ["kip-320", "kafka-2.3", "kafka-2.6.1"])
def test_a_consumer_that_validates_its_committed_position_moves_back_after_a_truncation(protocol: str) -> None:
    restarted = after(protocol, f"{REPLACED}, reset B")
    assert restarted.state.position == 0
    assert not skips(restarted)


@pytest.mark.parametrize("choice", ["offset", "unvalidated"])
def test_a_consumer_that_does_not_validate_its_committed_position_skips_a_record(choice: str) -> None:
    """KAFKA-20507 (offset) and confluentinc/librdkafka#5158 (unvalidated)."""
    assert skips(after(f"kip-320:consumer_restart={choice}", f"{REPLACED}, reset B"))


def test_an_unvalidated_position_stays_if_the_next_leader_has_the_record_before_the_position() -> None:
    protocol = "kip-320:consumer_restart=unvalidated"
    restarted = after(protocol, f"{REPLACED}, reset B")
    assert (restarted.state.position, restarted.state.position_epoch) == (1, 0)
    moved = after(protocol, f"{REPLACED}, reset B, restart A, crash B, elect A, catch_up A, refresh A")
    assert (moved.state.position, moved.state.position_epoch) == (1, 0)  # A still has m0 of epoch 0 at offset 0


def test_a_consumer_with_a_committed_epoch_ignores_metadata_of_an_earlier_epoch() -> None:
    moved = "produce A, elect B, notify B, produce B, shrink A, refresh B, consume B, commit_offset A"
    assert refusal("reset A", after("kip-320", moved, acks="1")) == Refusal.METADATA_ARE_OLDER
    assert refusal("reset B", after("kip-320", moved, acks="1")) == APPLIED
    assert refusal("reset A", after("kip-320:consumer_restart=offset", moved, acks="1")) == APPLIED


def test_search_finds_the_shortest_skipped_record_and_none_if_positions_are_validated() -> None:
    settings = Configuration(records=2, epochs=2, consumer=True, consumer_group=True, unclean_leader_election=True)
    wanted = properties.set_of(["consumer-no-skip"])
    found = explore(parse_protocol("kip-320:consumer_restart=offset"), settings, wanted)
    assert found.shortest is not None
    assert schedule_texts(found.shortest) == [
        *("produce A", "shrink B", "consume A", "commit_offset A", "crash A"),
        *("elect B", "notify B", "produce B", "reset B"),
    ]
    sound = explore(parse_protocol("kip-320"), settings, wanted)
    assert (sound.shortest, sound.complete) == (None, True)


ANY_REPLICA = "kip-320:consumer_epoch_end=any_replica"


def test_a_consumer_that_asks_a_lagging_follower_reports_a_truncation_that_did_not_happen() -> None:
    """redpanda-data/redpanda#5435."""
    restarted = after(ANY_REPLICA, f"{COMMITTED}, reset B")
    assert restarted.state.position == 0
    assert reports_falsely(restarted)
    assert list(properties.named("no-false-truncation").violations(restarted.state)) == [
        "the consumer is at offset 0, but leader A has its committed offset 1"
    ]
    assert refusal("reset B", after("kip-320", COMMITTED)) == Refusal.DOES_NOT_LEAD


def test_a_consumer_that_learns_of_a_leader_may_ask_a_follower_too() -> None:
    moved = f"{COMMITTED}, crash A, restart A, elect A, catch_up A, catch_up B"
    assert reports_falsely(after(ANY_REPLICA, f"{moved}, refresh B"))
    assert refusal("refresh B", after("kip-320", moved)) == Refusal.DOES_NOT_LEAD
    assert refusal("refresh B", after(ANY_REPLICA, f"{moved}, crash B")) == Refusal.IS_DOWN
    assert not reports_falsely(after(ANY_REPLICA, "produce A, fetch B, receive B, fetch B, consume A, reset B"))


@pytest.mark.parametrize("schedule", [f"{REPLACED}, reset B", f"{COMMITTED}, crash A, elect B, notify B, reset B"])
def test_a_consumer_reports_rightly_if_the_leader_has_another_record_or_none(schedule: str) -> None:
    restarted = after("kip-320", schedule)
    assert restarted.state.position == 0
    assert not reports_falsely(restarted)


def test_search_finds_the_shortest_false_truncation_and_none_if_only_leaders_answer() -> None:
    settings = Configuration(records=2, epochs=2, consumer=True, consumer_group=True)
    wanted = properties.set_of(["no-false-truncation"])
    found = explore(parse_protocol(ANY_REPLICA), settings, wanted)
    assert found.shortest is not None
    assert schedule_texts(found.shortest) == ["produce A", "shrink B", "consume A", "commit_offset A", "reset B"]
    sound = explore(parse_protocol("kip-320"), settings, wanted)
    assert (sound.shortest, sound.complete) == (None, True)
