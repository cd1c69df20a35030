"""The state machines find known bugs in the profile `ci`, with short reproducers."""

import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import run_state_machine_as_test

from epochfuzz.harness.engine.shrink.shrink import breaking_prefix
from epochfuzz.harness.trace.replay import replay
from epochfuzz.model.kafka.contract.properties import NAMES, named
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.strategies.failures import PropertyBroken
from epochfuzz.strategies.machine import ReplicationMachine, replication_machine
from epochfuzz.strategies.schedules import simplest_first

LOSS = [
    "produce A",
    "fetch B",
    "receive B",
    "fetch B",
    "crash B",
    "restart B",
    "notify B",
    "elect B",
    "notify B",
]
DIVERGENCE = [
    "produce A",
    "fetch B",
    "receive B",
    "elect B",
    "notify A",
    "elect A",
    "notify A",
    "produce A",
    "fetch B",
    "receive B",
]

# All properties except `no-acked-loss`, which breaks with `no-committed-loss`.
ALL = [name for name in NAMES if name != "no-acked-loss"]


def failures(machine: type[ReplicationMachine], examples: int = 100) -> list[PropertyBroken]:
    """Return the broken properties that a machine reports in the profile `ci`."""
    ci = hypothesis_settings(
        hypothesis_settings.get_profile("ci"), max_examples=examples, suppress_health_check=list(HealthCheck)
    )
    try:
        run_state_machine_as_test(machine, settings=ci)
    except PropertyBroken as broken:
        return [broken]
    except BaseExceptionGroup as several:
        return [broken for broken in several.exceptions if isinstance(broken, PropertyBroken)]
    return []


def tidied(broken: PropertyBroken) -> list[str]:
    """Return the reproducer with its events in the simplest order that breaks the property.

    Hypothesis reliably finds a shortest reproducer, but the order of its independent events is accidental.
    """
    settings = Configuration()
    order = simplest_first(settings).index

    def breaks(schedule: bytes) -> bool:
        wanted = named(broken.property).bit
        return breaking_prefix(schedule, broken.protocol, settings, wanted) == schedule

    known = {parse_schedule(broken.events)}
    waiting = set(known)
    while waiting:
        one = waiting.pop()
        swapped = {one[:i] + bytes([one[i + 1], one[i]]) + one[i + 2 :] for i in range(len(one) - 1)}
        new = set(filter(breaks, swapped - known))
        known |= new
        waiting |= new
    return schedule_texts(min(known, key=lambda schedule: [order(event) for event in schedule]))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("wanted", "shortest"),
    [
        pytest.param("no-committed-loss", LOSS, id="loss"),
        pytest.param("no-divergence", DIVERGENCE, id="divergence", marks=pytest.mark.slow),
    ],
)
def test_a_machine_of_hw_and_kip_101_fails_in_the_fewest_events(wanted: str, shortest: list[str]) -> None:
    found = failures(replication_machine("hw", "kip-101", wanted=wanted))
    (broken,) = (broken for broken in found if broken.property == wanted and broken.protocol.name == "hw")
    assert tidied(broken) == shortest


@pytest.mark.parametrize("events", [LOSS, DIVERGENCE], ids=["loss", "divergence"])
def test_the_shortest_failures_of_hw_break_nothing_under_kip_101(events: list[str]) -> None:
    assert replay(parse_schedule(events), parse_protocol("kip-101"), Configuration()).broken == []


@pytest.mark.thorough
def test_kip_101_holds_with_a_single_election_and_hw_does_not() -> None:
    once = Configuration(epochs=1)
    assert failures(replication_machine("hw", settings=once, wanted="no-committed-loss"), examples=10) != []
    assert failures(replication_machine("kip-101", settings=once, judged=ALL), examples=3) == []


@pytest.mark.slow
def test_a_divergence_under_kip_101_breaks_nothing_under_kip_320() -> None:
    (broken,) = failures(replication_machine("kip-101", judged=["no-divergence"]))
    assert len(broken.events) >= 12  # exhaustive search has found no shorter schedule
    assert replay(parse_schedule(broken.events), parse_protocol("kip-320"), Configuration()).broken == []


@pytest.mark.thorough
@pytest.mark.parametrize("replicas", [2, 3])
def test_kip_320_holds_every_property(replicas: int) -> None:
    machine = replication_machine("kip-320", settings=Configuration(replicas=replicas), judged=ALL, scouted=1_000)
    assert failures(machine, examples=5) == []


def test_the_test_case_of_a_machine_runs_the_machine() -> None:
    test = replication_machine("hw", judged=["isr-complete"], scouted=2_000).TestCase
    with pytest.raises(PropertyBroken, match="hw broke isr-complete after 7 events"):
        test().runTest()


def test_a_machine_keeps_the_settings_of_the_suite_except_the_explain_phase() -> None:
    theirs = hypothesis_settings()
    ours = replication_machine("kip-320").TestCase.settings
    assert Phase.explain not in ours.phases
    assert {Phase.generate, Phase.shrink} <= set(ours.phases)
    assert ours.max_examples == theirs.max_examples
