"""Flaws of returning brokers in KRaft, where the new process is registered fenced and after the former session."""

import pytest

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_event
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

RETURNS = "restart B, expire B, register B, notify B, unfence B"
READ_LATE = (
    "produce A, fetch B, receive B, fetch B, expire B, unfence B, power_loss B, notify A,"
    f" {RETURNS}, expand B, fetch B, alter A"
)
FORMER_INCARNATION = (
    "produce A, fetch B, receive B, fetch B, expire B, unfence B, notify A, power_loss B, restart B, expand B,"
    " expire B, register B, notify B, unfence B, alter A"
)
GATE_MISSING = (
    "produce A, expire B, notify A, power_loss A,"
    " restart A, expire A, register A, notify A, unfence A, elect A, notify A"
)
LAST_MEMBER = (
    "produce A, fetch B, receive B, fetch B, power_loss A, expire B, restart A, expire A, register A, notify A,"
    " unfence A, elect A, notify A"
)
UNCLEAN_MEMBER = (
    "produce A, fetch B, receive B, fetch B, power_loss A, restart A, expire A, register A, notify A, unfence A,"
    " expire B, elect A, notify A"
)


def broken_after(protocol: str, schedule: str, min_insync_replicas: int) -> list[str]:
    settings = Configuration(power_loss=True, min_insync_replicas=min_insync_replicas)
    execution = Execution(parse_protocol(protocol), settings)
    for event in schedule.split(", "):
        execution.apply(parse_event(event))
    return properties.names(execution.broken())


@pytest.mark.parametrize(
    ("protocol", "fixed", "schedule", "minimum", "property_"),
    [
        ("kafka-3.6", "kafka-3.7", READ_LATE, 1, "join-complete"),
        ("kip-903:isr_eligibility=alive", "kip-903", FORMER_INCARNATION, 1, "join-complete"),
        ("kafka-3.6", "kip-966", GATE_MISSING, 2, "no-committed-loss"),
        ("kafka-3.7", "kafka-4.1", LAST_MEMBER, 2, "no-acked-loss"),
        ("kip-966:eligible_leaders=kept_unclean", "kip-966", UNCLEAN_MEMBER, 2, "no-acked-loss"),
    ],
)
def test_a_flaw_of_a_returning_broker_shows_after_its_registration(
    protocol: str, fixed: str, schedule: str, minimum: int, property_: str
) -> None:
    assert property_ in broken_after(protocol, schedule, minimum)
    assert property_ not in broken_after(fixed, schedule, minimum)
