"""The narrative: the sentence and the scene of each step follow from the states, and contain every change."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epochfuzz.harness.trace import refusal, sentences
from epochfuzz.harness.trace.change import Change
from epochfuzz.harness.trace.replay import replay
from epochfuzz.harness.trace.scenes import Missing, Role, narrate
from epochfuzz.harness.trace.story import Parting, parting
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.history import promises
from epochfuzz.model.kafka.vocabulary import event_codes, events
from epochfuzz.model.kafka.vocabulary.configuration import ACKS, Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_event
from epochfuzz.model.kafka.vocabulary.mechanisms import MECHANISMS
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from tests.views.narrating import COMMITTED, COPIED, last_sentence, run, scenes

SHORTEST_LOSS = "produce A, fetch B, receive B, fetch B, crash B, restart B, elect B, notify B, notify B"
# Verbs that enable other verbs come more often. The shrinker may remove the other events of a schedule.
OFTEN = {"produce": 3, "fetch": 8, "receive": 8, "notify": 5, "restart": 3, "elect": 2}
ALPHABET = [
    event_codes.encode(verb, r) for verb in events.Verb for r in range(3) for _ in range(OFTEN.get(verb.text, 1))
]

schedules = st.lists(st.sampled_from(ALPHABET), max_size=80).map(bytes)
any_protocol = st.builds(
    Protocol, st.just("some"), st.tuples(*(st.integers(0, len(choices) - 1) for choices in MECHANISMS.values()))
)
any_settings = st.builds(
    Configuration,
    replicas=st.integers(2, 3),
    acks=st.sampled_from(sorted(ACKS)),
    min_insync_replicas=st.integers(1, 2),
    unclean_leader_election=st.booleans(),
    power_loss=st.booleans(),
    asynchronous_checkpoint=st.booleans(),
    records_per_fetch=st.integers(1, 2),
)
quickly = settings(max_examples=60, deadline=None)


@quickly
@given(schedules, any_protocol, any_settings)
def test_every_change_of_a_log_or_high_watermark_is_in_the_sentence_of_its_step(schedule, protocol, configuration):
    for scene in narrate(replay(schedule, protocol, configuration)):
        for replica in scene.replicas:
            expected = []
            if appended := [cell.record for cell in replica.log if cell.appended]:
                expected += [f"{replica.name} appends ", *appended]
            if replica.cut:
                verb = "loses" if scene.event.startswith("power_loss") else "truncates"
                expected += [f"{replica.name} {verb} ", *(cell.record for cell in replica.cut)]
            if replica.high_watermark > replica.previous_high_watermark:
                expected.append(f"{replica.name}'s HW rises to {replica.high_watermark}")
            if replica.high_watermark < replica.previous_high_watermark:
                expected.append(
                    f"{replica.name}'s HW falls from {replica.previous_high_watermark} to {replica.high_watermark}"
                )
            assert [part for part in expected if part not in scene.sentence] == []
            assert bool(expected) <= scene.applied
        assert [record for record in scene.newly_committed if record not in scene.sentence] == []


@quickly
@given(schedules, any_protocol, any_settings)
def test_a_scene_shows_the_observed_state_of_the_replicas_and_the_controller(schedule, protocol, configuration):
    replayed = replay(schedule, protocol, configuration)
    for scene, step in zip(narrate(replayed)[1:], replayed.steps, strict=True):
        observed = observe(step.state)
        for replica in scene.replicas:
            leads = {"isr": replica.isr, "pending_isr": replica.pending_isr}
            assert {
                "up": replica.role is not Role.DOWN,
                "leo": replica.leo,
                "hw": replica.high_watermark,
                "log": [[cell.record, cell.epoch] for cell in replica.log],
                "epochs": observed["replicas"][replica.name]["epochs"],
                "leader": replica.leader,
                "leader_epoch": replica.epoch,
                **{name: list(members) for name, members in leads.items() if members is not None},
            } == observed["replicas"][replica.name]
        decided = scene.controller
        seen = observed["controller"]
        assert (seen["leader"], seen["epoch"], seen["isr"]) == (decided.leader, decided.epoch, list(decided.isr))
        assert seen.get("fenced", []) == [replica.name for replica in scene.replicas if replica.fenced]
        assert seen.get("elr") == (None if decided.elr is None else list(decided.elr))
        assert seen.get("last_known_leader") == decided.last_known_leader


@quickly
@given(schedules, any_protocol, any_settings)
def test_an_event_has_a_reason_if_and_only_if_the_event_is_not_enabled(schedule, protocol, configuration):
    replayed = replay(schedule, protocol, configuration)
    before = replayed.start
    for step in replayed.steps:
        assert bool(refusal.why_not(before, step.event)) is not step.applied
        before = step.state


@quickly
@given(schedules, any_protocol, any_settings)
def test_a_scene_shows_lost_records_if_and_only_if_a_property_reports_a_loss(schedule, protocol, configuration):
    replayed = replay(schedule, protocol, configuration)
    for scene, step in zip(narrate(replayed)[1:], replayed.steps, strict=True):
        broken = properties.names(properties.broken_now(step.state))
        reported = bool({"no-committed-loss", "no-acked-loss"} & set(broken))
        assert bool(scene.lost) is reported or promises.are_void(step.state)
        for record in scene.lost:
            assert any(record == place.record for replica in scene.replicas for place in replica.missing)


@quickly
@given(schedules, any_protocol, any_protocol, any_settings)
def test_runs_part_at_their_first_visible_difference_and_each_run_has_its_own_reason(
    schedule, protocol_a, protocol_b, configuration
):
    run_a, run_b = (replay(schedule, protocol, configuration) for protocol in (protocol_a, protocol_b))
    parts_at = parting(run_a, run_b)
    same = len(schedule) if parts_at is None else parts_at.number - 1
    for step_a, step_b in zip(run_a.steps[:same], run_b.steps[:same], strict=True):
        for name, replica in observe(step_a.state)["replicas"].items():
            other = observe(step_b.state)["replicas"][name]
            seen_of_both = replica.keys() & other.keys() - {"epochs"}
            assert [key for key in seen_of_both if replica[key] != other[key]] == []
    if parts_at is not None:
        (_, why_a), (_, why_b) = parts_at.under
        assert why_a != why_b


def test_the_shortest_loss_under_hw_is_shown_from_the_first_record_to_its_loss():
    assert [scene.sentence for scene in scenes(SHORTEST_LOSS)] == [
        "All replicas are up, have empty logs and know that A leads epoch 0, ISR A,B.",
        "A appends m0 at offset 0 in epoch 0.",
        "A responds to B's fetch from offset 0 with m0 and HW 0.",
        "B appends m0 at offset 0.",
        "B's fetch from offset 1 shows A that B has everything below it; A responds with no records and HW 1; "
        "A's HW rises to 1; m0 is committed and acknowledged.",
        "B's process dies; its disk has m0 with HW 0; the response in flight to B is discarded: no records, HW 1.",
        "B is up again, and knows no leader yet; its disk has m0 with HW 0.",
        "The controller makes B leader of epoch 1, ISR A,B; A does not know that and still leads epoch 0, a zombie.",
        "B learns that A leads epoch 0, although the controller is at epoch 1; B truncates m0: its high watermark was"
        " 0, although m0 was committed on A; B is in the ISR without m0, which is below A's HW.",
        "B becomes leader of epoch 1; m0 is lost: it was readable on A at offset 0, and leader B does not have it.",
    ]


def test_hw_and_kip_101_part_at_the_truncation_by_b_in_the_shortest_loss():
    assert parting(run(SHORTEST_LOSS), run(SHORTEST_LOSS, "kip-101")) == Parting(
        8,
        "notify B",
        (
            (
                "hw",
                "B truncates m0: its high watermark was 0, although m0 was committed on A; "
                "B is in the ISR without m0, which is below A's HW.",
            ),
            (
                "kip-101",
                "B keeps m0, beyond its high watermark 0, and will ask A where epoch 0 ends before it fetches.",
            ),
        ),
    )


def test_the_sentence_of_a_parting_quotes_each_protocol():
    parts_at = Parting(8, "notify B", (("hw", "B truncates m0."), ("kip-101", "B keeps m0.")))
    assert parts_at.sentence == "Step 8, notify B: Under hw: B truncates m0. Under kip-101: B keeps m0."


def test_runs_that_differ_only_in_their_epoch_caches_do_not_part():
    assert run(COMMITTED, "hw").steps[-1].state.cache_size != run(COMMITTED, "kip-320").start.cache_size
    assert parting(run(COMMITTED, "hw"), run(COMMITTED, "kip-320")) is None


def test_a_fence_parts_two_runs_and_names_kafkas_error():
    schedule = "expire B, notify B, fetch B"
    parts_at = parting(run(schedule, "kip-279"), run(schedule, "kip-320"))
    assert parts_at is not None
    assert parts_at.under[1] == (
        "kip-320",
        "Not enabled: leader A is at epoch 0 and rejects B, at epoch 1: UNKNOWN_LEADER_EPOCH.",
    )


@pytest.mark.parametrize(
    ("protocol", "schedule", "sentence"),
    [
        (
            "hw",
            f"{COMMITTED}, crash B, restart B, notify B",
            "B learns that A leads epoch 0; B truncates nothing: its high watermark and its LEO are both 1.",
        ),
        (
            "hw",
            "crash B, restart B, notify B",
            "B learns that A leads epoch 0; B has nothing to truncate: its log is empty.",
        ),
        (
            "hw",
            "crash A, restart A, elect B, notify A",
            "A becomes leader of epoch 0, although the controller is at epoch 1.",
        ),
        (
            "kip-101",
            f"{COPIED}, crash B, restart B, notify B, fetch B",
            "B asks where epoch 0 ends; A responds: epoch 0 ends at 1.",
        ),
        (
            "kip-101",
            f"{COPIED}, crash B, restart B, notify B, fetch B, receive B",
            "B, with LEO 1, truncates nothing: epoch 0 ends at offset 1 on A.",
        ),
        (
            "kip-101",
            "produce A, elect B, notify B, notify A, fetch A",
            "A asks where epoch 0 ends; B does not know: undefined.",
        ),
        (
            "kip-101",
            "produce A, elect B, notify B, notify A, fetch A, receive A",
            "A truncates m0: B did not know, and A's high watermark was 0.",
        ),
        (
            "kip-320",
            "produce A, elect B, notify B, notify A, fetch A, receive A",
            "A truncates m0: epoch 0 ends at offset 0 on B.",
        ),
        (
            "kip-320",
            f"{COPIED}, produce A, expire B, notify B, notify A, fetch B, receive B",
            "B, with LEO 1, truncates nothing: epoch 0 ends at offset 2 on A, and at 1 on B.",
        ),
        (
            "kip-320",
            "produce A, crash B, restart B",
            "The controller first treats B as failed: epoch 1 keeps leader A, ISR A; "
            "B is up again, and knows no leader yet; its disk has an empty log with HW 0.",
        ),
        (
            "kip-101",
            f"{COPIED}, produce A, shrink B, crash B, restart B, notify B, expand B",
            "Not enabled: B is truncating.",
        ),
        ("hw", "produce A, fetch B, drop B", "The response to B is lost on the way: m0, HW 0."),
        (
            "hw",
            "elect B, notify B, notify A",
            "A learns that B leads epoch 1 and steps down; A has nothing to truncate: its log is empty.",
        ),
        ("hw", "elect B, produce A", "A appends m0 at offset 0 in epoch 0, although the controller is at epoch 1."),
        ("hw", "expire B", "B's session with the controller expires: epoch 1 keeps leader A, ISR A."),
        ("hw", "expire B, notify A", "A learns that it leads on, in epoch 1."),
        (
            "hw:leaderless=obeyed",
            "expire B, expire A, catch_up B",
            "B skips to epoch 2: it learns that epoch 2 has no leader.",
        ),
        (
            "hw",
            "expire B, expire A, catch_up B",
            "B learns that A leads epoch 1, although the controller is at epoch 2; "
            "B has nothing to truncate: its log is empty.",
        ),
        (
            "hw",
            "produce A, shrink B",
            "A drops B from the ISR, which is now A: it has not heard from B, and its own LEO is 1; "
            "A's HW rises to 1; m0 is committed and acknowledged.",
        ),
        (
            "hw",
            "produce A, shrink B, fetch B, receive B, fetch B, expand B",
            "A takes B into the ISR, which is now A,B: it has seen B at offset 1, and its own HW is 1.",
        ),
    ],
)
def test_the_last_step_has_the_sentence_of_its_protocol(protocol, schedule, sentence):
    assert last_sentence(schedule, protocol) == sentence


def test_the_sentence_of_a_power_loss_names_the_records_that_were_not_flushed():
    schedule = "produce A, fetch B, receive B, flush B, produce A, fetch B, receive B, power_loss B"
    said = last_sentence(schedule, power_loss=True)
    assert said == "Power fails at B; its disk has m0 with HW 0; B loses m1: not flushed."


def test_the_sentence_of_a_crash_shows_the_fall_of_the_high_watermark_to_its_checkpoint():
    said = last_sentence(f"{COMMITTED}, crash B", asynchronous_checkpoint=True)
    assert said == "B's process dies; its disk has m0 with HW 0; B's HW falls from 1 to 0."


def test_the_sentence_of_an_unclean_election_names_the_election_unclean():
    schedule = "expire B, notify A, produce A, crash A, elect B"
    said = last_sentence(schedule, unclean_leader_election=True)
    assert said == "The controller makes B leader of epoch 2 by an unclean election, ISR B."


def test_the_sentence_of_a_loss_says_that_acks_1_does_not_protect_the_record():
    said = last_sentence("produce A, elect B, notify B", acks="1")
    assert said.endswith(
        "m0 is lost: it was acknowledged at offset 0, which acks=1 does not protect, and leader B does not have it."
    )


def test_the_sentence_of_a_stepwise_truncation_gives_the_reason_for_the_next_request():
    # A has records of epochs 0 and 1, B of 0 and 2: B never had the nearest epoch that A can name. KAFKA-7415: A has
    # noted its own epoch 3 before any record of this epoch. Otherwise A could not answer for epoch 2.
    schedule = (
        f"{COMMITTED}, expire B, notify A, produce A, crash A, elect B, catch_up B, produce B, "
        "crash B, restart A, elect A, notify A, notify A, restart B, notify B, fetch B, receive B"
    )
    *_, asked, answered = scenes(schedule, "kip-279:epoch_cache=kafka-7415", unclean_leader_election=True)
    assert asked.sentence == "B asks where epoch 2 ends; A responds: epoch 1 ends at 2."
    assert answered.sentence == (
        "B truncates m2: A has epoch 1, B has only 0 near it, which ends at offset 1, although m2 was committed on B; "
        "B will ask again, now for epoch 0; B's HW falls from 2 to 1."
    )


@pytest.mark.parametrize(
    ("role", "schedule"),
    [
        (Role.LEADER, "elect B, notify B"),
        (Role.FOLLOWER, "produce A"),
        (Role.TRUNCATING, f"{COPIED}, crash B, restart B, notify B"),
        (Role.LEADERLESS, "crash B, restart B"),
        (Role.LEADERLESS, "expire A, notify B"),
        (Role.DOWN, "crash B"),
        (Role.ZOMBIE, "elect B, notify B, elect A"),
    ],
)
def test_a_scene_shows_the_role_that_a_replica_assumes(role, schedule):
    assert scenes(schedule, "kip-101:leaderless=obeyed")[-1].replicas[1].role is role


def test_a_leader_that_the_controller_confirms_in_a_new_epoch_is_not_a_stale_leader():
    assert scenes("expire B")[-1].replicas[0].role is Role.LEADER


def test_a_cell_shows_if_its_record_is_exposed_acknowledged_or_below_the_high_watermark():
    a, b = scenes("produce A, fetch B, receive B, fetch B, produce A", acks="1")[-1].replicas
    promises = [(cell.record, cell.below_high_watermark, cell.exposed, cell.acked, cell.appended) for cell in a.log]
    assert promises == [("m0", True, True, True, False), ("m1", False, False, True, True)]
    assert [(cell.record, cell.below_high_watermark, cell.exposed) for cell in b.log] == [("m0", False, True)]


def test_a_truncated_record_is_shown_only_in_the_step_of_its_truncation():
    cut = [tuple(cell.record for cell in scene.replicas[1].cut) for scene in scenes(SHORTEST_LOSS)]
    assert cut == [(), (), (), (), (), (), (), (), ("m0",), ()]


def test_a_lost_record_is_shown_as_missing_only_on_the_leader():
    a, b = scenes(SHORTEST_LOSS)[-1].replicas
    assert a.missing == ()
    assert b.missing == (Missing(0, "m0"),)


def test_a_lagging_follower_has_no_missing_record():
    a, b = scenes("produce A, shrink B")[-1].replicas
    assert [cell.below_high_watermark for cell in a.log] == [True]
    assert (b.log, b.missing) == ((), ())


def test_replicas_that_diverge_below_their_high_watermarks_each_miss_the_other_record():
    schedule = f"{COMMITTED}, expire B, notify A, produce A, crash A, elect B, catch_up B, produce B"
    last = scenes(schedule, unclean_leader_election=True)[-1]
    assert [replica.missing for replica in last.replicas] == [(Missing(1, "m2"),), (Missing(1, "m1"),)]
    assert last.newly_broken == ("no-divergence",)
    assert last.sentence.endswith("at offset 1 A has m1 and B has m2, below the HW of both.")


def test_flushed_and_checkpointed_offsets_are_shown_only_if_a_fault_can_undo_them():
    last = scenes("produce A")[-1].replicas[0]
    assert (last.flushed, last.checkpointed) == (None, None)
    last = scenes("produce A", power_loss=True, asynchronous_checkpoint=True)[-1].replicas[0]
    assert (last.flushed, last.checkpointed) == (0, 0)


def test_a_sentence_describes_violations_that_no_correct_model_has():
    before = run(COPIED).steps[-1].state
    after = before.copy()
    after.log_record[1] = 1
    after.high_watermark[0] = 5
    broken = ("log-matching", "hw-within-log")
    change = Change(before, parse_event("flush A"), after, {}, broken)
    said = sentences.clauses(change)
    assert said[-2:] == ("at offset 0 A has m0 and B has m1, both of epoch 0", "A's HW 5 is beyond its LEO 1")


def test_a_consumer_below_the_log_start_continues_at_the_log_start():
    said = last_sentence("produce A, shrink B, produce A, trim A, consume A", "kip-320", retention=True, consumer=True)
    assert said == (
        "Offset 0 is below A's log start, so the consumer continues at offset 1; "
        "the consumer reads m1 at offset 1 from A."
    )


def test_a_consumer_skips_the_marker_of_a_transaction():
    committed = f"{COMMITTED}, commit A, {COMMITTED.removeprefix('produce A, ')}, consume A, consume A"
    said = last_sentence(committed, "kip-320", transactions=True, consumer=True)
    assert said == "The consumer skips COMMIT at offset 1 from A."


def test_a_response_with_only_a_new_log_start_brings_something_new():
    said = last_sentence(f"{COMMITTED}, trim A, fetch B, receive B", "kip-320", retention=True)
    assert said == "B has nothing to append; B's log starts at offset 1 now."
