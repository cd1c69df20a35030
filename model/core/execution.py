"""Run schedules in plain Python. An Execution holds a state, and applies the rules of one protocol to the state."""

from collections.abc import Iterable
from typing import Any

from epochfuzz.model.core import specializer
from epochfuzz.model.core.model import APPLIED, Protocol


class Execution:
    """A run of one protocol in plain Python. Its methods apply events to `state` one by one.

    The constructor applies `events` to the model's initial state. Events that are not enabled have no effect.
    """

    __slots__ = ("_rules", "model", "settings", "state")

    def __init__(self, protocol: Protocol, settings: Any, events: Iterable[int] = ()) -> None:
        self.model = protocol.model
        self.settings = settings
        self.state: Any = self.model.initial(protocol, settings)
        self._rules = specializer.interpreted(protocol)
        for event in events:
            self._rules.step(self.state, event)

    def alphabet(self) -> bytes:
        """Return all events that can be enabled under the protocol and the settings, as bytes in ascending order."""
        return self.model.events.possible(self.state)

    def apply(self, event: int) -> bool:
        """Apply an event if it is enabled. Returns whether the event was enabled.

        An event that is not enabled changes at most the state's `goals`, the coverage goals reached so far.
        """
        return self._rules.step(self.state, event) == APPLIED

    def attempt(self, event: int) -> int:
        """Apply an event if it is enabled. Returns APPLIED, or the number of the reason why it is not enabled.

        The model defines these numbers. An event that is not enabled changes at most the state's `goals`.
        """
        return self._rules.step(self.state, event)

    def broken(self) -> int:
        """Return the properties that the state breaks, one bit each, without the properties of `broken_at_end`."""
        return self._rules.broken_now(self.state)

    def healed(self) -> tuple[Any, int]:
        """Stop all faults in a copy of the state. Returns this copy and its broken properties, one bit each.

        The bits cover only the properties that the model checks at the end of a schedule (`Judgement.at_end`).
        """
        p = self.state.copy()
        return p, self._rules.broken_at_end(p)

    def broken_at_end(self) -> int:
        """Return the properties that would be broken if all faults stopped now, one bit each.

        The bits cover only the properties that the model checks at the end of a schedule. The state does not change.
        """
        return self.healed()[1]

    def breaks(self, wanted: int) -> bool:
        """Return whether at least one of the `wanted` properties, one bit each, is broken.

        Properties that the model checks at the end are checked as if all faults stopped now.
        """
        return bool(self.broken() & wanted) or (
            wanted & self.model.judgement.at_end != 0 and bool(self.broken_at_end() & wanted)
        )

    def copy(self) -> "Execution":
        """Return a copy of the run, with a copy of its state."""
        other = Execution.__new__(Execution)
        other.state, other.settings = self.state.copy(), self.settings
        other.model, other._rules = self.model, self._rules
        return other
