"""Transactions: markers in logs, the last stable offset, and the records that consumers may read."""

from typing import Any

import pytest

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.contract.properties import BY_NAME
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.storage import transactions
from epochfuzz.model.kafka.vocabulary.configuration import MAX_TRANSACTIONAL_RECORDS, Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_event, schedule_texts, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.refusals import Refusal
from epochfuzz.model.kafka.vocabulary.state import Partition, Transaction

A, B = range(2)
REPLICATED = "produce A, fetch B, receive B, fetch B"
OPEN_RECORD_READ = "produce A, shrink B"
STALE_LEADER_MARKS = f"{REPLICATED}, elect B, notify B, shrink A, abort B, produce B, commit A"


def after(schedule: str, protocol: str = "kip-320", **settings: Any) -> Execution:
    """Return the model with transactions after a schedule of which every event is enabled."""
    execution = Execution(parse_protocol(protocol), Configuration(transactions=True, **settings))
    for event in filter(None, schedule.split(", ")):
        assert execution.apply(parse_event(event)), event
    return execution


def state(schedule: str, protocol: str = "kip-320", **settings: Any) -> Partition:
    return after(schedule, protocol, **settings).state


def refusal(event: str, schedule: str, **settings: Any) -> int:
    return step(state(schedule, **settings), parse_event(event))


def log_of(p: Partition, name: str) -> list[str]:
    return [record for record, _ in observe(p)["replicas"][name]["log"]]


def searched(protocol: str, *names: str, **settings: Any) -> tuple[bool, list[str] | None]:
    """Search exhaustively. Returns whether every state was visited, and a shortest schedule that breaks a property."""
    wanted = properties.set_of(names or properties.NAMES)
    found = explore(parse_protocol(protocol), Configuration(transactions=True, **settings), wanted)
    return found.complete, None if found.shortest is None else schedule_texts(found.shortest)


# Without transactions.


def test_alphabets_and_logs_have_no_transaction_verbs_and_markers_without_transactions():
    settings = Configuration()
    assert not {"commit", "abort"} & {verb_of(event).text for event in settings.alphabet()}
    execution = Execution(parse_protocol("kip-320"), settings)
    assert step(execution.state, parse_event("abort A")) == Refusal.DOES_NOT_HAPPEN
    for _ in range(settings.records):
        assert execution.apply(parse_event("produce A"))
    assert log_of(execution.state, "A")[-1] == "m14"
    assert "lso" not in observe(execution.state)["replicas"]["A"]


# Transactions and their markers.


def test_the_first_record_opens_a_transaction_and_later_records_join_it():
    p = state("produce A, produce A")
    assert (p.transaction, p.transaction_records) == (Transaction.OPEN, 0b11)


def test_commit_is_enabled_only_if_all_records_of_the_transaction_are_acknowledged():
    assert refusal("commit A", "produce A") == Refusal.IS_NOT_ACKNOWLEDGED
    assert refusal("commit A", f"{REPLICATED}, produce A") == Refusal.IS_NOT_ACKNOWLEDGED
    p = state(f"{REPLICATED}, commit A")
    assert (p.transaction, p.committed_records, log_of(p, "A")) == (Transaction.COMMITTING, 0b1, ["m0", "COMMIT"])


def test_abort_is_enabled_before_the_records_of_the_transaction_are_acknowledged():
    p = state("produce A, abort A")
    assert (p.transaction, p.committed_records, log_of(p, "A")) == (Transaction.ABORTING, 0, ["m0", "ABORT"])


def test_abort_is_not_enabled_without_a_transaction():
    assert refusal("abort A", "") == Refusal.NO_TRANSACTION


def test_commit_is_not_enabled_after_an_abort():
    assert refusal("commit A", "produce A, abort A") == Refusal.IS_DECIDED_OTHERWISE


def test_the_coordinator_decides_an_abort_even_if_the_replica_cannot_write_the_marker():
    p = state("produce A, abort B")
    assert (p.transaction, log_of(p, "A")) == (Transaction.ABORTING, ["m0"])
    assert log_of(state("produce A, abort B, abort A"), "A") == ["m0", "ABORT"]
    assert refusal("abort B", "produce A, abort B") == Refusal.DOES_NOT_LEAD


def test_the_next_transaction_waits_until_the_marker_is_replicated():
    ending = f"{REPLICATED}, commit A"
    assert refusal("produce A", ending) == Refusal.TRANSACTION_ENDS
    p = state(f"{ending}, receive B, fetch B, receive B, fetch B, produce A")
    assert (p.transaction, p.transaction_records, log_of(p, "A")) == (Transaction.OPEN, 0b10, ["m0", "COMMIT", "m1"])


def test_the_coordinator_writes_the_marker_again_to_a_new_leader_that_lacks_the_marker():
    moved = f"{REPLICATED}, commit A, elect B, notify B"
    p = state(f"{moved}, commit B")
    assert (log_of(p, "A"), log_of(p, "B")) == (["m0", "COMMIT"], ["m0", "COMMIT"])
    assert refusal("commit B", f"{moved}, commit B") == Refusal.NOTHING_TO_MARK


def test_a_transaction_ends_when_no_log_has_its_records():
    # Only A has m0, and B leads. When A truncates m0, no log has a record to mark.
    left = "produce A, elect B, notify B, abort B"
    assert refusal("abort B", left) == Refusal.NOTHING_TO_MARK
    p = state(f"{left}, notify A, fetch A, receive A, abort B")
    assert (p.transaction, p.transaction_records) == (Transaction.NONE, 0)


def test_markers_count_as_neither_exposed_nor_acknowledged():
    p = state("produce A, shrink B, commit A")
    assert (p.high_watermark[A], p.exposed, p.acked, p.standing[A]) == (2, 0b1, 0b1, 0b1)


def test_a_log_keeps_room_for_a_marker_after_its_records():
    settings = Configuration(transactions=True)
    assert settings.numbers()["records"] == MAX_TRANSACTIONAL_RECORDS
    full = ", ".join(["shrink B" if i == 1 else "produce A" for i in range(MAX_TRANSACTIONAL_RECORDS + 1)])
    p = state(f"{full}, commit A")
    assert (p.leo[A], log_of(p, "A")[-2:]) == (15, ["m13", "COMMIT"])
    aborted = "produce A, shrink B, abort A, produce A, abort A, " + ", ".join(["produce A"] * 10)
    assert refusal("produce A", aborted) == Refusal.NO_ROOM_FOR_A_MARKER


def test_truncating_a_marker_reopens_the_transaction_in_that_log():
    p = state("produce A, fetch B, receive B, abort A, elect B, notify B, notify A, fetch A, receive A")
    assert (log_of(p, "A"), transactions.is_open(p, A)) == (["m0"], True)


def test_no_marker_is_written_beyond_the_last_epoch_after_all_faults_have_stopped():
    settings = Configuration(replicas=3, transactions=True, power_loss=True)
    elections = [f"elect {name}" for name in "BABABCABABCABC"]
    execution = Execution(parse_protocol("kip-966"), settings)
    for event in ("produce A", *elections, "power_loss C", "abort B"):
        execution.apply(parse_event(event))
    healed, broken = execution.healed()
    assert (healed.controller_epoch, healed.transaction) == (16, Transaction.ABORTING)
    assert broken == 0


def test_the_marker_of_a_decided_abort_is_delivered_after_all_faults_have_stopped():
    execution = after("produce A, fetch B, receive B, abort B, elect B, notify B")
    assert not execution.broken_at_end()
    healed = execution.copy()
    healed._rules.broken_at_end(healed.state)
    assert [log_of(healed.state, name) for name in "AB"] == [["m0", "ABORT"]] * 2


# The last stable offset.


@pytest.mark.parametrize(
    ("schedule", "by_choice"),
    [
        ("produce A, shrink B", {"high_watermark": 1, "first_open": 0, "replicated": 0}),
        ("produce A, shrink B, commit A", {"high_watermark": 2, "first_open": 2, "replicated": 2}),
        (f"{REPLICATED}, commit A", {"high_watermark": 1, "first_open": 1, "replicated": 0}),
        ("produce A, shrink B, commit A, produce A", {"high_watermark": 3, "first_open": 2, "replicated": 2}),
    ],
)
def test_the_last_stable_offset_is_where_the_first_unstable_transaction_begins(schedule, by_choice):
    for choice, lso in by_choice.items():
        p = state(schedule, f"kip-320:stable_offset={choice}")
        assert transactions.last_stable_offset(p, A) == lso, choice
        assert observe(p)["replicas"]["A"]["lso"] == lso


def test_records_of_aborted_transactions_are_not_delivered():
    p = state("produce A, shrink B, abort A, produce A, commit A")
    assert (p.high_watermark[A], transactions.delivered(p, A)) == (4, 0b10)


def test_read_committed_covers_followers_only_with_follower_reads():
    protocol = "kip-320:stable_offset=high_watermark"
    schedule = f"{REPLICATED}, receive B, crash A"
    assert not BY_NAME["read-committed"].is_broken(state(schedule, protocol))
    assert BY_NAME["read-committed"].is_broken(state(schedule, protocol, follower_reads=True))


# Broken and sound choices.


def test_a_stale_leader_shows_an_aborted_record_unless_markers_wait_for_replication():
    """m1's marker goes to A, which does not know yet that m0 is aborted. There the marker follows m0."""
    for protocol, broken in (("kip-320:stable_offset=first_open", True), ("kip-320", False)):
        p = state(STALE_LEADER_MARKS, protocol)
        assert log_of(p, "A") == ["m0", "COMMIT"]
        assert BY_NAME["read-committed"].is_broken(p) == broken


@pytest.mark.parametrize(
    ("choice", "shortest"), [("high_watermark", OPEN_RECORD_READ), ("first_open", STALE_LEADER_MARKS)]
)
def test_search_finds_the_shortest_schedule_that_shows_an_uncommitted_record(choice, shortest):
    found = searched(f"kip-320:stable_offset={choice}", "read-committed", records=2, epochs=1)
    assert found == (False, shortest.split(", "))


def test_no_property_breaks_if_markers_must_be_replicated():
    assert searched("kip-320", "read-committed", records=2, epochs=2) == (True, None)
    assert searched("kip-320", records=1, epochs=2) == (True, None)
