"""A cluster compared with the model of its release: the end of a schedule, and the first step that differs."""

from pathlib import Path

import pytest

pytest.importorskip("confluent_kafka")

from epochfuzz.harness.cases.case import Case, load_case
from epochfuzz.harness.cluster.schedules.beside import beside, missing, protocol_of, settings_of
from epochfuzz.harness.cluster.schedules.events import EVENTS
from epochfuzz.harness.cluster.schedules.stage import TopicSettings
from epochfuzz.harness.documents.cluster_records import Ended, EventOutcome, ObservedState, PlayedEvent, Playing
from epochfuzz.model.kafka.vocabulary.events import VERBS

CORPUS = Path("corpus")


def case(name: str) -> Case:
    (path,) = CORPUS.rglob(f"{name}.yaml")
    return load_case(path)


def step(number: int, event: str, seen: ObservedState) -> PlayedEvent:
    return PlayedEvent(number=number, event=event, outcome=EventOutcome.DONE, what="", seconds=0.0, seen=seen)


def test_every_cluster_event_is_an_event_of_the_model() -> None:
    assert set(EVENTS) < set(VERBS)


def test_the_events_of_a_case_that_a_cluster_does_not_offer_are_listed() -> None:
    assert missing(case("m1-loss")) == []
    assert missing(case("kafka-3919-power-outage")) == ["flush", "power_loss"]
    assert missing(case("last-stable-offset")) == ["commit", "abort"]


def test_a_cluster_offers_at_least_40_cases_of_the_corpus() -> None:
    offered = [path for path in CORPUS.rglob("*.yaml") if not missing(load_case(path))]
    assert len(offered) >= 40


def test_a_partition_has_the_settings_of_the_case() -> None:
    assert settings_of(case("acks-1-loss").settings) == TopicSettings(replicas=2, acks="1")
    assert settings_of(case("unclean-election-on").settings).unclean_leader_election


@pytest.mark.parametrize(
    ("name", "ended", "permitted"),
    [
        ("m1-loss", Ended.KEPT, False),
        ("re-elected-leader", Ended.LOST, False),
        ("reverted-expansion", Ended.STUCK, False),
        ("acks-1-loss", Ended.LOST, True),
    ],
)
def test_the_model_predicts_the_end_of_a_case(name: str, ended: Ended, permitted: bool) -> None:
    protocol = protocol_of("4.3.1")
    assert protocol is not None
    found = beside(case(name).events, case(name).settings, protocol, Playing())
    assert (found.protocol, found.ended, found.permitted, found.differs, found.step) == (
        "kafka-4.3.1",
        ended,
        permitted,
        None,
        0,
    )


def test_the_comparison_describes_the_first_step_that_differs_from_the_model() -> None:
    protocol = protocol_of("4.3.1")
    assert protocol is not None
    same = ObservedState({"A": ("m0",), "B": ()}, "A", ("A", "B"))
    other = ObservedState({"A": ("m0",), "B": ()}, "A", ("A",))
    playing = Playing(steps=[step(1, "produce A", same), step(2, "fetch B", other)])
    found = beside(case("normal-replication").events, case("normal-replication").settings, protocol, playing)
    assert found.differs == "after 2 (fetch B) the ISR is A, in the model A B"
    assert found.step == 2


@pytest.mark.parametrize(
    ("name", "release", "ended", "step"),
    [
        ("re-elected-leader", "4.3.1", Ended.LOST, 14),
        ("reverted-expansion", "4.3.1", Ended.STUCK, 10),
        ("kafka-10706-truncation-without-end", "2.6.0", Ended.DIVERGED, 7),  # after all faults have stopped
    ],
)
def test_the_comparison_points_to_the_step_of_a_violation_that_the_model_also_shows(
    name: str, release: str, ended: Ended, step: int
) -> None:
    protocol = protocol_of(release)
    assert protocol is not None
    assert beside(case(name).events, case(name).settings, protocol, Playing(ended=ended)).step == step


@pytest.mark.parametrize(("ended", "last"), [(Ended.KEPT, 0), (Ended.LOST, 1), (Ended.NOT_REACHED, 1)])
def test_the_comparison_points_to_the_last_step_if_the_model_does_not_show_the_violation(
    ended: Ended, last: int
) -> None:
    protocol = protocol_of("4.3.1")
    assert protocol is not None
    same = ObservedState({"A": ("m0",), "B": ()}, "A", ("A", "B"))
    playing = Playing(ended=ended, steps=[step(1, "produce A", same)])
    events, settings = case("normal-replication").events, case("normal-replication").settings
    assert beside(events, settings, protocol, playing).step == last


def test_an_unknown_kafka_build_has_no_protocol() -> None:
    assert protocol_of("4.3.1-mine") is None
