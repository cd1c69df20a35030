"""Ahead: search exhaustively for the nearest violation after a position, in the background, for a limited time."""

import threading
import time
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from epochfuzz.harness.links.position import Position
from epochfuzz.harness.play.board import broken_by
from epochfuzz.harness.trace.causes import causes
from epochfuzz.model.kafka.contract import properties
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

MEMORY = 1 << 30  # bytes
BUDGETS = (10, 30, 120)  # seconds
ANY = "any property"


class CannotSearch(ValueError):
    """The search is impossible. The message says why."""


class _Cancelled(Exception):
    """The user has cancelled the search."""


@dataclass(kw_only=True)
class LookAhead:
    """A search from a position: the request, its progress and its result. `answer` is empty until the search ends.

    `found` has the events from the position to the violation, or is None.
    """

    position: Position
    protocol: Protocol
    property: str
    seconds: int
    answer: str = ""
    found: bytes | None = None
    _doing: str = "compiling the model, half a minute the first time"
    _cancelled: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        """Request the end of the search."""
        self._cancelled.set()

    def plain(self) -> dict[str, Any]:
        """Return the search as plain data. If the search found a schedule, the data contain a link to this schedule."""
        return {
            "doing": self._doing,
            "answer": self.answer,
            "events": None if self.found is None else schedule_texts(self.found),
            "address": None if self.found is None else self._address(self.found),
        }

    def _address(self, found: bytes) -> str:
        return f"?{self.position.going(*found).at(self.position.step).query()}"

    def run(self) -> None:
        """Run the search, and set `answer` in every case, even after an error."""
        from epochfuzz.harness.engine.keys.packing import DoesNotFit
        from epochfuzz.harness.engine.runtime.deadline import TimeUp

        try:
            self.answer = self._searched()
        except _Cancelled:
            self.answer = f"Cancelled. Until then: {self._doing}."
        except TimeUp:
            self.answer = (
                f"Not found in {self.seconds} seconds: {self._doing}. A longer budget may find a longer schedule."
            )
        except (DoesNotFit, MemoryError) as error:
            self.answer = f"The search had to end: {error}."
        except Exception as error:  # nothing else reports the exceptions of a thread
            self.answer = f"The search failed, which is a bug in epochfuzz: {type(error).__name__}: {error}"

    def _searched(self) -> str:
        from epochfuzz.harness.engine.explore.explore import SearchProgress, explore
        from epochfuzz.harness.engine.runtime.deadline import Deadline

        already = broken_by(self.position, self.protocol, self.position.settings)
        wanted = _wanted(self.property, self.protocol, self.position, already)
        here = self.position.here
        explore(self.protocol, self.position.settings, wanted, depth=1, memory=MEMORY, after=here)  # compiles the code
        started = time.monotonic()

        def report(progress: SearchProgress) -> None:
            elapsed = time.monotonic() - started
            self._doing = (
                f"no schedule of up to {_events(progress.depth)}, {progress.states:,} states seen in {elapsed:.1f} s"
            )
            if self._cancelled.is_set():
                raise _Cancelled

        watched = Deadline(self.seconds).watching(report)
        result = explore(self.protocol, self.position.settings, wanted, memory=MEMORY, report=watched, after=here)
        seen = f"{result.states:,} states seen in {time.monotonic() - started:.1f} s"
        if result.shortest is not None:
            self.found = result.shortest
            return f"{self._broken(result.shortest, already)} No schedule is shorter: {seen}."
        if result.complete:
            breaks = "breaks nothing more" if self.property == ANY else f"does not break {self.property}"
            held = f"From here on, {self.protocol.name} {breaks}"
            return f"{held} within the bounds of the configuration: every state was visited, {seen}."
        return f"Memory ended the search: no schedule of up to {_events(result.depth)}, {seen}."

    def _broken(self, found: bytes, already: dict[str, int]) -> str:
        there = broken_by(self.position.going(*found), self.protocol, self.position.settings)
        names = [name for name in properties.NAMES if name in there and name not in already]
        asked = names if self.property == ANY else [self.property]
        why = causes(self.position.going(*found).events, self.protocol, self.position.settings, asked[0])
        is_expected = self.protocol.is_named and why.reason is not None
        expected = f"{why.sentence}" if is_expected else f"No known flaw explains this. {why.sentence}"
        return f"After {_events(len(found))} more, {self.protocol.name} breaks {' and '.join(asked)}. {expected}"


class Searches:
    """The searches of a server. Only one search runs at a time, because a search may use up to MEMORY bytes."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._latest: tuple[int, LookAhead] | None = None
        self._lock = threading.Lock()

    def start(self, search: LookAhead) -> int:
        """Start a search and cancel the previous search. Returns the number of the new search.

        Raises CannotSearch if there is no property to look for.
        """
        already = broken_by(search.position, search.protocol, search.position.settings)
        _wanted(search.property, search.protocol, search.position, already)
        with self._lock:
            self.cancel()
            self._latest = (next(self._numbers), search)
            threading.Thread(target=search.run, daemon=True).start()
            return self._latest[0]

    def numbered(self, number: int) -> LookAhead | None:
        """Return the search with this number, or None if a later search has started."""
        return self._latest[1] if self._latest and self._latest[0] == number else None

    def cancel(self) -> None:
        """Cancel the running search."""
        if self._latest:
            self._latest[1].cancel()


def _wanted(name: str, protocol: Protocol, position: Position, already: dict[str, int]) -> int:
    """Return the set of properties to look for, as bits. `name` is a property, or ANY for all properties.

    `already` maps each property that is broken before the position to the step that broke the property. Raises
    CannotSearch if no property remains.
    """
    permitted = properties.permitted(position.settings)
    if name != ANY:
        wanted = properties.named(name).bit
        if name in already:
            raise CannotSearch(f"{protocol.name} breaks {name} already, by step {already[name]}: go back before that")
        if name in permitted:
            raise CannotSearch(f"{name} is not promised with acks={position.settings.acks}: ask for another property")
        return wanted
    remaining = [each for each in properties.NAMES if each not in already and each not in permitted]
    if not remaining:
        raise CannotSearch(f"{protocol.name} has nothing left to break: go back")
    return properties.set_of(remaining)


def _events(number: int) -> str:
    return "1 event" if number == 1 else f"{number} events"
