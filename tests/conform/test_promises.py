"""`--judge promises` checks the properties on observations, without a comparison with the model."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.protocol.subject import CheckedSubject
from epochfuzz.harness.conform.run.drive import Driven, Setting, drive
from epochfuzz.harness.engine.walk import generate
from epochfuzz.harness.trace.replay import replay
from epochfuzz.model.kafka.contract.properties import BY_NAME, PROPERTIES, permitted
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import NAMED, parse_protocol
from tests.conform.reference import Reference
from tests.conform.test_lockstep import Changed

LOSS = ["produce A", "fetch B", "receive B", "fetch B", "crash B", "restart B", "elect B", "notify B", "notify B"]


def run(schedule: bytes, protocol: str, settings: Configuration, subject: Reference | None = None) -> Driven:
    setting = Setting(parse_protocol(protocol), settings, JudgedBy.PROMISES)
    return drive(CheckedSubject(subject or Reference()), schedule, setting)


@pytest.mark.thorough
@given(
    seed=st.integers(0, 2**32),
    protocol=st.sampled_from(list(NAMED)),
    settings=st.builds(
        Configuration,
        replicas=st.integers(2, 3),
        acks=st.sampled_from(["0", "1", "all"]),
        min_insync_replicas=st.integers(1, 2),
        unclean_leader_election=st.booleans(),
        power_loss=st.booleans(),
        asynchronous_checkpoint=st.booleans(),
        epochs=st.just(6),
        records=st.just(6),
    ),
)
def test_the_observed_violations_are_the_violations_of_the_model_at_equal_events(
    seed: int, protocol: str, settings: Configuration
) -> None:
    deck = generate.deck_for(KAFKA, settings, [parse_protocol(protocol)])
    driven = run(generate.schedule(seed, 0, deck), protocol, settings)
    first_broken = replay(driven.sent, parse_protocol(protocol), settings).first_broken
    by_model = {name: at for name, at in first_broken.items() if BY_NAME[name].seen_in}
    by_observation = {str(sighting.fault.field): len(sighting.sent) for sighting in driven.sightings}
    assert by_observation == {name: at for name, at in by_model.items() if name not in permitted(settings)}


@given(seed=st.integers(0, 2**32), rule=st.sampled_from(["accepted", "verified", "record_rejected", "rejected"]))
def test_an_uncommitted_read_after_a_late_request_is_found_as_in_the_model(seed: int, rule: str) -> None:
    protocol = f"kip-320:late_request={rule}"
    settings = Configuration(transactions=True, late_requests=True, epochs=2, records=4)
    schedule = generate.schedule(seed, 0, generate.deck_for(KAFKA, settings, [parse_protocol(protocol)]))
    driven = run(schedule, protocol, settings)
    found = [len(each.sent) for each in driven.sightings if each.fault.field == "read-committed"]
    at = replay(driven.sent, parse_protocol(protocol), settings).first_broken.get("read-committed")
    assert found == ([] if at is None else [at])


def test_a_delayed_record_counts_as_the_next_record_of_the_producer() -> None:
    schedule = parse_schedule(["delay A", "abort A", "produce A", "shrink B", "commit A", "delay A", "delay A"])
    driven = run(schedule, "kip-320", Configuration(transactions=True, late_requests=True, records=2))
    assert driven.sightings == []
    assert schedule_texts(bytes(driven.sent)) == schedule_texts(schedule)[:5]


def test_a_lost_record_is_described_in_a_sentence() -> None:
    driven = run(parse_schedule(LOSS), "hw", Configuration())
    loss = next(sighting.fault for sighting in driven.sightings if sighting.fault.field == "no-committed-loss")
    assert loss.sentence == "no-committed-loss is broken: m0 is not at offset 0 of leader B"


def test_a_violation_of_convergence_lists_the_events_that_stopped_all_faults() -> None:
    def never_equal(observation: dict[str, Any]) -> None:
        observation["replicas"]["B"]["log"] = []

    schedule = parse_schedule(["produce A", "crash B"])
    (sighting,) = run(schedule, "kip-320", Configuration(), Changed(never_equal)).sightings
    assert sighting.fault.field == "convergence"
    steps = sighting.fault.output.removeprefix("After all faults had stopped, it applied: ").split(", ")
    assert steps[0] == "restart B"
    assert {"notify B", "fetch B"} <= set(steps)


def test_a_schedule_continues_after_a_broken_guarantee() -> None:
    driven = run(parse_schedule(LOSS), "hw", Configuration())
    assert {sighting.fault.field for sighting in driven.sightings} >= {
        "isr-complete",
        "no-committed-loss",
        "no-acked-loss",
    }
    assert len(driven.sightings[0].sent) < len(LOSS)


@pytest.mark.thorough
@pytest.mark.parametrize("hidden", ["log", "hw", "leo", "leader", "leader_epoch", "up"])
def test_a_missing_field_causes_no_false_violation(hidden: str) -> None:
    def hide(observation: dict[str, Any]) -> None:
        for replica in observation["replicas"].values():
            del replica[hidden]

    settings = Configuration(replicas=3)
    for number in range(10):
        schedule = generate.schedule(5, number, generate.deck_for(KAFKA, settings))
        broken = {sighting.fault.field for sighting in run(schedule, "hw", settings).sightings}
        shown = {sighting.fault.field for sighting in run(schedule, "hw", settings, Changed(hide)).sightings}
        assert shown <= broken


NOT_ENOUGH = ["produce A", "shrink B", "power_loss A", "restart A", "elect A", "notify A"]


@pytest.mark.parametrize("min_insync_replicas", [1, 2])
def test_a_record_with_not_enough_replicas_after_append_is_not_acknowledged(min_insync_replicas: int) -> None:
    settings = Configuration(min_insync_replicas=min_insync_replicas, power_loss=True)
    driven = run(parse_schedule(NOT_ENOUGH), "kip-320", settings)
    broken = {sighting.fault.field for sighting in driven.sightings}
    assert "no-committed-loss" in broken
    assert ("no-acked-loss" in broken) == (min_insync_replicas == 1)


def test_an_isr_member_that_shows_no_log_counts_for_min_insync_replicas() -> None:
    def hide(observation: dict[str, Any]) -> None:
        del observation["replicas"]["B"]["log"]

    events = ["produce A", "fetch B", "receive B", "fetch B", "power_loss A", "restart A", "elect A", "notify A"]
    settings = Configuration(min_insync_replicas=2, power_loss=True)
    driven = run(parse_schedule(events), "kafka-2.1.1", settings, Changed(hide))
    assert "no-acked-loss" in {sighting.fault.field for sighting in driven.sightings}


def test_a_high_watermark_beyond_the_log_is_a_violation() -> None:
    def raise_it(observation: dict[str, Any]) -> None:
        observation["replicas"]["B"]["hw"] = 1

    driven = run(parse_schedule(["fetch B"]), "kip-320", Configuration(), Changed(raise_it))
    assert "hw-within-log" in [sighting.fault.field for sighting in driven.sightings]


def test_a_violation_that_the_configuration_permits_is_not_reported() -> None:
    events = parse_schedule(["produce A", "elect B", "notify B"])
    assert run(events, "kip-320", Configuration(acks="1")).sightings == []
    said = replay(events, parse_protocol("kip-320"), Configuration(acks="1"))
    assert said.permitted == ["no-acked-loss"]


def test_every_property_that_random_schedules_break_is_checked() -> None:
    breakable = {each.name for each in PROPERTIES if each.seen_in} - {"hw-within-log", "log-matching"}
    breakable -= {"consumer-no-skip"}  # rare in random schedules; test_rerun.py replays a case
    found: set[str] = set()
    for number in range(200):
        settings = Configuration(replicas=3, unclean_leader_election=True, retries=number % 2 == 1)
        deck = generate.deck_for(KAFKA, settings)
        driven = run(generate.schedule(1, number, deck), "hw:idempotence=none", settings)
        found |= {str(sighting.fault.field) for sighting in driven.sightings}
        if found >= breakable:
            return
    assert found >= breakable


class AcknowledgesEarly(Reference):
    """The model, but the leader acknowledges each record when it appends the record, regardless of the ISR."""

    def __init__(self) -> None:
        self.acked: list[str] = []

    def apply(self, event: str) -> bool:
        applied = super().apply(event)
        if applied and event.startswith("produce"):
            self.acked.append(f"m{len(self.acked)}")
        return applied

    def observe(self) -> dict[str, Any]:
        return {**super().observe(), "producers": {"acked": list(self.acked)}}


def test_acknowledgements_that_the_adapter_shows_are_trusted() -> None:
    early = parse_schedule(["produce A", "elect B", "notify B"])
    assert run(early, "kip-320", Configuration()).sightings == []
    acknowledged = run(early, "kip-320", Configuration(), AcknowledgesEarly())
    assert [(str(each.fault.field), len(each.sent)) for each in acknowledged.sightings] == [("no-acked-loss", 3)]
