"""An execution: a partition that goes from event to event, interpreted, under the rules of its protocol."""

from collections.abc import Iterable

from epochfuzz.model.core import program
from epochfuzz.model.kafka.contract.properties import AT_END
from epochfuzz.model.kafka.step import possible_events
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import Partition, initial

_BY_NUMBER = {refusal.value: refusal for refusal in Refusal}


class Execution:
    """A partition, `state`, and what can happen to it under its protocol and `settings`."""

    __slots__ = ("_rules", "settings", "state")

    def __init__(self, protocol: Protocol, settings: Configuration, events: Iterable[int] = ()) -> None:
        self.settings = settings
        self.state: Partition = initial(protocol, settings)
        self._rules = program.interpreted(protocol)
        for event in events:
            self._rules.step(self.state, event)

    def alphabet(self) -> bytes:
        """The events that can be enabled sooner or later, in byte order."""
        return possible_events(self.state)

    def apply(self, event: int) -> bool:
        """Apply an event. False: it is not enabled, and nothing changed."""
        return self._rules.step(self.state, event) == APPLIED

    def attempt(self, event: int) -> Refusal:
        """Apply an event: APPLIED, or why it is not enabled, and then nothing changed."""
        return _BY_NUMBER[self._rules.step(self.state, event)]

    def broken(self) -> int:
        """The set of properties that are broken now, but for those that are judged at the end."""
        return self._rules.broken_now(self.state)

    def healed(self) -> tuple[Partition, int]:
        """What the partition would come to if all faults stopped now, and the set of properties broken then."""
        p = self.state.copy()
        return p, self._rules.broken_at_end(p)

    def broken_at_end(self) -> int:
        """The set of properties that are broken if all faults stop now; the partition stays as it is."""
        return self.healed()[1]

    def breaks(self, wanted: int) -> bool:
        """Whether one of a set of properties is broken, those that are judged at the end as if this were it."""
        return bool(self.broken() & wanted) or (wanted & AT_END != 0 and bool(self.broken_at_end() & wanted))

    def copy(self) -> "Execution":
        """An independent execution that has come as far."""
        other = Execution.__new__(Execution)
        other.state, other.settings, other._rules = self.state.copy(), self.settings, self._rules
        return other
