"""Lockstep compares an adapter with the model, field by field."""

from collections.abc import Callable
from typing import Any

import pytest

from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.oracle.lockstep import is_from_reset
from epochfuzz.harness.conform.protocol.discrepancy import DiscrepancyKind
from epochfuzz.harness.conform.protocol.subject import CheckedSubject
from epochfuzz.harness.conform.run.drive import Driven, Setting, drive
from epochfuzz.harness.engine.walk import generate
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import NAMED, parse_protocol
from tests.conform.reference import Reference

REPLICATED = ["produce A", "fetch B", "receive B", "fetch B", "receive B"]

Change = Callable[[dict[str, Any]], Any]


class Changed(Reference):
    """The model with changed observations: `change` changes them."""

    def __init__(self, change: Change, verbs: list[str] | None = None) -> None:
        self.change = change
        self.verbs = verbs
        self.received: list[str] = []

    def reset(self, config: dict[str, Any], protocol: str) -> list[str] | None:
        super().reset(config, protocol)
        return self.verbs

    def apply(self, event: str) -> bool:
        self.received.append(event)
        return super().apply(event)

    def observe(self) -> dict[str, Any]:
        observation = super().observe()
        self.change(observation)
        return observation


def unchanged(observation: dict[str, Any]) -> None:
    pass


def run(subject: Reference, events: list[str], protocol: str = "kip-320", **settings: Any) -> Driven:
    setting = Setting(parse_protocol(protocol), Configuration(**settings), JudgedBy.LOCKSTEP)
    return drive(CheckedSubject(subject), parse_schedule(events), setting)


def set_field(*path: str, value: Any) -> Change:
    def change(observation: dict[str, Any]) -> None:
        *parents, field = path
        for parent in parents:
            observation = observation[parent]
        observation[field] = value

    return change


@pytest.mark.thorough
@pytest.mark.parametrize("protocol", NAMED)
def test_the_model_conforms_to_itself_with_every_fault_enabled(protocol: str) -> None:
    settings = Configuration(replicas=3, power_loss=True, asynchronous_checkpoint=True, unclean_leader_election=True)
    deck = generate.deck_for(KAFKA, settings, [parse_protocol(protocol)])
    for number in range(20):
        setting = Setting(parse_protocol(protocol), settings, JudgedBy.LOCKSTEP)
        assert drive(CheckedSubject(Reference()), generate.schedule(3, number, deck), setting).sightings == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("replicas", "B", "up"), False),
        (("replicas", "B", "leo"), 2),
        (("replicas", "B", "hw"), 0),
        (("replicas", "B", "log"), [["m1", 0]]),
        (("replicas", "B", "epochs"), []),
        (("replicas", "B", "leader"), "B"),
        (("replicas", "B", "leader_epoch"), 1),
        (("controller", "leader"), None),
        (("controller", "epoch"), 1),
        (("controller", "isr"), ["A"]),
    ],
)
def test_a_difference_names_the_field_and_the_expected_value(path: tuple[str, ...], value: Any) -> None:
    expected = run(Changed(unchanged), REPLICATED).answers[-1][1]
    (sighting,) = run(Changed(set_field(*path, value=value)), REPLICATED).sightings
    assert sighting.fault.kind is DiscrepancyKind.DIFFERENCE
    assert sighting.fault.field == ".".join(path)
    assert sighting.fault.observed != sighting.fault.expected
    assert expected["replicas"]["B"]["hw"] == 1  # otherwise the schedule could not show a wrong HW


def without_epochs(observation: dict[str, Any]) -> None:
    observation["replicas"]["A"]["epochs"] = []


def test_a_difference_of_the_state_after_the_reset_is_found_before_any_event() -> None:
    driven = run(Changed(without_epochs), REPLICATED)
    (sighting,) = driven.sightings
    assert (sighting.sent, driven.sent) == (b"", b"")
    assert sighting.fault.sentence == "replicas.A.epochs is [], and [[0, 0]] in the model"


class Silent(CheckedSubject):
    """Show nothing before the first event, like a command whose reply to a reset has no observation."""

    def reset(self, config: dict[str, Any], protocol: str) -> list[str]:
        self.is_reset = True
        return super().reset(config, protocol)

    def apply(self, event: str) -> bool:
        self.is_reset = False
        return super().apply(event)

    def observe(self) -> Any:
        return {} if self.is_reset else super().observe()


@pytest.mark.parametrize(("field", "is_old"), [("epochs", True), ("leo", False)])
def test_is_from_reset_recognizes_a_difference_that_exists_since_the_reset(field: str, is_old: bool) -> None:
    def change(observation: dict[str, Any]) -> None:
        observation["replicas"]["A"][field] = [] if field == "epochs" else 7

    setting = Setting(parse_protocol("kip-320"), Configuration(), JudgedBy.LOCKSTEP)
    (sighting,) = drive(Silent(Changed(change)), parse_schedule(REPLICATED), setting).sightings
    assert len(sighting.sent) == 1
    assert is_from_reset(sighting.fault, sighting.sent, setting.protocol, setting.settings) is is_old


def test_a_difference_ends_the_schedule() -> None:
    def change(observation: dict[str, Any]) -> None:
        observation["replicas"]["A"]["leo"] *= 9

    driven = run(Changed(change), REPLICATED)
    assert schedule_texts(driven.sightings[0].sent) == ["produce A"]
    assert driven.shown.steps == 1


def test_an_event_that_only_the_adapter_applies_is_a_difference() -> None:
    class Eager(Reference):
        def apply(self, event: str) -> bool:
            return super().apply(event) or event == "receive B"

    (sighting,) = run(Eager(), ["receive B"]).sightings
    assert (sighting.fault.field, sighting.fault.expected, sighting.fault.observed) == ("applied", False, True)


def test_an_unexpected_replica_is_a_difference() -> None:
    (sighting,) = run(Changed(set_field("replicas", "C", value={"leo": 0})), ["produce A"]).sightings
    assert sighting.fault.field == "replicas.C"


def test_a_missing_field_is_neither_compared_nor_counted_as_shown() -> None:
    def hide(observation: dict[str, Any]) -> None:
        del observation["replicas"]["B"]
        del observation["replicas"]["A"]["epochs"]
        del observation["controller"]

    driven = run(Changed(hide), REPLICATED)
    assert driven.sightings == []
    assert set(driven.shown.fields) == {
        f"replicas.{name}" for name in ("up", "leo", "hw", "log", "leader", "leader_epoch")
    }


def test_an_unknown_field_is_counted_and_not_compared() -> None:
    driven = run(Changed(set_field("replicas", "A", "high_watermark", value=7)), REPLICATED)
    assert driven.sightings == []
    assert driven.shown.fields["replicas.high_watermark"] == len(REPLICATED)


def test_the_order_of_the_isr_does_not_matter() -> None:
    assert run(Changed(lambda seen: seen["controller"]["isr"].reverse()), REPLICATED).sightings == []


def test_the_epoch_of_a_restarted_replica_is_compared_only_after_a_metadata_update() -> None:
    def forget(observation: dict[str, Any]) -> None:
        if observation["replicas"]["B"]["leader"] is None:
            observation["replicas"]["B"]["leader_epoch"] = None

    restarted = ["expire B", "crash B", "restart B"]
    assert run(Changed(forget), [*restarted, "notify B"]).sightings == []
    wrong = run(Changed(set_field("replicas", "B", "leader_epoch", value=None)), restarted[:1]).sightings
    assert [sighting.fault.field for sighting in wrong] == ["replicas.B.leader_epoch"]


def test_lockstep_sends_no_event_that_the_adapter_does_not_list() -> None:
    subject = Changed(unchanged, verbs=["produce", "fetch"])
    run(subject, REPLICATED)
    assert subject.received == ["produce A", "fetch B", "fetch B"]


def test_lockstep_sends_no_event_that_only_the_bounds_forbid() -> None:
    subject = Changed(unchanged)
    run(subject, ["produce A", "produce A", "expire B", "expire A", "elect A"], records=1, epochs=1)
    assert subject.received == ["produce A", "expire B"]


@pytest.mark.parametrize(
    ("protocol", "sent"),
    [("kafka-2.1.1", ["expire B", "crash A", "restart A"]), ("kafka-2.3", ["expire B", "crash A"])],
)
def test_a_restart_that_opens_an_epoch_counts_towards_the_bound(protocol: str, sent: list[str]) -> None:
    subject = Changed(unchanged)
    run(subject, ["expire B", "crash A", "restart A"], protocol, epochs=1)
    assert subject.received == sent


def test_lockstep_sends_only_the_first_event_per_state_that_is_not_enabled() -> None:
    subject = Changed(unchanged)
    run(subject, ["receive B", "receive B", "restart A", "produce A", "restart A"])
    assert subject.received == ["receive B", "produce A", "restart A"]


def acknowledged(*records: str) -> Change:
    return lambda observation: observation.update(producers={"acked": list(records)})


def test_acknowledgements_are_compared_if_the_adapter_shows_them() -> None:
    replicated = [*REPLICATED[:4]]
    assert [each.fault.field for each in run(Changed(acknowledged()), replicated).sightings] == ["producers.acked"]
    assert [each.fault.field for each in run(Changed(acknowledged("m0")), replicated[:1]).sightings] == [
        "producers.acked"
    ]
    assert run(Changed(acknowledged()), replicated[:3]).sightings == []
