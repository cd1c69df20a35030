"""The failures of a state machine: one exception class for each property.

Hypothesis treats two failures as equal if class and line of the exception are equal. Hypothesis shrinks other failures
separately and reports them together.
"""

from collections.abc import Sequence
from functools import cache

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract.properties import AT_END, PROPERTIES, names
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


class PropertyBroken(AssertionError):
    """A protocol broke a property. `events` are the texts of the enabled events up to the violation."""

    def __init__(self, protocol: Protocol, name: str, events: Sequence[str]) -> None:
        super().__init__(f"{protocol.name} broke {name} after {len(events)} events: {', '.join(events)}")
        self.protocol = protocol
        self.property = name
        self.events = list(events)


# The class of each property, by the property's name. Each class is an attribute of this module too, by its own name.
FAILURES: dict[str, type[PropertyBroken]] = {
    each.name: type(
        each.failure, (PropertyBroken,), {"__doc__": f"{each.name}: {each.meaning}", "__module__": __name__}
    )
    for each in PROPERTIES
}


def __getattr__(name: str) -> type[PropertyBroken]:
    for failure in FAILURES.values():
        if failure.__name__ == name:
            return failure
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def first_broken(execution: Execution, judged: int) -> str | None:
    """Return the most severe property of the set `judged` that is broken, or None if all hold."""
    broken = execution.broken() & judged
    if not broken and judged & AT_END:
        broken = execution.broken_at_end() & judged
    return names(broken)[0] if broken else None


@cache
def failure_class(protocol: Protocol, name: str) -> type[PropertyBroken]:
    """Return the property's exception class for this protocol, so that Hypothesis separates protocols too."""
    failure = FAILURES[name]
    return type(failure.__name__, (failure,), {"__module__": failure.__module__, "__doc__": failure.__doc__})
