"""Clients: produce requests that wait at a leader, retries, and the position of a consumer."""

from typing import Any

import pytest

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.trace.refusal import why_not
from epochfuzz.harness.trace.replay import Run, replay
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.vocabulary import state
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, parse_event, parse_schedule, verb_of
from epochfuzz.model.kafka.vocabulary.in_force import applies
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, NAMED, ablations, parse_protocol
from epochfuzz.model.kafka.vocabulary.state import NONE, Partition

A, B, C = range(3)
M0, M1 = 1 << 0, 1 << 1
CLIENT_FIELDS = {
    "waiting", "remembered", "seen", "seen_end", "seen_otherwise",
    "position", "position_epoch", "consumer_epoch", "delivered",
}  # fmt: skip


def after(protocol: str, schedule: str, **settings: Any) -> Execution:
    """Return the model after a schedule of which every event is enabled."""
    execution = Execution(parse_protocol(protocol), Configuration(**settings))
    for event in filter(None, schedule.split(", ")):
        assert execution.apply(parse_event(event)), why_not(execution.state, parse_event(event))
    return execution


def producing(schedule: str, idempotence: str = "sequence", **settings: Any) -> Partition:
    """Return the state after a schedule with a producer that retries."""
    return after(f"kip-320:idempotence={idempotence}", schedule, retries=True, **settings).state


def consuming(schedule: str, position: str = "offset_and_epoch", **settings: Any) -> Partition:
    """Return the state after a schedule with a consumer."""
    return after(f"kip-320:consumer_position={position}", schedule, consumer=True, **settings).state


def refused(p: Partition, event: str) -> str:
    """Return why an event is not enabled."""
    return why_not(p, parse_event(event))


def records(p: Partition, r: int) -> list[str]:
    return [record for record, _ in observe(p)["replicas"]["ABC"[r]]["log"]]


def run(protocol: str, schedule: str, **settings: Any) -> Run:
    execution = after(protocol, schedule, **settings)
    return replay(parse_schedule(schedule.split(", ")), parse_protocol(protocol), execution.settings)


# Without the settings for clients.


@pytest.mark.parametrize("protocol", NAMED.values(), ids=NAMED)
def test_keys_and_alphabets_have_no_client_fields_and_verbs_without_retries_and_consumer(protocol):
    settings = Configuration()
    start = state.initial(protocol, settings)
    assert not [field.name for field in state.VARIABLES if field.name in CLIENT_FIELDS and field.read(start)]
    verbs = {verb_of(event) for event in settings.alphabet()}
    assert not verbs & {Verb.RETRY, Verb.CONSUME, Verb.REFRESH}


def test_an_observation_shows_no_clients_without_retries_and_consumer():
    p = Execution(GENERATIONS["kip-320"], Configuration()).state
    shown = observe(p)
    assert "consumer" not in shown
    assert "waiting" not in shown["replicas"]["A"]


def test_an_observation_shows_waiting_requests_and_the_consumers_position():
    schedule = "produce A, fetch B, receive B, fetch B, consume A, produce A"
    shown = observe(after("kip-320", schedule, retries=True, consumer=True).state)
    assert shown["consumer"] == {"position": 1, "leader_epoch": 0, "delivered": ["m0"]}
    assert [replica["waiting"] for replica in shown["replicas"].values()] == [["m1"], []]


@pytest.mark.parametrize(
    ("event", "setting"), [("retry A", "retries"), ("consume A", "consumer"), ("refresh A", "consumer")]
)
def test_the_reason_for_a_client_event_that_is_not_enabled_names_its_setting(event, setting):
    p = Execution(GENERATIONS["kip-320"], Configuration()).state
    assert refused(p, event) == f"{setting} is off in the configuration"


@pytest.mark.parametrize(("mechanism", "setting"), [("idempotence", "retries"), ("consumer_position", "consumer")])
def test_ablation_includes_a_client_mechanism_only_if_its_setting_is_on(mechanism, setting):
    kip_320 = GENERATIONS["kip-320"]

    def ablated(settings: Configuration) -> bool:
        return any(variant.choice(mechanism) != kip_320.choice(mechanism) for variant in ablations(kip_320, settings))

    assert not ablated(Configuration())
    assert ablated(Configuration(**dict[str, Any]({setting: True})))
    assert not applies(mechanism, Execution(kip_320, Configuration()).state)


def test_releases_have_sequence_numbers_since_0_11_and_consumer_epochs_since_2_3():
    had = {name: (p.choice("idempotence").text, p.choice("consumer_position").text) for name, p in NAMED.items()}
    assert had["kafka-0.10.2"] == ("none", "offset")
    assert had["kafka-1.1"] == had["kafka-2.1.1"] == ("sequence", "offset")
    assert had["kafka-2.3"] == had["kafka-4.1"] == ("sequence", "end_offset")
    assert had["kip-320"] == had["kip-966"] == ("sequence", "offset_and_epoch")
    assert {p.choice("pending_produce").text for p in NAMED.values()} == {"failed"}


# Produce requests that wait.


def test_a_produce_request_waits_until_the_high_watermark_passes_its_record():
    assert producing("produce A").waiting[A] == M0
    p = producing("produce A, fetch B, receive B, fetch B")
    assert (p.waiting[A], p.acked) == (0, M0)


def test_a_produce_request_fails_when_its_leader_learns_of_the_next_leader():
    assert producing("produce A, elect B").waiting[A] == M0
    p = producing("produce A, elect B, notify A")
    assert (p.waiting[A], p.acked) == (0, 0)


def test_a_produce_request_survives_an_epoch_that_its_leader_never_learns_of():
    p = producing("produce A, elect B, elect A, catch_up A")
    assert p.waiting[A] == M0


def test_a_produce_request_ends_when_its_broker_crashes():
    assert producing("produce A, crash A").waiting[A] == 0


def test_a_produce_request_fails_and_its_retry_is_rejected_if_the_isr_is_too_small():
    p = producing("produce A, shrink B", min_insync_replicas=2)
    assert (p.waiting[A], p.acked, p.seen_end) == (0, 0, 1)
    assert refused(p, "retry A").startswith("NOT_ENOUGH_REPLICAS")


def test_a_kept_produce_request_is_acknowledged_by_another_record_at_its_offset():
    schedule = "produce A, elect B, notify A, notify B, fetch A, receive A, crash B, elect A, notify A, produce A"
    kept = run("kip-320:pending_produce=kept", schedule)
    assert kept.first_broken == {"no-acked-loss": 10}
    assert run("kip-320", schedule).first_broken == {}
    assert "m1 is committed and acknowledged; m0 is acknowledged; m0 is lost" in kept.scenes[-1].sentence


def test_a_kept_produce_request_loses_an_acknowledged_record_without_a_crash():
    # This schedule of the design document has 13 events. If the ISR may shrink, 10 events are enough.
    schedule = (
        "produce A, elect B, notify A, notify B, produce B, "
        "fetch A, receive A, fetch A, receive A, fetch A, receive A, elect A, notify A"
    )
    assert run("kip-320:pending_produce=kept", schedule).first_broken == {"no-acked-loss": 13}
    assert run("kip-320", schedule).first_broken == {}


def test_a_kept_produce_request_at_a_follower_breaks_answered():
    assert run("kip-320:pending_produce=kept", "produce A, elect B").broken == ["answered"]
    assert run("kip-320", "produce A, elect B", retries=True).broken == []


def test_waiting_produce_requests_get_responses_after_all_faults_have_stopped():
    # Logs and high watermarks are already equal, but m0 is not committed.
    assert after("kip-320", "produce A, fetch B, receive B", retries=True).broken_at_end() == 0


# Retries.


def test_retry_sends_the_oldest_unacknowledged_of_the_last_two_records():
    p = producing("produce A, produce A, elect B, notify B, retry B")
    assert records(p, B) == ["m0"]
    assert p.waiting[A] == M1  # the producer no longer waits for A's response for m0
    assert p.waiting[B] == M0


def test_a_producer_sends_no_third_record_before_the_response_for_the_first():
    p = producing("produce A, produce A")
    assert refused(p, "produce A") == (
        "the producer has no response yet for one of its last two records, and starts no third"
    )


@pytest.mark.parametrize("acks", ["0", "1"])
def test_a_producer_with_acks_0_or_1_retries_no_record(acks):
    p = producing("produce A", acks=acks)
    assert refused(p, "retry A") == "the producer has a response for each of its last two records"


def test_a_leader_without_idempotence_appends_a_retried_record_again():
    assert records(producing("produce A, retry A", "none"), A) == ["m0", "m0"]


def test_a_leader_recognises_a_retry_of_a_record_that_it_copied_as_a_follower():
    p = producing("produce A, fetch B, receive B, crash A, elect B, notify B, retry B")
    assert (records(p, B), p.acked) == (["m0"], M0)


def test_a_leader_that_lacks_a_retried_record_appends_it():
    p = producing("produce A, elect B, notify B, retry B")
    assert (records(p, B), p.waiting[B]) == (["m0"], M0)


def test_a_leader_that_lacks_the_previous_record_rejects_the_next_record():
    p = producing("produce A, elect B, notify B")
    assert refused(p, "produce B") == "B does not have the record before: OUT_OF_ORDER_SEQUENCE_NUMBER"


def test_a_duplicate_produce_request_waits_like_the_first_request():
    p = producing("produce A, fetch B, receive B, elect B, notify B, retry B")
    assert (p.waiting[B], p.acked) == (M0, 0)


def test_no_log_has_more_records_than_the_bound():
    p = producing("produce A, retry A", "none", records=2)
    assert refused(p, "retry A") == "A's log is full: the bound of 2 records is reached"


def test_an_acknowledged_record_may_be_anywhere_in_the_log_but_an_exposed_record_may_not():
    sound = after(
        "kip-320:idempotence=none", "produce A, elect B, notify B, produce B, retry B, shrink A", retries=True
    )
    assert sound.state.acked == M0 | M1
    assert not sound.broken() & properties.set_of(["no-acked-loss", "no-committed-loss"])
    sound.state.log_record[B] = 1 << 4  # m0 and m1 change places
    assert properties.names(sound.broken() & properties.set_of(["no-acked-loss", "no-committed-loss"])) == [
        "no-committed-loss"
    ]


def test_two_readable_records_at_one_offset_break_no_committed_loss():
    # A shows m0 at offset 0, and B shows m1 there after an unclean election. Each later leader lacks one of the two.
    schedule = "produce A, shrink B, crash A, elect B, notify B, produce B"
    execution = after("kip-320:idempotence=none", schedule, retries=True, unclean_leader_election=True)
    assert execution.state.seen_otherwise == 1
    execution = after("kip-320", "produce A, shrink B", retries=True)
    execution.state.seen_otherwise = 1
    assert properties.names(execution.broken()) == ["no-committed-loss"]


FLAWED_CHOICES = [
    ("none", "no-duplicate", "produce A, fetch B, receive B, retry A, fetch B, receive B, fetch B"),
    ("none", "no-duplicate", "produce A, retry A, shrink B"),
    ("none", "no-reorder", "produce A, crash A, elect B, notify B, produce B, retry B"),
    ("leader_only", "no-duplicate", "produce A, elect B, elect A, catch_up A, retry A, shrink B"),
    ("leader_only", "no-duplicate", "produce A, fetch B, receive B, crash A, elect B, notify B, retry B"),
    (
        "kept_at_truncation",
        "no-acked-loss",
        "produce A, elect B, notify A, notify B, fetch A, receive A, crash B, elect A, notify A, produce A, retry A",
    ),
    ("answered_at_once", "no-acked-loss", "produce A, elect B, notify B, retry A"),
]


@pytest.mark.parametrize(("choice", "broken", "schedule"), FLAWED_CHOICES)
def test_a_flawed_idempotence_choice_breaks_its_property_at_the_last_event(choice, broken, schedule):
    found = run(f"kip-320:idempotence={choice}", schedule, retries=True)
    assert found.first_broken == {broken: len(found.steps)}


@pytest.mark.parametrize("schedule", dict.fromkeys(schedule for _, _, schedule in FLAWED_CHOICES))
def test_sequence_numbers_hold_every_property_under_the_schedules_of_flawed_choices(schedule):
    settings = Configuration(retries=True)
    assert replay(parse_schedule(schedule.split(", ")), GENERATIONS["kip-320"], settings).first_broken == {}


# A consumer.


def test_a_consumer_reads_up_to_the_high_watermark_and_no_further():
    p = consuming("produce A, produce A, fetch B, receive B, fetch B, consume A")
    assert (p.position, p.position_epoch, p.delivered) == (1, 0, M0)
    assert refused(p, "consume A") == "A has nothing below its HW for the consumer, at position 1"


def test_a_new_leader_rejects_a_consumer_that_has_not_refreshed_its_metadata():
    p = consuming("elect B, notify B")
    assert refused(p, "consume B").endswith("rejects the consumer, at epoch 0: FENCED_LEADER_EPOCH")
    assert refused(p, "refresh A") == "the consumer knows epoch 0 already"


def test_a_stale_leader_rejects_a_consumer_of_a_later_epoch():
    p = consuming("elect B, notify B, refresh B")
    assert refused(p, "consume A").endswith("rejects the consumer, at epoch 1: UNKNOWN_LEADER_EPOCH")


def test_a_consumer_without_an_epoch_reads_from_any_leader():
    schedule = "elect B, notify B, produce B, shrink A"
    assert consuming(f"{schedule}, consume B", "offset").position == 1
    assert refused(consuming(schedule), "consume B").endswith("FENCED_LEADER_EPOCH")


def test_a_consumer_keeps_its_position_if_the_new_leader_has_the_records_already_read():
    p = consuming("produce A, fetch B, receive B, fetch B, consume A, elect B, notify B, refresh B")
    assert (p.position, p.consumer_epoch) == (1, 1)


UNCLEAN = "produce A, shrink B, consume A, crash A, elect B, notify B"


def test_a_consumer_detects_a_truncation_and_moves_back():
    p = consuming(f"{UNCLEAN}, refresh B", unclean_leader_election=True)
    assert (p.position, p.position_epoch, p.delivered) == (0, NONE, M0)


def test_a_consumer_resets_an_offset_out_of_range_to_the_end_of_the_log():
    p = consuming(f"{UNCLEAN}, refresh B", "offset", unclean_leader_election=True)
    assert p.position == 0


def test_a_consumer_that_keeps_only_an_offset_skips_a_record():
    schedule = f"{UNCLEAN}, produce B, refresh B"
    found = run("kip-320:consumer_position=offset", schedule, consumer=True, unclean_leader_election=True)
    assert found.first_broken["consumer-no-skip"] == len(found.steps) == 8
    assert "has never read m1" in found.scenes[-1].sentence
    assert "consumer-no-skip" not in run("kip-320", schedule, consumer=True, unclean_leader_election=True).first_broken


def test_a_consumer_that_compares_only_end_offsets_skips_a_record_of_an_older_epoch():
    # A has epoch 0 up to offset 1. The consumer is at offset 1 and has read m1 of epoch 1, which A never had.
    schedule = (
        "produce A, elect B, notify B, produce B, shrink A, refresh B, consume B, "
        "crash B, elect A, catch_up A, refresh A"
    )
    settings = {"consumer": True, "unclean_leader_election": True}
    found = run("kip-320:consumer_position=end_offset", schedule, **settings)
    assert found.first_broken["consumer-no-skip"] == len(found.steps) == 11
    assert "it asks where epoch 1 ends, and A responds: epoch 0 ends at 1" in found.scenes[-1].sentence
    sound = run("kip-320", schedule, **settings)
    assert "consumer-no-skip" not in sound.first_broken
    assert "that is a truncation, which it reports, and it goes back to offset 0" in sound.scenes[-1].sentence


def test_a_follower_serves_a_consumer_after_its_own_fetch_from_the_consumers_position():
    settings: dict[str, Any] = {"follower_reads": True}
    p = consuming("produce A, fetch B, receive B, fetch B", **settings)
    assert refused(p, "consume B") == "B has nothing below its HW for the consumer, at position 0"
    assert consuming("produce A, fetch B, receive B, fetch B, receive B, consume B", **settings).position == 1
    assert refused(consuming("", **settings), "consume B") == (
        "B's leader has not seen B at the consumer's position 0, and does not send the consumer to B"
    )


def test_a_follower_serves_no_consumer_without_follower_reads():
    assert refused(consuming("produce A"), "consume B") == "B does not lead"


# Exhaustive searches.

BOTH = {"retries": True, "consumer": True}
UNCLEAN_CONSUMER = {"consumer": True, "unclean_leader_election": True}


def searched(protocol: str, names: list[str], records: int = 2, **settings: Any) -> int | None:
    """Return the length of a shortest schedule with two replicas and two epoch changes, or None without a schedule."""
    bounded = Configuration(records=records, epochs=2, **settings)
    found = explore(parse_protocol(protocol), bounded, properties.set_of(names))
    assert found.complete or found.broken
    return None if found.shortest is None else len(found.shortest)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("protocol", "broken", "settings", "length"),
    [
        ("kip-320:idempotence=none", "no-duplicate", {"retries": True}, 3),
        ("kip-320:idempotence=none", "no-reorder", {"retries": True}, 6),
        ("kip-320:idempotence=leader_only", "no-duplicate", {"retries": True}, 6),
        ("kip-320:idempotence=kept_at_truncation", "no-acked-loss", {"retries": True}, 11),
        ("kip-320:idempotence=answered_at_once", "no-acked-loss", {"retries": True}, 4),
        ("kip-320:pending_produce=kept", "no-acked-loss", {}, 10),
        ("kip-320:pending_produce=kept", "answered", {}, 2),
        ("kip-320:consumer_position=offset", "consumer-no-skip", UNCLEAN_CONSUMER, 8),
        ("kip-320:consumer_position=end_offset", "consumer-no-skip", UNCLEAN_CONSUMER, 11),
        ("kip-966:consumer_position=offset", "consumer-no-skip", {"consumer": True, "power_loss": True}, 14),
    ],
)
def test_exhaustive_search_finds_each_flawed_client_choice_at_its_shortest_length(protocol, broken, settings, length):
    assert searched(protocol, [broken], **settings) == length


@pytest.mark.thorough
def test_exhaustive_search_finds_no_broken_property_if_all_client_choices_are_sound():
    assert searched("kip-320", [*properties.NAMES], **BOTH) is None
    assert searched("kip-320", [*properties.NAMES], min_insync_replicas=2, **BOTH) is None
    assert searched("kip-966:isr_change=atomic", [*properties.NAMES], retries=True) is None
    assert searched("kip-966", [*properties.NAMES], records=1, retries=True) is None


@pytest.mark.parametrize("follower_reads", [False, True])
def test_exhaustive_search_finds_no_skipped_record_under_unclean_elections(follower_reads):
    settings = {"follower_reads": follower_reads, **UNCLEAN_CONSUMER}
    assert searched("kip-320", ["consumer-no-skip"], **settings) is None


def test_kip_966_has_the_last_choice_of_each_client_mechanism():
    kip_966 = GENERATIONS["kip-966"]
    for mechanism in ("pending_produce", "idempotence", "consumer_position"):
        assert kip_966.choice(mechanism) is list(MECHANISMS[mechanism])[-1]
