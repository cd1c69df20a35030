"""What breaks in a state machine: one exception class for each property.

Hypothesis takes two failures for one where class and line of the exception are the same; it shrinks each of the others
on its own and reports them together.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from epochfuzz.model import properties
from epochfuzz.model.protocols import Protocol
from epochfuzz.model.state import Partition


class PropertyBroken(AssertionError):
    """A protocol broke a property. `events` are the texts of the events up to there that were enabled under it."""

    def __init__(self, protocol: Protocol, name: str, events: Sequence[str]) -> None:
        super().__init__(f"{protocol.name} broke {name} after {len(events)} events: {', '.join(events)}")
        self.protocol = protocol
        self.property = name
        self.events = list(events)


class CommittedRecordLost(PropertyBroken):
    """no-committed-loss: a record that consumers could read is not on the true leader."""


class AckedRecordLost(PropertyBroken):
    """no-acked-loss: a record whose producer got its answer is not on the true leader."""


class LogsDiverged(PropertyBroken):
    """no-divergence: two replicas disagree on a record below both their high watermarks."""


class LogMatchingBroken(PropertyBroken):
    """log-matching: two replicas have different records at the same offset and epoch."""


class HighWatermarkBeyondLog(PropertyBroken):
    """hw-within-log: a high watermark is beyond the log end offset."""


class IsrIncomplete(PropertyBroken):
    """isr-complete: a member of the ISR lacks what a presumed leader has below its high watermark."""


class NotConverged(PropertyBroken):
    """convergence: with all faults stopped, logs or high watermarks still differ."""


@dataclass(frozen=True)
class Check:
    """How a property is judged, and what is raised where it is broken. A slow check heals a copy of the partition."""

    is_broken: Callable[[Partition], bool]
    failure: type[PropertyBroken]
    slow: bool = False


def _would_not_converge(p: Partition) -> bool:
    return properties.non_convergence(p.copy())


# In the order of model.properties.PROPERTIES, the most severe first.
CHECKS: dict[str, Check] = {
    "no-committed-loss": Check(properties.committed_loss, CommittedRecordLost),
    "no-acked-loss": Check(properties.acked_loss, AckedRecordLost),
    "no-divergence": Check(properties.divergence, LogsDiverged),
    "log-matching": Check(properties.mismatch, LogMatchingBroken),
    "hw-within-log": Check(properties.high_watermark_beyond_log, HighWatermarkBeyondLog),
    "isr-complete": Check(properties.isr_incomplete, IsrIncomplete),
    "convergence": Check(_would_not_converge, NotConverged, slow=True),
}


def first_broken(p: Partition, names: Iterable[str]) -> str | None:
    """The first of the named properties that is broken, None where all hold."""
    return next((name for name in names if CHECKS[name].is_broken(p)), None)


@cache
def failure_class(protocol: Protocol, name: str) -> type[PropertyBroken]:
    """The property's class, as a subclass for this protocol, so that Hypothesis keeps protocols apart too."""
    failure = CHECKS[name].failure
    return type(failure.__name__, (failure,), {"__module__": failure.__module__, "__doc__": failure.__doc__})
