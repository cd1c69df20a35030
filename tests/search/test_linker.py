"""Linked rules give the results, states and broken properties of the written rules, under any protocol."""

from dataclasses import replace
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epochfuzz.harness.engine.walk import generate
from epochfuzz.model.core import specializer
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import NAMED, Protocol
from epochfuzz.model.kafka.vocabulary.state import VARIABLES, Partition, initial
from epochfuzz.strategies.configurations import configurations, protocols
from epochfuzz.strategies.schedules import lively_schedules

VALUES = attrgetter(*(field.name for field in VARIABLES))
AS_WRITTEN = specializer.Rules(step, properties.broken_now, properties.broken_at_end)


def course(rules: specializer.Rules, start: Partition, schedule: bytes) -> list[object]:
    """Return the result, state and broken properties of each event, and those after all faults have stopped."""
    p = start.copy()
    seen: list[object] = [(rules.step(p, event), VALUES(p.copy()), rules.broken_now(p)) for event in schedule]
    return [*seen, rules.broken_at_end(p), VALUES(p)]


def check(protocol: Protocol, configuration: Configuration, schedule: bytes) -> None:
    start = initial(protocol, configuration)
    assert course(specializer.interpreted(protocol), start, schedule) == course(AS_WRITTEN, start, schedule)


FAULTS: dict[str, Any] = {
    "power_loss": True,
    "asynchronous_checkpoint": True,
    "unclean_leader_election": True,
    "follower_reads": True,
    "retries": True,
    "consumer": True,
    "controllers": 2,
    "transactions": True,
    "lag_time": True,
    "delayed_fetch": True,
    "records_per_fetch": 2,
}


@st.composite
def any_schedule(draw: st.DrawFn) -> tuple[Protocol, Configuration, bytes]:
    """Draw a protocol, a configuration and a schedule."""
    configuration = draw(configurations())
    protocol = draw(protocols())
    return protocol, configuration, draw(lively_schedules(protocol, configuration))


def test_linked_rules_give_the_results_of_the_written_rules_under_every_named_protocol() -> None:
    plain = Configuration(epochs=3)
    for each in (plain, *(replace(plain, **{fault: value}) for fault, value in FAULTS.items())):
        for protocol in NAMED.values():
            deck = generate.deck_for(KAFKA, each, [protocol])
            check(protocol, each, generate.schedule(3, 0, deck)[:80])


@pytest.mark.thorough
@given(any_schedule())
@settings(max_examples=100)
def test_linked_rules_give_the_results_of_the_written_rules_under_any_configuration(
    drawn: tuple[Protocol, Configuration, bytes],
) -> None:
    check(*drawn)
