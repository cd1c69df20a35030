"""Promises only: the properties of the model, judged on what a subject shows.

For implementations that rightly differ inside. Each property is judged where the fields that it speaks of are shown;
what is shown is all there is, so nothing is remembered but the promises made to clients.
"""

from epochfuzz.harness.conform.oracle.fault import Fault, Kind
from epochfuzz.harness.conform.oracle.seen import SeenPartition
from epochfuzz.harness.conform.protocol.wire import Observation
from epochfuzz.model.kafka.contract import breaches, properties
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import Verb, replica_of, verb_of
from epochfuzz.model.kafka.vocabulary.in_force import has_transactions
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.state import initial, offsets


class Promises:
    """Remembers what clients read and which writes were answered, and holds every observation against it."""

    goes_on = True

    def __init__(self, protocol: Protocol, settings: Configuration) -> None:
        self._seen = SeenPartition(settings, protocol)
        self._constants = initial(protocol, settings)
        self._known = properties.set_of(properties.permitted(settings))  # broken already, or permitted to
        self._epoch = 0
        self._refused: set[int] = set()  # since an event was applied last

    def advance(self, event: int) -> bool:
        """Whether to send the event: not if it was refused, and nothing has happened since."""
        if event in self._refused:
            return False
        return not self._may_be_beyond_bounds(event)

    def judge(self, event: int, applied: bool, observation: Observation) -> list[Fault]:
        """Return the properties that are newly broken, the most severe first."""
        if not applied:
            self._refused.add(event)
        else:
            self._refused.clear()
            self._seen.follow(verb_of(event))
            self._epoch += verb_of(event).opens_epoch(self._constants)
        self._seen.show(observation, event if applied else None)
        return self._faults(self._seen.broken())

    def not_converged(self, observation: Observation) -> list[Fault]:
        """convergence, judged when a subject has been healed."""
        self._seen.show(observation)
        if self._seen.has_converged():
            return []
        return [Fault(Kind.PROMISE, "convergence", "holds", next(breaches.differing(self._seen.state)))]

    def _may_be_beyond_bounds(self, event: int) -> bool:
        """Whether maybe only the bounds of a run forbid the event: those are the harness's business."""
        p, verb = self._seen.state, verb_of(event)
        if verb.appends:
            room = offsets(p) - p.leo[replica_of(event)]
            needed = 2 if has_transactions(p) else 1  # a record, and the marker of its transaction
            return room < needed or (verb is Verb.PRODUCE and p.produced >= p.records)
        return verb.opens_epoch(self._constants) and self._epoch >= p.epochs

    def _faults(self, broken: int) -> list[Fault]:
        newly = broken & ~self._known
        self._known |= broken
        return [
            Fault(Kind.PROMISE, each.name, "holds", next(each.breaches(self._seen.state)))
            for each in properties.PROPERTIES
            if newly & each.bit
        ]
