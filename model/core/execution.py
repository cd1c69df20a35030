"""An execution: a state that goes from event to event, interpreted, under the rules of its protocol."""

from collections.abc import Iterable
from typing import Any

from epochfuzz.model.core import program
from epochfuzz.model.core.model import APPLIED, Protocol


class Execution:
    """A `state`, and what can happen to it under its protocol, of the `model`, and `settings`."""

    __slots__ = ("_rules", "model", "settings", "state")

    def __init__(self, protocol: Protocol, settings: Any, events: Iterable[int] = ()) -> None:
        self.model = protocol.model
        self.settings = settings
        self.state: Any = self.model.initial(protocol, settings)
        self._rules = program.interpreted(protocol)
        for event in events:
            self._rules.step(self.state, event)

    def alphabet(self) -> bytes:
        """Return the events that can be enabled sooner or later, in byte order."""
        return self.model.events.possible(self.state)

    def apply(self, event: int) -> bool:
        """Apply an event. False: it is not enabled, and nothing changed."""
        return self._rules.step(self.state, event) == APPLIED

    def attempt(self, event: int) -> int:
        """Apply an event: APPLIED, or the number of why it is not enabled, and then nothing changed."""
        return self._rules.step(self.state, event)

    def broken(self) -> int:
        """Return the set of properties that are broken now, but for those that are judged at the end."""
        return self._rules.broken_now(self.state)

    def healed(self) -> tuple[Any, int]:
        """Return what the state would come to if all faults stopped now, and the set of properties broken then."""
        p = self.state.copy()
        return p, self._rules.broken_at_end(p)

    def broken_at_end(self) -> int:
        """Return the set of properties that are broken if all faults stop now; the state stays as it is."""
        return self.healed()[1]

    def breaks(self, wanted: int) -> bool:
        """Whether one of a set of properties is broken, those that are judged at the end as if this were it."""
        return bool(self.broken() & wanted) or (
            wanted & self.model.judgement.at_end != 0 and bool(self.broken_at_end() & wanted)
        )

    def copy(self) -> "Execution":
        """Return an independent execution that has come as far."""
        other = Execution.__new__(Execution)
        other.state, other.settings = self.state.copy(), self.settings
        other.model, other._rules = self.model, self._rules
        return other
