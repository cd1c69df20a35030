"""An exception class for each property, for state machines that find a violation.

Hypothesis treats two failures as equal if the class and the line of the exception are equal. With a class for each
property, Hypothesis shrinks the violations of each property separately, and reports all of them.
"""

from collections.abc import Sequence
from functools import cache

from epochfuzz.model.core.execution import Execution
from epochfuzz.model.kafka.contract.properties import AT_END, PROPERTIES, names
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


class PropertyBroken(AssertionError):
    """A protocol broke a property. `events` are the enabled events up to the violation, such as "fetch B"."""

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
    """Return the name of the most severe broken property in the set `judged`, or None if all hold.

    The set has a bit for each property.
    """
    broken = execution.broken() & judged
    if not broken and judged & AT_END:
        broken = execution.broken_at_end() & judged
    return names(broken)[0] if broken else None


@cache
def failure_class(protocol: Protocol, name: str) -> type[PropertyBroken]:
    """Return the exception class for a property under this protocol.

    Each protocol has its own class, so Hypothesis also treats the violations of different protocols as different
    failures.
    """
    failure = FAILURES[name]
    return type(failure.__name__, (failure,), {"__module__": failure.__module__, "__doc__": failure.__doc__})
