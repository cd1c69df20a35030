"""Exhaustive search against the verdicts and shortest lengths of an independent model (PROTOCOL.md, section 6)."""

from typing import Any

import pytest

from epochfuzz.harness.engine.explore.certificates import certify
from epochfuzz.harness.engine.explore.explore import explore
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

BOUNDS: dict[str, Any] = {"records": 3, "epochs": 3}
LOSS = properties.named("no-committed-loss").bit


def search(protocol, property_, replicas=2, depth=None, **settings):
    wanted = properties.named(property_).bit
    within = Configuration(replicas=replicas, **(BOUNDS | settings))
    return explore(parse_protocol(protocol), within, wanted, depth=depth)


@pytest.mark.parametrize(
    ("protocol", "property_", "length"),
    [
        ("hw", "no-committed-loss", 9),
        ("hw", "no-divergence", 10),
        ("hw", "isr-complete", 7),
        ("kip-101", "no-committed-loss", 13),
        ("kip-101", "no-divergence", 13),
        ("kip-101", "isr-complete", 11),
    ],
)
def test_the_shortest_schedules_that_break_a_reference_design_have_the_published_length(protocol, property_, length):
    result = search(protocol, property_)
    assert result.shortest is not None
    assert len(result.shortest) == length


@pytest.mark.parametrize(
    "property_", ["no-committed-loss", "no-divergence", "isr-complete", "log-matching", "convergence"]
)
def test_kip_320_holds_each_property_with_two_replicas(property_):
    result = search("kip-320", property_)
    assert (result.complete, result.broken) == (True, False)


@pytest.mark.parametrize(
    ("mechanism", "property_", "length"),
    [
        ("truncation=high_watermark", "no-committed-loss", 9),
        ("truncation=leader_epoch", "no-divergence", 11),
        ("epoch_cache=original", "no-divergence", 13),
        ("fencing=none", "isr-complete", 10),
    ],
)
def test_kip_320_with_an_older_mechanism_breaks_a_property_with_two_replicas(mechanism, property_, length):
    result = search(f"kip-320:{mechanism}", property_)
    assert result.shortest is not None
    assert len(result.shortest) == length


@pytest.mark.slow
def test_without_kafka_7128_three_replicas_lose_a_committed_record():
    result = search("kip-320:isr_expansion=high_watermark", "no-committed-loss", replicas=3)
    assert schedule_texts(result.shortest) == [
        "produce A", "fetch B", "receive B", "fetch B", "shrink C", "elect B",
        "notify B", "notify C", "fetch C", "expand C", "elect C", "notify C",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("property_", ["no-committed-loss", "no-divergence"])
def test_kip_320_holds_each_property_with_three_replicas_and_one_record(property_):
    result = search("kip-320", property_, replicas=3, records=1, epochs=2)
    assert (result.complete, result.broken) == (True, False)


@pytest.mark.slow
def test_a_missed_truncation_breaks_isr_complete_with_three_replicas():
    result = search("kip-320:truncate_when=leader_changed", "isr-complete", replicas=3, records=2, epochs=3, depth=16)
    assert len(result.shortest) == 14


def test_a_search_with_a_depth_limit_reports_the_depth_that_it_covered():
    result = search("hw", "no-committed-loss", depth=8)
    assert (result.complete, result.broken, result.depth, result.memory_exhausted) == (False, False, 8, False)


def test_a_search_that_runs_out_of_memory_reports_the_depth_that_it_reached():
    result = explore(parse_protocol("kip-320"), Configuration(**BOUNDS), LOSS, memory=4 << 20)
    assert result.memory_exhausted
    assert not result.complete
    assert 5 < result.depth < 40


def test_certify_replaces_a_reproducer_that_is_not_the_shortest():
    longer = "produce A, fetch B, receive B, fetch B, receive B, produce A, fetch B, receive B, fetch B, crash B, "
    longer += "restart B, elect B, notify B, notify B"
    schedule = parse_schedule(longer.split(", "))
    certified = certify(schedule, parse_protocol("hw"), Configuration(), LOSS)
    assert certified.certified_minimal
    assert schedule_texts(certified.schedule) == [
        "produce A", "fetch B", "receive B", "fetch B", "crash B", "restart B", "notify B", "elect B", "notify B",
    ]  # fmt: skip
