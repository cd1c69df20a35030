"""The oracle that checks guarantees only: it checks the model's properties on observations of the system under test.

This oracle is for implementations that differ from the model internally. It checks a property if the observation has
the fields that the property needs. From earlier observations, the oracle remembers the records that clients could read
or that were acknowledged.
"""

from epochfuzz.harness.conform.oracle.healing import Healed
from epochfuzz.harness.conform.oracle.seen import SeenPartition
from epochfuzz.harness.conform.protocol.discrepancy import Discrepancy, DiscrepancyKind
from epochfuzz.harness.conform.protocol.wire import Observation
from epochfuzz.model.kafka.contract import properties, violations
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.event_codes import replica_of
from epochfuzz.model.kafka.vocabulary.events import Verb, verb_of
from epochfuzz.model.kafka.vocabulary.in_force import has_transactions
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.state import initial, offsets


class Promises:
    """Checks the model's properties on each observation, for example that no acknowledged record is lost."""

    goes_on = True

    def __init__(self, protocol: Protocol, settings: Configuration) -> None:
        self._seen = SeenPartition(settings, protocol)
        self._constants = initial(protocol, settings)
        # The properties that are already broken, or that may break.
        self._known = properties.set_of(properties.permitted(settings))
        self._epoch = 0
        self._refused: set[int] = set()  # events rejected since the last applied event

    def begin(self, observation: Observation) -> list[Discrepancy]:
        """Return a discrepancy for each property that the state after the reset breaks."""
        if not observation:
            return []
        self._seen.show(observation)
        return self._faults(self._seen.broken())

    def advance(self, event: int) -> bool:
        """Return whether to send the event.

        False if the system under test has rejected this event since the last applied event, or if the event may exceed
        the bounds of the run.
        """
        if event in self._refused:
            return False
        return not self._may_be_beyond_bounds(event)

    def judge(self, event: int, applied: bool, observation: Observation) -> list[Discrepancy]:
        """Return a discrepancy for each newly broken property, the most severe first."""
        if not applied:
            self._refused.add(event)
        else:
            self._refused.clear()
            self._seen.follow(event)
            self._epoch += verb_of(event).opens_epoch(self._constants)
        self._seen.show(observation, event if applied else None)
        return self._faults(self._seen.broken())

    def not_converged(self, healed: Healed) -> list[Discrepancy]:
        """Return a violation of `convergence`, or an empty list if the replicas have converged."""
        self._seen.show(healed.observation)
        if self._seen.has_converged():
            return []
        differing = next(violations.differing(self._seen.state))
        steps = f"After all faults had stopped, it applied: {', '.join(healed.events) or 'nothing'}"
        return [Discrepancy(DiscrepancyKind.PROMISE, "convergence", "holds", differing, steps)]

    def _may_be_beyond_bounds(self, event: int) -> bool:
        """Return whether the event may exceed the bounds of the run.

        The system under test does not know these bounds.
        """
        p, verb = self._seen.state, verb_of(event)
        if verb in (Verb.PRODUCE, Verb.DELAY) and p.produced >= p.records:
            return True
        if verb.appends:
            room = offsets(p) - p.leo[replica_of(event)]
            needed = 2 if has_transactions(p) else 1  # a record and the marker of its transaction
            return bool(room < needed)
        return verb.opens_epoch(self._constants) and self._epoch >= p.epochs

    def _faults(self, broken: int) -> list[Discrepancy]:
        newly = broken & ~self._known
        self._known |= broken
        return [
            Discrepancy(DiscrepancyKind.PROMISE, each.name, "holds", next(each.violations(self._seen.state)))
            for each in properties.PROPERTIES
            if newly & each.bit
        ]
