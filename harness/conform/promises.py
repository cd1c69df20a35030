"""Promises only: the properties of the model, judged on what a subject shows.

For implementations that rightly differ inside. Each property is judged where the fields that it speaks of are shown;
what is shown is all there is, so nothing is remembered but the promises made to clients.
"""

from epochfuzz.harness.conform.fault import Fault, Kind
from epochfuzz.harness.conform.judge import is_beyond_bounds, may_open_epoch
from epochfuzz.harness.conform.seen import SeenPartition
from epochfuzz.harness.conform.wire import Observation
from epochfuzz.model import breaches, properties
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.events import verb_of
from epochfuzz.model.protocols import Protocol


class Promises:
    """Remembers what clients read and which writes were answered, and holds every observation against it."""

    goes_on = True

    def __init__(self, protocol: Protocol, settings: Configuration) -> None:
        self._protocol = protocol
        self._seen = SeenPartition(settings, protocol)
        self._known = properties.set_of(properties.permitted(settings))  # broken already, or permitted to
        self._epoch = 0
        self._refused: set[int] = set()  # since an event was applied last

    def advance(self, event: int) -> bool:
        """Whether to send the event: not if it was refused, and nothing has happened since."""
        if event in self._refused:
            return False
        return not is_beyond_bounds(event, self._seen.state, self._epoch, self._protocol)

    def judge(self, event: int, applied: bool, observation: Observation) -> list[Fault]:
        """The properties that are newly broken, the most severe first."""
        if not applied:
            self._refused.add(event)
        else:
            self._refused.clear()
            self._seen.follow(verb_of(event))
            self._epoch += may_open_epoch(verb_of(event), self._protocol)
        self._seen.show(observation, event if applied else None)
        return self._faults(self._seen.broken())

    def not_converged(self, observation: Observation) -> list[Fault]:
        """convergence, judged when a subject has been healed."""
        self._seen.show(observation)
        if self._seen.has_converged():
            return []
        return [Fault(Kind.PROMISE, "convergence", "holds", next(breaches.differing(self._seen.state)))]

    def _faults(self, broken: int) -> list[Fault]:
        newly = broken & ~self._known
        self._known |= broken
        return [
            Fault(Kind.PROMISE, each.name, "holds", next(each.breaches(self._seen.state)))
            for each in properties.PROPERTIES
            if newly & each.bit
        ]
