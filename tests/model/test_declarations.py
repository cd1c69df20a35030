"""The model checks every declared property, and random schedules deal every declared verb."""

from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest

from epochfuzz.harness.engine.walk import generate
from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import healing, properties
from epochfuzz.model.kafka.contract.properties import PROPERTIES, Property
from epochfuzz.model.kafka.kafka_model import KAFKA
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, verb_of
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, NAMED, parse_protocol
from epochfuzz.model.kafka.vocabulary.state import VARIABLES
from tests.model.states import may_differ, with_another_value

EVERY_FAULT = Configuration(
    replicas=3,
    power_loss=True,
    asynchronous_checkpoint=True,
    unclean_leader_election=True,
    retries=True,
    consumer=True,
    controllers=2,
    transactions=True,
    lag_time=True,
    delayed_fetch=True,
    consumer_group=True,
    lost_directory=True,
    producer_epochs=True,
    late_requests=True,
    retention=True,
    records_per_fetch=2,
)

_CLIENTS = ("retries", "consumer", "transactions")

PROTOCOLS = [*GENERATIONS.values(), parse_protocol("kip-320:stable_offset=high_watermark")]
WITHOUT_CONTROLLER_EPOCH = parse_protocol("kip-320:controller_writes=unconditional")


def some_settings(draw: Random) -> Configuration:
    # With every client setting on, records rarely make progress. So each state has only some of these settings.
    some: dict[str, Any] = {setting: draw.random() < 0.5 for setting in ("power_loss", "lost_directory", *_CLIENTS)}
    return replace(EVERY_FAULT, **some)


def some_execution(draw: Random, settings: Configuration) -> Execution:
    """Return a state that a random schedule reaches, with one field changed, so that any property may break."""
    protocol = draw.choice(PROTOCOLS)
    deck = generate.deck_for(KAFKA, settings, [protocol])
    events = generate.schedule(draw.randrange(1 << 32), 0, deck)[: draw.randrange(120)]
    execution = Execution(protocol, settings, events)
    field = draw.choice(list(filter(partial(may_differ, execution.state), VARIABLES)))
    execution.state = with_another_value(execution.state, field, draw)
    return execution


def reported(execution: Execution) -> list[str]:
    """Return the properties that the model reports as broken, if the schedule ends here."""
    return properties.names(execution.broken() | execution.broken_at_end())


# After all faults have stopped, every waiting fetch ends. So only wrong rules break this property, and no state.
NEVER_BROKEN = {"fetch-answered"}
SEEDS = {"no-reorder": 10, "consumer-no-skip": 8, "lso-advances": 12}
# With faults, a consumer rarely commits a position. So the property about committed positions has settings of its own.
SETTINGS = {"no-false-truncation": Configuration(records=2, epochs=2, consumer=True, consumer_group=True)}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "broken", [pytest.param(each, id=each.name) for each in PROPERTIES if each.name not in NEVER_BROKEN]
)
def test_the_model_reports_each_property_that_a_state_breaks(broken: Property) -> None:
    draw = Random(f"{broken.name}{SEEDS.get(broken.name, 2)}")  # any seed works; these break every property soon
    for _ in range(20_000):
        execution = some_execution(draw, SETTINGS.get(broken.name) or some_settings(draw))
        p = execution.state.copy()
        if broken.at_end:
            healing.heal(p)
        if broken.is_broken(p):
            assert broken.name in reported(execution), f"{broken.name} is declared, but not checked"
            return
    pytest.fail(f"no state was found that breaks {broken.name}")


def test_the_default_configuration_permits_no_property_to_break() -> None:
    assert properties.permitted(Configuration()) == set()


@pytest.mark.parametrize("verb", [pytest.param(verb, id=verb.text) for verb in Verb])
def test_random_schedules_deal_and_draw_every_verb(verb: Verb) -> None:
    # A transaction excludes `bump` and `trim`. Late requests and retention exclude retries.
    settings = replace(
        EVERY_FAULT,
        transactions=verb not in (Verb.BUMP, Verb.TRIM),
        retries=verb.setting not in ("late_requests", "retention"),
    )
    deck = generate.deck_for(KAFKA, settings, [*PROTOCOLS, *NAMED.values(), WITHOUT_CONTROLLER_EPOCH])
    assert any(deck.verbs >> verb & 1), f"{verb.text} is never dealt"
    drawn = (generate.schedule(1, number, deck) for number in range(100))
    assert any(verb_of(event) is verb for schedule in drawn for event in schedule), f"{verb.text} is never drawn"
