"""An execution: a state, and the interpreted rules of one protocol that change the state event by event."""

from collections.abc import Iterable
from typing import Any

from epochfuzz.model.core import specializer
from epochfuzz.model.core.model import APPLIED, Protocol


class Execution:
    """A `state` and the rules of its protocol, with the `model` and the `settings` that they belong to."""

    __slots__ = ("_rules", "model", "settings", "state")

    def __init__(self, protocol: Protocol, settings: Any, events: Iterable[int] = ()) -> None:
        self.model = protocol.model
        self.settings = settings
        self.state: Any = self.model.initial(protocol, settings)
        self._rules = specializer.interpreted(protocol)
        for event in events:
            self._rules.step(self.state, event)

    def alphabet(self) -> bytes:
        """Return the events that can ever be enabled, in byte order."""
        return self.model.events.possible(self.state)

    def apply(self, event: int) -> bool:
        """Apply an event. Returns False, and changes at most the coverage goals, if the event is not enabled."""
        return self._rules.step(self.state, event) == APPLIED

    def attempt(self, event: int) -> int:
        """Apply an event and return APPLIED, or the reason why the event is not enabled.

        The model defines the numbers of the reasons. An event that is not enabled changes at most the coverage goals.
        """
        return self._rules.step(self.state, event)

    def broken(self) -> int:
        """Return the set of properties that are broken now. Properties that are checked at the end are left out."""
        return self._rules.broken_now(self.state)

    def healed(self) -> tuple[Any, int]:
        """Return the state after all faults have stopped, and the set of properties broken in it.

        The execution's own state stays as it is. The set holds only properties that are checked at the end.
        """
        p = self.state.copy()
        return p, self._rules.broken_at_end(p)

    def broken_at_end(self) -> int:
        """Return the set of properties that are broken if all faults stop now; the state stays as it is."""
        return self.healed()[1]

    def breaks(self, wanted: int) -> bool:
        """Return whether one of the `wanted` properties is broken.

        Properties that are checked at the end are checked as if all faults stopped now.
        """
        return bool(self.broken() & wanted) or (
            wanted & self.model.judgement.at_end != 0 and bool(self.broken_at_end() & wanted)
        )

    def copy(self) -> "Execution":
        """Return an independent execution in an equal state."""
        other = Execution.__new__(Execution)
        other.state, other.settings = self.state.copy(), self.settings
        other.model, other._rules = self.model, self._rules
        return other
