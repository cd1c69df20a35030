"""Kafka 2.7 to 4.1: exhaustive search finds a shortest schedule for each flaw, and none for reference designs.

Published lengths are from the design document MODERN. If the model finds a shorter schedule, a comment says why.
"""

from typing import Any

import pytest

from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.harness.testing import minimal, run_schedule
from epochfuzz.model.kafka.contract.properties import NAMES, set_of
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, parse_protocol

LOSS, DIVERGENCE = "no-committed-loss", "no-divergence"
SMALL: dict[str, Any] = {"records": 1, "epochs": 2}
MODERN = [name for name in GENERATIONS if GENERATIONS[name].choice("isr_change").text == "request"]
ON_FETCH = "kip-320:truncation=on_fetch"

# Protocol, property, settings in addition to SMALL, and a shortest schedule.
SHORTEST = [
    # Truncation on fetch.
    (f"{ON_FETCH},diverging_fetch=counted", "isr-complete", {"records": 2},
     "produce A, elect B, notify A, notify B, produce B, fetch A"),
    (f"{ON_FETCH},diverging_fetch=counted", LOSS, {"records": 2},
     "produce A, elect B, notify A, notify B, produce B, fetch A, elect A, notify A"),
    (f"{ON_FETCH},diverging_high_watermark=applied", LOSS, {"records": 2, "follower_reads": True},
     "produce A, elect B, notify A, notify B, produce B, shrink A, fetch A, receive A"),
    # Published: 12, under a controller that keeps dead members at a failover. The controller under ZooKeeper removes B.
    # Then A's high watermark passes the records that the response is about to truncate.
    (f"{ON_FETCH},late_answer=diverging_any", LOSS, {},
     "produce A, elect B, notify A, notify B, fetch A, crash B, elect A, notify A, receive A"),
    # Published: 6. The last updates are not needed: all replicas receive them after all faults have stopped.
    (f"{ON_FETCH},cache_truncation=with_log", "convergence", {"records": 2}, "produce A, elect B, elect A"),
    # AlterPartition.
    # Published: 7, without `expire`.
    ("kip-497:effective_isr=proposed", LOSS, {"replicas": 3},
     "produce A, expire B, notify A, shrink C, elect C, catch_up C"),
    ("kip-497:isr_version=unchecked", LOSS, {}, "produce A, shrink B, elect B, notify B, alter A, altered A"),
    ("kip-497:isr_answer=high_watermark_kept", "hw-due", {}, "produce A, shrink B, alter A, altered A"),
    ("kip-903:isr_answer=advanced_when_applied", "hw-due", {},
     "fetch B, expire B, unfence B, notify A, expire B, expand B, produce A, notify A, alter A, altered A"),
    ("kip-497:isr_queue=cleared_by_news", "isr-change-ends", {},
     "produce A, shrink B, elect B, elect A, catch_up A, shrink B"),
    ("kip-497:isr_duplicate=refused", "isr-change-ends", {},
     "produce A, shrink B, alter A, resend A, alter A, altered A"),
    ("kip-841:stale_controller=final", "isr-change-ends", {}, "produce A, shrink B, refuse A, altered A"),
    ("kip-497:isr_error=stuck", "isr-change-ends", {}, "produce A, shrink B, refuse A, altered A"),
    ("kip-497:isr_error=taken_back", LOSS, {},
     "expire B, notify A, notify B, fetch B, expand B, alter A, resend A, refuse A, altered A, produce A, elect B,"
     " notify B"),
    # Fencing and broker epochs.
    # Published: 7. The HW of a single member may rise, because min.insync.replicas stops only produce requests.
    ("kip-320:registration=resume", LOSS, {"min_insync_replicas": 2, "power_loss": True},
     "produce A, shrink B, power_loss A, restart A, notify A"),
    ("kip-320:isr_eligibility=unchecked", "join-complete", {"power_loss": True},
     "produce A, fetch B, receive B, shrink B, fetch B, power_loss B, expand B"),
    ("kip-903:isr_eligibility=incarnation_racy", "join-complete", {"power_loss": True},
     "produce A, fetch B, receive B, fetch B, expire B, unfence B, power_loss B, notify A, restart B, expire B,"
     " register B, notify B, unfence B, expand B, fetch B, alter A"),
    # Eligible leader replicas.
    ("min-isr-gate", LOSS, {"min_insync_replicas": 2, "power_loss": True},
     "produce A, fetch B, receive B, fetch B, power_loss A, expire B, restart A, expire A, register A, notify A,"
     " unfence A, elect A, notify A"),
    ("kip-966:eligible_leaders=kept_unclean", LOSS, {"min_insync_replicas": 2, "power_loss": True, "epochs": 3},
     "produce A, fetch B, receive B, fetch B, power_loss A, restart A, expire A, register A, notify A, unfence A,"
     " expire B, elect A, notify A"),
]  # fmt: skip
PUBLISHED = [
    ("kip-841:isr_eligibility=unchecked", "join-complete", 10, {"power_loss": True}),
    ("kip-966:high_watermark_gate=none", LOSS, 7, {"min_insync_replicas": 2, "power_loss": True}),
    (f"{ON_FETCH},late_answer=same_leader", LOSS, 16, {"records": 2, "epochs": 4}),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("protocol", "property_", "settings", "schedule"), SHORTEST)
def test_each_recent_flaw_has_a_shortest_schedule_of_the_listed_length(protocol, property_, settings, schedule):
    events = schedule.split(", ")
    assert run_schedule(events, protocol, **settings).first_broken[property_] == len(events)
    assert len(minimal(protocol, property_, **(SMALL | settings))) == len(events)


@pytest.mark.parametrize(("protocol", "property_", "length", "settings"), PUBLISHED)
def test_each_recent_flaw_has_a_shortest_schedule_of_the_published_length(protocol, property_, length, settings):
    assert len(minimal(protocol, property_, **(SMALL | settings))) == length


@pytest.mark.parametrize("name", MODERN)
def test_a_reference_design_holds_every_property_within_small_bounds(name):
    found = explore(GENERATIONS[name], Configuration(**SMALL), set_of(NAMES))
    assert (found.complete, found.shortest) == (True, None)


# The guarantees of reference designs under power failures. KIP-903: no replica joins the ISR because of a fetch with an
# earlier broker epoch. KIP-966: fewer than min.insync.replicas failures lose no record.
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "judged", "settings"),
    [
        ("kip-903", ["join-complete"], {}),
        pytest.param("kip-966", NAMES, {}, marks=pytest.mark.slow),
        pytest.param("kip-966", NAMES, {"min_insync_replicas": 2}, marks=pytest.mark.slow),
        pytest.param("kip-966", NAMES, {"min_insync_replicas": 2, "epochs": 3}, marks=pytest.mark.slow),
        pytest.param("kip-966", NAMES, {"epochs": 3}, marks=pytest.mark.slow),
    ],
)
def test_a_reference_design_keeps_its_guarantee_under_power_failures(name, judged, settings):
    found = explore(GENERATIONS[name], Configuration(**(SMALL | {"power_loss": True} | settings)), set_of(judged))
    assert (found.complete, found.shortest) == (True, None)


def test_min_insync_replicas_lossy_failures_void_the_guarantee_against_lost_records():
    """The record is lost in both runs. A goal marks the loss that is permitted."""
    lost = [
        "produce A",
        "fetch B",
        "receive B",
        "fetch B",
        "power_loss A",
        "restart A",
        "expire A",
        "register A",
        "notify A",
        "unfence A",
        "expire B",
        "elect A",
        "notify A",
    ]
    kept_unclean = "kip-966:eligible_leaders=kept_unclean"
    for min_insync_replicas, broken in ((1, False), (2, True)):
        run = run_schedule(lost, kept_unclean, power_loss=True, min_insync_replicas=min_insync_replicas)
        assert not run.steps[-1].state.standing[0]
        assert (LOSS in run.broken) == broken
        assert bool(run.steps[-1].state.goals & Goal.LOSS_PERMITTED) != broken


# Releases.


@pytest.mark.parametrize(
    ("release", "property_", "schedule", "fixed"),
    [
        ("kafka-2.8.0", LOSS, "produce A, elect B, notify A, notify B, produce B, fetch A, elect A, notify A",
         "kafka-2.8.1"),
        ("kafka-2.8.1", "isr-change-ends", "produce A, shrink B, elect B, elect A, catch_up A, shrink B", "kafka-3.0"),
        ("kafka-3.0", "hw-due", "produce A, shrink B, alter A, altered A", "kafka-3.1"),
        ("kafka-3.1", LOSS,
         "expire B, notify A, notify B, fetch B, expand B, alter A, resend A, refuse A, altered A, produce A, elect B,"
         " notify B", "kafka-3.2.1"),
        ("kafka-4.1", "hw-due",
         "fetch B, expire B, unfence B, notify A, expire B, expand B, produce A, notify A, alter A, altered A",
         "kip-966"),
    ],
)  # fmt: skip
def test_a_release_breaks_a_property_that_the_release_with_the_fix_holds(release, property_, schedule, fixed):
    events = schedule.split(", ")
    assert property_ in run_schedule(events, release).broken
    assert property_ not in run_schedule(events, fixed).broken


def test_the_isr_choices_of_2_8_1_match_its_source_code():
    """At the tag 2.8.1: AlterIsrManager.clearPending is there, and handleAlterIsrResponse leaves the high watermark."""
    release = parse_protocol("kafka-2.8.1")
    assert (release.choice("isr_queue").text, release.choice("isr_answer").text) == (
        "cleared_by_news",
        "high_watermark_kept",
    )
