"""The position of a user of `play`, as the query of a URL: the schedule, the step, the protocols and the settings.

The query also contains the branches, which are schedules that the user has abandoned for another schedule.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs, urlencode

from epochfuzz.harness.text.slug import SLUG
from epochfuzz.model.kafka.vocabulary.configuration import Configuration, ConfigurationError
from epochfuzz.model.kafka.vocabulary.events import EventError, parse_schedule, schedule_texts
from epochfuzz.model.kafka.vocabulary.names import nearest
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, Protocol, ProtocolError, parse_protocol

MOST_EVENTS = 500  # a longer drawing is unreadable, and a browser needs seconds to show it
MOST_PROTOCOLS = 24
MOST_BRANCHES = 8  # if there are more, the oldest branches are dropped
MOST_CHARACTERS = 1 << 16  # of a query, as in the requests that Python's server accepts

_SETTINGS = vars(Configuration())
_KEYS = ("case", "protocol", *_SETTINGS, "events", "step", "branch")


class BadPosition(ValueError):
    """An address that does not encode a position in `play` (schedule and step). The message gives the reason."""


@dataclass(frozen=True, kw_only=True)
class Position:
    """A position in `play`: after `step` events of a schedule.

    The step after the last event shows the state after all faults have stopped. `branches` are abandoned schedules,
    latest first. `case` is the id of the case that the user opened, or empty.
    """

    protocols: tuple[Protocol, ...] = tuple(GENERATIONS.values())
    settings: Configuration = field(default_factory=Configuration)
    events: bytes = b""
    step: int = 0
    branches: tuple[bytes, ...] = ()
    case: str = ""

    @property
    def here(self) -> bytes:
        """The events up to the position."""
        return self.events[: self.step]

    @property
    def on_schedule(self) -> "Position":
        """The position itself, if its step is in the schedule, or else the position after the last event."""
        return self.at(min(self.step, len(self.events)))

    def query(self) -> str:
        """Return the position as the query of an address. `parse_query` reads the query back."""
        pairs: list[tuple[str, Any]] = [("case", self.case)] if self.case else []
        pairs += [("protocol", protocol.name) for protocol in self.protocols]
        words = self.settings.words()
        pairs += [(key, words[key]) for key in self.settings.changed()]
        if self.events:
            pairs += [("events", spelled(self.events)), ("step", self.step)]
        pairs += [("branch", spelled(branch)) for branch in self.branches]
        return urlencode(pairs, safe=",:")

    def at(self, step: int) -> "Position":
        """Return the position at another step of the schedule. The last possible step is one after the last event."""
        return replace(self, step=max(0, min(step, len(self.events) + 1)))

    def going(self, *events: int) -> "Position":
        """Return the position after further events.

        If the schedule already continues with these events, only the step changes. Otherwise the schedule now ends with
        these events, and the previous schedule becomes a branch.
        """
        gone = self.here + bytes(events)
        if self.events.startswith(gone):
            return replace(self, step=len(gone))
        return self._on(gone, len(gone))

    def along(self, branch: bytes) -> "Position":
        """Return the position on another schedule (a branch), and make the previous schedule a branch.

        The step stays, if both schedules agree up to there. Otherwise the step moves back to the last event that they
        share.
        """
        return self._on(branch, min(self.shared_with(branch), self.step))

    def shared_with(self, branch: bytes) -> int:
        """Return the number of events that the schedule and a branch share at their beginning."""
        pairs = zip(self.events, branch, strict=False)
        shorter = min(len(self.events), len(branch))
        return next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)

    def without_branch(self, branch: bytes) -> "Position":
        """Return the position without one of its branches (abandoned schedules)."""
        return replace(self, branches=tuple(other for other in self.branches if other != branch))

    def _on(self, events: bytes, step: int) -> "Position":
        left = [each for each in dict.fromkeys([self.events, *self.branches]) if not events.startswith(each)]
        return replace(self, events=events, step=step, branches=tuple(left[:MOST_BRANCHES]))


def parse_query(query: str) -> Position:
    """Return the position that a query encodes. A query is the text after the question mark. Raises BadPosition."""
    if len(query) > MOST_CHARACTERS:
        raise BadPosition(f"{len(query):,} characters are too many for an address; the most is {MOST_CHARACTERS:,}")
    return parse(parse_qs(query, keep_blank_values=True))


def parse(query: Mapping[str, Iterable[str]]) -> Position:
    """Return the position that a query encodes, given as lists of values by key. Empty values are ignored.

    Raises BadPosition.
    """
    given = {key: [value for value in values if value.strip()] for key, values in query.items()}
    for key in given:
        if key not in _KEYS:
            raise BadPosition(f"unknown key {key!r} in the address; {nearest(key, _KEYS)}")
        if key not in ("protocol", "branch") and len(given[key]) > 1:
            raise BadPosition(f"{key} comes twice in the address: keep one")
    try:
        events = _events(given.get("events", []))
        return Position(
            protocols=_protocols(given.get("protocol", [])),
            settings=Configuration(**{key: _setting(key, given[key][0]) for key in _SETTINGS if given.get(key)}),
            events=events,
            step=_step(given.get("step", []), len(events)),
            branches=tuple(_events([branch]) for branch in given.get("branch", [])[:MOST_BRANCHES]),
            case=_case(given.get("case", [])),
        )
    except (ProtocolError, EventError, ConfigurationError) as error:
        raise BadPosition(str(error)) from None


def spelled(events: bytes) -> str:
    """Return a schedule as text for an address, such as `produce A,fetch B`."""
    return ",".join(schedule_texts(events))


def _protocols(texts: Iterable[str]) -> tuple[Protocol, ...]:
    chosen = tuple({protocol.name: protocol for protocol in map(parse_protocol, map(str.strip, texts))}.values())
    if len(chosen) > MOST_PROTOCOLS:
        raise BadPosition(f"{len(chosen)} protocols are too many to see side by side; the most is {MOST_PROTOCOLS}")
    return chosen or Position.protocols


def _events(texts: Iterable[str]) -> bytes:
    events = parse_schedule(text.strip() for schedule in texts for text in schedule.split(","))
    if len(events) > MOST_EVENTS:
        raise BadPosition(f"{len(events)} events are too many to draw; the most is {MOST_EVENTS}")
    return events


def _step(texts: list[str], length: int) -> int:
    if not texts:
        return length
    if not (texts[0].isascii() and texts[0].isdigit() and len(texts[0]) <= 4 and int(texts[0]) <= length + 1):
        raise BadPosition(f"step must be a whole number from 0 to {length + 1}; got {texts[0]!r}")
    return int(texts[0])


def _case(texts: list[str]) -> str:
    name = "".join(texts)
    if name and not SLUG.fullmatch(name):
        raise BadPosition(f"case must be lower-case words joined by '-'; got {name!r}")
    return name


def _setting(key: str, text: str) -> Any:
    if isinstance(_SETTINGS[key], bool):
        return {"true": True, "false": False}.get(text, text)  # Configuration rejects any other text
    is_number = isinstance(_SETTINGS[key], int) and text.isascii() and text.isdigit() and len(text) <= 4
    return int(text) if is_number else text
