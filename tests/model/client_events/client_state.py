"""The model after a schedule of client events, given as text."""

from typing import Any

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.step import step
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_event
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

A, B = range(2)


def after(protocol: str, schedule: str, **settings: Any) -> Execution:
    """Return the model after a schedule such as "produce A, fetch B". Every event must be enabled."""
    execution = Execution(parse_protocol(protocol), Configuration(**settings))
    for event in filter(None, schedule.split(", ")):
        assert execution.apply(parse_event(event)), event
    return execution


def refusal(event: str, execution: Execution) -> int:
    """Return why an event is not enabled, APPLIED if it is. The model stays as it is."""
    return step(execution.state.copy(), parse_event(event))
