"""States after a schedule, and access to the elements of a state by its declared fields."""

from random import Random
from typing import Any

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.core.fields import Field
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import parse_event
from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol
from epochfuzz.model.kafka.vocabulary.state import Partition


def after(protocol: str, schedule: str, **settings: object) -> Execution:
    """Return the model after a schedule of which every event is enabled."""
    execution = Execution(parse_protocol(protocol), Configuration(**settings))  # type: ignore[arg-type]
    for event in schedule.split(", "):
        assert execution.apply(parse_event(event)), event
    return execution


def state(protocol: str, schedule: str, **settings: object) -> Partition:
    return after(protocol, schedule, **settings).state


def is_enabled(event: str, protocol: str, schedule: str, **settings: object) -> bool:
    return after(protocol, schedule, **settings).apply(parse_event(event))


def element(p: Partition, field: Field, index: tuple[int, ...]) -> int:
    value: Any = getattr(p, field.name)
    return int(value if not index else value[index] if len(index) == 2 else value[index[0]])


def may_differ(p: Partition, field: Field) -> bool:
    """Return whether a field can have more than one value."""
    least, greatest = field.bounds(p)
    return least < greatest and any(True for _ in field.indices(p))


def has_changed(p: Partition, field: Field) -> bool:
    """Return whether an element of a field differs from its initial value."""
    return any(element(p, field, index) != field.start for index in field.indices(p))


def with_another_value(p: Partition, field: Field, draw: Random) -> Partition:
    """Return a copy of the state in which one element of the field has another allowed value."""
    index = draw.choice(list(field.indices(p)))
    least, greatest = field.bounds(p)
    value = draw.randint(least, greatest - 1)
    value += value >= element(p, field, index)
    other = p.copy()
    if not index:
        setattr(other, field.name, value)
    else:
        getattr(other, field.name)[index if len(index) == 2 else index[0]] = value
    return other
