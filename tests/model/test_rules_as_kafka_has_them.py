"""Rules of Kafka's code that no KIP describes, each in a state in which the choices differ."""

import pytest

from epochfuzz.model.kafka.contract.properties import BY_NAME
from epochfuzz.model.kafka.partition import high_watermark, truncation
from epochfuzz.model.kafka.storage import epoch_cache
from epochfuzz.model.kafka.vocabulary.events import parse_event
from epochfuzz.model.kafka.vocabulary.state import NONE, Alter, FetchState, Flight, Phase
from tests.model.states import after, is_enabled, state

A, B, C = range(3)
KEPT, IF_MISSED, FORGOTTEN = "kip-320:remote_leo=kept", "kip-320:remote_leo=forgotten_if_missed", "kip-320"
TRUNCATED_BY_ANOTHER_LEADER = "produce A, fetch B, receive B, fetch B, elect C, notify B, notify C, fetch B, receive B"
RE_ELECTED = f"{TRUNCATED_BY_ANOTHER_LEADER}, crash C, elect A, catch_up A"
OUT_OF_RANGE = "produce A, fetch B, receive B, power_loss A, restart A, notify A, fetch B"
# B has m0, A knows this, and C, which A waited for, is out of the ISR.
LEFT_BEHIND = "produce A, fetch B, receive B, shrink C, alter A, fetch B, receive B, altered A"


# Fetch.


def test_a_response_with_records_carries_the_high_watermark_from_before_the_fetch():
    p = state("kip-320", "produce A, produce A, fetch B, receive B, fetch B")
    assert (p.high_watermark[A], p.flight_count[B], p.flight_offset[B]) == (1, 1, 0)


def test_a_response_without_records_carries_the_high_watermark_from_after_the_fetch():
    p = state("kip-320", "produce A, fetch B, receive B, fetch B")
    assert (p.high_watermark[A], p.flight_count[B], p.flight_offset[B]) == (1, 0, 1)


def test_in_2_8_1_a_fetch_from_an_offset_that_the_leader_knows_raises_no_high_watermark():
    assert state("kafka-2.8.1", LEFT_BEHIND, replicas=3).high_watermark[A] == 0
    assert state("kafka-2.8.1", f"{LEFT_BEHIND}, fetch B", replicas=3).high_watermark[A] == 0
    assert state("kafka-3.1", LEFT_BEHIND, replicas=3).high_watermark[A] == 1


def test_in_2_8_0_a_diverging_response_carries_the_high_watermark_from_before_the_fetch():
    diverging = "produce A, produce A, fetch B, receive B, elect B, notify A, notify B, fetch A"
    p = state("kafka-2.8.0", diverging)
    assert (p.high_watermark[B], p.flight[A], p.flight_count[A]) == (1, Flight.DIVERGING, 0)
    assert state("kafka-2.8.0", f"{diverging}, receive A").high_watermark[A] == 0


@pytest.mark.parametrize(("choice", "known"), [("unknown", NONE), ("as_it_was", 0)])
def test_up_to_2_3_an_out_of_range_fetch_makes_the_leader_forget_the_followers_offset(choice, known):
    # A knows B's offset 0 from two fetches. Then A loses its record, and B fetches from beyond A's log.
    before = "produce A, fetch B, receive B, power_loss A, restart A, notify A"
    execution = after(f"kip-279:remote_leo_out_of_range={choice}", before, power_loss=True)
    execution.state.remote_leos[A, B] = 0
    assert execution.apply(parse_event("fetch B"))
    assert execution.state.remote_leos[A, B] == known


@pytest.mark.parametrize(("choice", "up", "leo"), [("halt", 0, 1), ("cut", 1, 0)])
def test_up_to_2_0_0_a_follower_beyond_its_leaders_log_halts_and_keeps_its_records(choice, up, leo):
    p = state(f"kip-279:out_of_range={choice}", f"{OUT_OF_RANGE}, receive B", power_loss=True)
    assert (p.up[B], p.leo[B]) == (up, leo)


def test_a_follower_beyond_its_leaders_log_keeps_running_if_unclean_elections_are_on():
    settings = {"power_loss": True, "unclean_leader_election": True}
    assert state("kip-279:out_of_range=halt", f"{OUT_OF_RANGE}, receive B", **settings).up[B]


# Producers.


def test_a_record_committed_by_too_small_an_isr_is_never_acknowledged():
    p = state("kip-320", "produce A, shrink B", min_insync_replicas=2)
    assert (p.exposed, p.acked) == (1, 0)
    p = state("kip-320", "produce A, shrink B, fetch B, receive B, fetch B, expand B", min_insync_replicas=2)
    assert (p.exposed, p.acked) == (1, 0)


def test_a_leader_acknowledges_a_record_after_a_new_epoch_in_which_it_still_leads():
    p = state("kip-320", "produce A, expire B, notify A")
    assert (p.exposed, p.acked) == (1, 1)


def test_a_producer_gets_no_acknowledgement_after_its_leader_has_changed():
    p = state("kip-320", "produce A, fetch B, receive B, elect B, notify B, expire A, notify B")
    assert (p.exposed, p.acked) == (1, 0)


# Truncation.


@pytest.mark.parametrize(
    ("protocol", "asks"),
    [("hw", False), ("kip-101", True), ("kip-279", True), ("kip-320:fencing=none", True), ("kip-320", False)],
)
def test_a_follower_with_an_empty_log_skips_the_epoch_request_in_hw_and_in_kip_320(protocol, asks):
    assert (state(protocol, "elect B, notify C", replicas=3).phase[C] == Phase.TRUNCATING) == asks


def test_a_follower_with_an_empty_log_and_a_cached_epoch_sends_the_request_in_kip_320():
    assert state("kip-320", "elect B, notify A").phase[A] == Phase.TRUNCATING


def test_a_lookup_above_the_latest_epoch_is_undefined():
    p = state("kip-279", "produce A")
    assert epoch_cache.end_offset_kip_279(p, A, 0, 1) == (0, 1)
    assert epoch_cache.end_offset_kip_279(p, A, 1, 1) == (NONE, NONE)


@pytest.mark.parametrize(("phase", "leo"), [(Phase.TRUNCATING, 0), (Phase.TRUNCATING_FURTHER, 1)])
def test_an_undefined_response_truncates_to_the_high_watermark_only_in_the_first_step(phase, leo):
    p = state("kip-279", "produce A, fetch B, receive B")
    p.phase[B] = phase
    truncation.apply_epoch_answer(p, B, NONE, NONE)
    assert p.leo[B] == leo


@pytest.mark.parametrize(("choice", "entries"), [("with_log", 1), ("always", 0)])
def test_up_to_2_6_0_a_truncation_that_removes_no_record_keeps_the_epoch_cache(choice, entries):
    p = state(f"kip-320:cache_truncation={choice}", "elect B, notify A, notify B, fetch A, receive A")
    assert p.cache_size[A] == entries


@pytest.mark.parametrize(("choice", "high_watermark"), [("kept", 1), ("lowered", 0)])
def test_up_to_2_3_a_truncation_does_not_lower_the_high_watermark(choice, high_watermark):
    p = state("hw" if choice == "lowered" else f"hw:high_watermark_truncation={choice}", "produce A, shrink B")
    truncation.cut(p, A, 0)
    assert (p.leo[A], p.high_watermark[A]) == (0, high_watermark)


def test_loading_a_log_removes_the_epochs_that_have_no_record():
    assert state("kip-320", "produce A").cache_size[A] == 1
    assert state("kip-320", "crash A").cache_size[A] == 1
    assert state("kip-320", "crash A, restart A").cache_size[A] == 0


# Elections and metadata updates.


@pytest.mark.parametrize(("protocol", "members"), [("kip-320", 0b110), ("kip-320:leaderless=obeyed", 0b111)])
def test_a_failover_under_zookeeper_removes_dead_members_from_the_isr(protocol, members):
    assert state(protocol, "crash A, elect B", replicas=3).decided_isr[1] == members


def test_a_preferred_election_keeps_the_isr():
    assert state("kip-320", "crash C, elect B", replicas=3).decided_isr[1] == 0b111


@pytest.mark.parametrize(
    ("protocol", "epoch", "members"), [("kip-320", 1, 0b01), ("kip-320:registration=resume", 0, 0b11)]
)
def test_since_2_2_a_restart_within_the_session_counts_as_a_failure_of_the_replica(protocol, epoch, members):
    p = state(protocol, "crash B, restart B")
    assert (p.controller_epoch, p.decided_isr[epoch]) == (epoch, members)


def test_a_restart_that_needs_a_new_epoch_is_not_enabled_if_no_epoch_is_left():
    assert not is_enabled("restart B", "kip-320", "crash B", epochs=0)
    assert is_enabled("restart B", "kip-320:registration=resume", "crash B", epochs=0)


@pytest.mark.parametrize(("choice", "leader"), [("ignored", A), ("obeyed", NONE)])
def test_brokers_under_zookeeper_ignore_an_update_without_a_leader(choice, leader):
    protocol = f"kip-320:leaderless={choice}"
    assert is_enabled("notify A", protocol, "expire A") == (choice == "obeyed")
    execution = after(protocol, "expire A")
    execution.apply(parse_event("notify A"))
    assert execution.state.known_leader[A] == leader


def test_a_broker_that_ignored_an_update_learns_the_next_epoch_after_a_gap():
    p = state("kip-320", "expire A, elect B, notify A")
    assert (p.known_epoch[A], p.known_leader[A]) == (2, B)


@pytest.mark.parametrize(("protocol", "known"), [(KEPT, [0, 0]), (IF_MISSED, [0, 0]), (FORGOTTEN, [NONE, NONE])])
def test_a_leader_that_stays_leader_keeps_follower_offsets_unless_the_protocol_forgets_them(protocol, known):
    p = state(protocol, "fetch B, fetch C, expire C, notify A", replicas=3)
    assert [p.remote_leos[A, r] for r in (B, C)] == known


@pytest.mark.parametrize(("protocol", "known"), [(KEPT, 1), (IF_MISSED, NONE), (FORGOTTEN, NONE)])
def test_a_leader_that_missed_an_epoch_forgets_follower_offsets_with_either_fix(protocol, known):
    p = state(protocol, RE_ELECTED, replicas=3)
    assert p.remote_leos[A, B] == known


def test_a_replica_that_an_update_removed_from_the_isr_must_fetch_before_it_rejoins():
    left_out = "fetch B, expire B, notify A, notify B"
    assert not is_enabled("expand B", KEPT, left_out)
    assert is_enabled("expand B", KEPT, f"{left_out}, fetch B")


def test_a_re_elected_leader_in_2_8_1_raises_no_high_watermark_at_a_fetch_from_a_known_offset():
    # An earlier model differed from Kafka 2.8.1 here. B fetches from the offset that A already knows.
    schedule = (
        "produce A, fetch B, elect B, expire B, elect A, catch_up A, catch_up B, shrink C, receive B, alter A, altered"
        " A, fetch B"
    )
    assert state("kafka-2.8.1", schedule, replicas=3).high_watermark[A] == 0
    assert state("kafka-2.8.1:remote_leo=forgotten", schedule, replicas=3).high_watermark[A] == 1


@pytest.mark.parametrize(
    ("protocol", "epoch"),
    [("kafka-3.3", 1), ("kafka-3.4.1", 1), ("kafka-3.5.0", 1), ("kafka-3.6", 0), ("kafka-3.1", 0)],
)
def test_in_kraft_up_to_3_5_a_leader_that_shrinks_its_isr_leads_a_new_epoch(protocol, epoch):
    p = state(protocol, "produce A, shrink B, alter A")
    assert (p.controller_epoch, p.decided_isr[epoch]) == (epoch, 0b01)


def test_a_leader_drops_a_response_that_names_a_new_epoch_and_waits_for_the_metadata():
    p = state("kafka-3.5.0", "produce A, shrink B, alter A, altered A")
    assert (p.pending_isr[A], p.high_watermark[A]) == (0b01, 0)
    p = state("kafka-3.5.0", "produce A, shrink B, alter A, altered A, notify A")
    assert (p.pending_isr[A], p.isr[A], p.high_watermark[A]) == (0, 0b01, 1)


def test_an_isr_shrink_that_opens_an_epoch_is_not_enabled_if_no_epoch_is_left():
    assert not is_enabled("alter A", "kafka-3.5.0", "produce A, shrink B", epochs=0)
    assert is_enabled("alter A", "kafka-3.6", "produce A, shrink B", epochs=0)


@pytest.mark.parametrize(("protocol", "high_watermark"), [("kafka-2.3", 0), ("kafka-2.6.0", 1)])
def test_up_to_2_3_a_new_leader_resets_a_high_watermark_past_its_log_to_0(protocol, high_watermark):
    execution = after(protocol, "produce A, produce A, fetch B, receive B, fetch B, receive B, elect B")
    execution.state.high_watermark[B] = 2 if protocol == "kafka-2.3" else 1
    execution.state.leo[B] = 1
    assert execution.apply(parse_event("notify B"))
    assert execution.state.high_watermark[B] == high_watermark


def test_up_to_2_0_1_an_update_with_an_unchanged_leader_keeps_the_response_in_flight():
    answered = "produce A, fetch B, expire C, notify B"
    for protocol, in_flight in (("kafka-2.0.1", Flight.RECORDS), ("kafka-2.1.1", Flight.NOTHING), ("kip-279", 0)):
        assert state(protocol, answered, replicas=3).flight[B] == in_flight


@pytest.mark.parametrize(
    ("protocol", "leo"), [("kafka-2.0.0", 1), ("kafka-2.0.1", 0), ("kafka-2.0.0:late_answer=same_epoch", 0)]
)
def test_up_to_2_0_0_a_response_in_flight_counts_even_if_another_replica_led_in_between(protocol, leo):
    execution = after(protocol, "produce A, fetch B, elect C, elect A, catch_up B", replicas=3)
    execution.apply(parse_event("receive B"))
    assert execution.state.leo[B] == leo


# An OffsetsForLeaderEpoch response of an earlier leader epoch (KAFKA-7786).

ASKED_IN_EPOCH_1 = "produce A, elect B, notify A, notify B, fetch A, elect A, notify A, notify B, elect B, notify A"


@pytest.mark.parametrize(("protocol", "leo"), [("kafka-2.1.0", 0), ("kafka-2.1.1", 1), ("kafka-2.2", 1)])
def test_only_2_1_0_truncates_to_an_epoch_end_requested_in_an_earlier_leader_epoch(protocol, leo):
    execution = after(protocol, ASKED_IN_EPOCH_1)
    assert execution.apply(parse_event("receive A")) == (protocol == "kafka-2.1.0")
    assert execution.state.leo[A] == leo


@pytest.mark.parametrize(("protocol", "leo"), [("kafka-2.0.1", 1), ("kafka-2.1.0", 0)])
def test_2_1_0_ignores_a_fetch_response_of_an_earlier_epoch_even_with_an_empty_log(protocol, leo):
    execution = after(protocol, "produce A, fetch B, expire C, notify B", replicas=3)
    assert execution.apply(parse_event("receive B"))
    assert execution.state.leo[B] == leo


# The last fetched epoch (KAFKA-15510).

FIRST_RESPONSE_IS_EMPTY = "elect B, notify A, notify B, fetch A, receive A"


@pytest.mark.parametrize(
    ("protocol", "fetch_state"),
    [
        ("kafka-3.5.0", FetchState.FRESH),
        ("kafka-3.5.1", FetchState.WITHOUT_EPOCH),
        ("kafka-3.6", FetchState.WITHOUT_EPOCH),
    ],
)
def test_in_3_5_1_and_3_6_an_empty_first_response_removes_the_epoch_from_fetches(protocol, fetch_state):
    assert state(protocol, FIRST_RESPONSE_IS_EMPTY).fetch_state[A] == fetch_state


@pytest.mark.parametrize(
    "event_by_event",
    ["produce B, fetch A, receive A", "crash A", "elect A, notify A", "elect A, elect B, catch_up A"],
)
def test_records_a_restart_or_a_new_epoch_restore_the_epoch_in_fetches(event_by_event):
    p = state("kafka-3.6", f"{FIRST_RESPONSE_IS_EMPTY}, {event_by_event}")
    assert p.fetch_state[A] != FetchState.WITHOUT_EPOCH


def test_an_empty_second_response_keeps_the_epoch_in_fetches():
    p = state("kafka-3.6", "elect B, notify A, notify B, produce B, fetch A, receive A, fetch A, receive A")
    assert p.fetch_state[A] == FetchState.WITH_EPOCH


# A fetcher thread of 2.8.0 that has released its lock before it truncates the log (KAFKA-13207).

DIVERGING_WITH_HW = (
    "produce A, elect B, notify A, notify B, produce B, shrink A, alter B, altered B, produce B, fetch A"
)


@pytest.mark.parametrize(
    ("protocol", "high_watermark"), [("kafka-2.8.0", 1), ("kafka-2.8.0:late_answer=same_leader", 0), ("kafka-2.8.1", 0)]
)
def test_in_2_8_0_an_update_applies_the_high_watermark_of_a_diverging_response_in_flight(protocol, high_watermark):
    heard = f"{DIVERGING_WITH_HW}, expire B, elect B, catch_up A"
    assert state(protocol, heard).high_watermark[A] == high_watermark
    p = state(protocol, f"{heard}, receive A")
    assert (p.leo[A], p.high_watermark[A]) == (0, 0)


def test_in_2_8_0_a_truncation_that_removes_no_record_keeps_the_epoch_cache():
    lost = "produce A, elect B, notify A, notify B, fetch A, elect A, notify A, notify B, receive A"
    p = state("kafka-2.8.0", f"{lost}, fetch B, receive B")
    assert (p.cache_size[A], p.cache_size[B]) == (0, 1)


# Registration, as a leader's own metadata shows it.

UNAWARE = "fetch B, expire B, unfence B, notify A"  # B is out of the ISR, and A knows that B is no longer fenced


def test_a_broker_that_neither_leads_nor_is_in_the_isr_can_be_fenced():
    p = state("kip-966", f"{UNAWARE}, expire B")
    assert (p.fenced, p.controller_epoch) == (0b10, 0)
    assert not is_enabled("expire B", "kip-595", "expire B, notify A")


def test_the_controller_learns_of_a_crash_when_the_session_of_the_broker_ends():
    proposed = f"{UNAWARE}, expand B, crash B"
    assert state("kafka-4.1", f"{proposed}, alter A").alter[A] == Alter.APPLIED
    assert state("kafka-4.1", f"{proposed}, expire B, alter A").alter[A] == Alter.REVERTED
    assert state("kafka-4.1", f"{UNAWARE}, expand B, shutdown B, alter A").alter[A] == Alter.REVERTED


@pytest.mark.parametrize("protocol", ["kip-841", "kafka-3.3", "kip-966", "kafka-4.1"])
def test_a_leader_proposes_no_replica_that_its_metadata_shows_fenced_or_shutting_down(protocol):
    known = "expire B, unfence B, notify A, notify B, fetch B" if protocol in ("kip-841", "kafka-3.3") else UNAWARE
    execution = after(protocol, known)
    if protocol in ("kip-841", "kafka-3.3"):  # A learns of epoch 1 after B was unfenced
        assert execution.apply(parse_event("expire B"))
        assert execution.apply(parse_event("notify A"))
        assert not execution.apply(parse_event("expand B"))
        return
    assert is_enabled("expand B", protocol, f"{known}, expire B")
    assert not is_enabled("expand B", protocol, f"{known}, expire B, notify A")
    assert not is_enabled("expand B", protocol, f"{known}, shutdown B, notify A")


@pytest.mark.parametrize(
    ("protocol", "eligible"), [("kafka-3.4.1", True), ("kafka-3.5.0", False), ("kafka-4.1", False)]
)
def test_since_3_5_a_leader_proposes_no_replica_that_fetched_with_an_outdated_broker_epoch(protocol, eligible):
    heard_from = "crash B, restart B, expire B, register B, notify B, unfence B, notify A, fetch B"
    assert is_enabled("expand B", protocol, heard_from)
    returned = f"{heard_from}, crash B, restart B, expire B, register B, notify B, unfence B"
    assert is_enabled("expand B", protocol, returned)  # the metadata is as old as the fetch
    execution = after(protocol, returned)
    assert execution.apply(parse_event("notify A")) != eligible  # 3.4 has nothing to learn
    assert execution.apply(parse_event("expand B")) == eligible


def test_the_4_1_controller_remembers_the_last_leader_while_the_isr_has_other_members():
    # PartitionChangeBuilder.maybeUpdateLastKnownLeader 4.1.1 looks at the leader alone (apache/kafka#20629).
    assert state("kafka-4.1", "expire A").last_leader == A
    schedule = "expire A, expire B, crash B, restart B, register B"
    p = state("kafka-4.1", schedule)
    assert (p.decided_isr[p.controller_epoch], p.elr, p.last_leader) == (0, 0, A)


def test_up_to_3_0_a_leader_evaluates_its_high_watermark_when_it_proposes_an_isr_shrink():
    left_behind = "produce A, fetch B, receive B, fetch B, produce A, shrink C, alter A, altered A"
    assert state("kafka-3.0", left_behind, replicas=3).high_watermark[A] == 0
    assert state("kafka-3.0", f"{left_behind}, shrink B", replicas=3).high_watermark[A] == 1


def test_since_kip_320_a_leader_may_expand_its_isr_by_a_dead_replica_that_had_caught_up():
    caught_up = "produce A, shrink B, fetch B, receive B, fetch B, crash B"
    assert is_enabled("expand B", "kip-320", caught_up)
    assert not is_enabled("expand B", "kip-279", caught_up)


def test_isr_complete_ignores_dead_members_of_the_isr():
    bit = BY_NAME["isr-complete"].bit
    assert after(KEPT, RE_ELECTED, replicas=3).broken() & bit
    assert not after(KEPT, f"{RE_ELECTED}, crash B", replicas=3).broken() & bit
    assert not after(FORGOTTEN, RE_ELECTED, replicas=3).broken() & bit


# Sequence numbers of an unknown producer (KIP-360).

UNKNOWN_AT_B = "produce A, elect B, notify B"


@pytest.mark.parametrize(
    ("protocol", "is_accepted"),
    [("kafka-2.3", False), ("kafka-2.4", False), ("kafka-2.5", True), ("kafka-2.6.1", True), ("kafka-4.1", True)],
)
def test_since_2_5_a_leader_accepts_any_sequence_number_of_an_unknown_producer(protocol, is_accepted):
    assert is_enabled("produce B", protocol, UNKNOWN_AT_B, retries=True) == is_accepted


def test_a_leader_that_accepted_a_later_record_rejects_a_retry_of_the_earlier_record():
    accepted = f"{UNKNOWN_AT_B}, produce B"
    assert not is_enabled("retry B", "kafka-2.6.1", accepted, retries=True)
    execution = after(
        "kafka-2.6.1", f"{accepted}, notify A, fetch A, receive A, fetch A, receive A, fetch A", retries=True
    )
    assert execution.state.acked == 0b10
    assert not execution.apply(parse_event("retry B"))


# An unexpected error of the controller (KAFKA-14010).

JOINS = "expire B, notify A, notify B, fetch B, expand B"


@pytest.mark.parametrize(
    ("protocol", "pending"), [("kafka-2.7", 0b11), ("kafka-2.8.1", 0b11), ("kafka-3.0", 0b11), ("kafka-3.1", 0)]
)
def test_up_to_3_0_an_unexpected_error_leaves_an_isr_change_pending(protocol, pending):
    p = state(protocol, f"{JOINS}, refuse A, altered A")
    assert (p.pending_isr[A], p.isr[A], p.alter[A]) == (pending, 0b01, Alter.NOTHING)
    assert is_enabled("expand B", protocol, f"{JOINS}, refuse A, altered A") == (pending == 0)


@pytest.mark.parametrize("protocol", ["kip-497", "kafka-3.2.1", "kafka-3.3", "kafka-4.1"])
def test_since_3_2_1_no_controller_ends_a_request_with_an_unexpected_error(protocol):
    assert not is_enabled("refuse A", protocol, "produce A, shrink B")


@pytest.mark.parametrize(("protocol", "high_watermark_of_a"), [("kafka-3.0", 0), ("kafka-3.1", 1)])
def test_from_3_1_to_3_2_0_a_leader_reverts_an_isr_change_that_the_controller_has_made(protocol, high_watermark_of_a):
    p = state(protocol, f"{JOINS}, alter A, resend A, refuse A, altered A, produce A")
    assert (p.decided_isr[1], p.isr[A], p.high_watermark[A]) == (0b11, 0b01, high_watermark_of_a)


# The wait of the high watermark for a replica that may not join the ISR (KAFKA-15021).


@pytest.mark.parametrize(("protocol", "due"), [("kafka-3.5.0", 0), ("kafka-3.6", 1)])
def test_up_to_3_5_the_high_watermark_waits_for_a_caught_up_replica_that_is_fenced(protocol, due):
    execution = after(protocol, "expire B")
    for event in ("notify A", "notify B", "fetch B", "notify A", "produce A"):
        execution.apply(parse_event(event))
    execution.state.shown_fenced[A] = 1 << B
    execution.state.caught_up[A] = 1 << B
    assert high_watermark.due(execution.state, A) == due
