"""A process that the controller has not registered lacks nothing, as in the model."""

import pytest

from epochfuzz.harness.conform.oracle.seen import SeenPartition
from epochfuzz.harness.trace.replay import replay
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.contract.observation import observe
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_schedule
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

LOST = ["produce A", "fetch B", "receive B", "fetch B", "power_loss B", "restart B"]


@pytest.mark.parametrize(("protocol", "broken"), [("kafka-3.3", []), ("kafka-2.1.1", ["isr-complete"])])
def test_a_restarted_broker_without_its_log_is_judged_once_it_is_registered(protocol: str, broken: list[str]) -> None:
    settings = Configuration(power_loss=True)
    run = replay(parse_schedule(LOST), parse_protocol(protocol), settings)
    seen = SeenPartition(settings, run.protocol)
    for step in run.steps:
        seen.show(observe(step.state), step.event)
    assert properties.names(seen.broken()) == broken == list(run.first_broken)
