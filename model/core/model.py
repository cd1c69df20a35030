"""The model: all that the engine knows of what it walks, searches and shrinks.

A model has a table of fields, rules that go from state to state event by event, and properties that are judged. A
choice of its rules is a `Protocol`, and what is set for a run, its bounds among them, are `Settings`.

A kernel of the engine names the model that it runs as MODEL: `MODEL.step(p, event)`, `MODEL.judgement.at_end`. The
linker has the model that it links for in place of that, so that each model has kernels of its own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self, cast
from typing import Protocol as Interface

from epochfuzz.model.core.fields import Interpreted, State, Table

APPLIED = 0  # what a step answers where the event was enabled; any other number says why it was not


class Bounds(Interface):
    """The bounds of a run: a named tuple of numbers."""

    def __iter__(self) -> Iterator[int]: ...
    def __hash__(self) -> int: ...

    @property
    def text(self) -> str:
        """As people read them, such as `1 record and 2 epoch changes`."""

    def _asdict(self) -> dict[str, Any]: ...


class Settings(Interface):
    """What is set for a run."""

    @property
    def replicas(self) -> int:
        """How many replicas there are."""

    @property
    def bounds(self) -> Any:
        """The Bounds of a run."""

    @property
    def least_bounds(self) -> Any:
        """The least Bounds that a run can have."""

    def within(self, bounds: Any) -> Self:
        """Return these settings with other bounds, no greater than their own."""

    def bounded_by(self, length: int) -> Self:
        """Return these settings with bounds no larger than a schedule of that length can reach."""

    def alphabet(self) -> bytes:
        """Return the events that can be enabled, under any protocol, in byte order."""

    def changed(self) -> dict[str, Any]:
        """Return what there is to say of them, by name, as a case file has it."""

    def changed_to(self, given: Mapping[str, Any]) -> Self:
        """Return these settings with some others, by name. Raises ValueError."""

    def text(self) -> str:
        """Return them in one line."""


class Protocol(Interface):
    """A choice of rules, by the constants of a state. `defect` is the number of a mistake planted in them, 0 for none.

    Equal protocols have equal rules and names.
    """

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def defect(self) -> int:
        """The number of the mistake that is planted in its rules."""

    @property
    def model(self) -> "Model":
        """The model that it is a protocol of."""

    def numbers(self) -> dict[str, int]:
        """Return the constants of a state that choose the rules."""


@dataclass(frozen=True)
class Judgement:
    """The properties, by name in the order of severity, and what judges them: sets of properties, a bit for each.

    `now` judges a state all but those of the set `at_end`. `end` judges those, and may change the state that it is
    given into what it comes to: hand it a copy.
    """

    names: tuple[str, ...]
    at_end: int
    now: Callable[[State], int]
    end: Callable[[State], int]

    @cached_property
    def all(self) -> int:
        """The set of all properties."""
        return (1 << len(self.names)) - 1

    def named(self, broken: int) -> list[str]:
        """Return the names of a set of properties, the most severe first."""
        return [name for bit, name in enumerate(self.names) if broken >> bit & 1]


def _all_alike(p: State, r: int) -> int:
    return 0


@dataclass(frozen=True)
class Points:
    """Coverage: what an event met and what came of it, a number below `most` (a situation), and what is alike in it.

    `before` takes what has to be known of a replica before the event, most of which are not enabled: raw, and cheap.
    `of` takes a state, the event that has just been applied to it, and that. `kind_of` a situation is a number below
    `kinds`, coarse enough to group failures by. `shape` is what a replica is beside the others, in less than 62 bits:
    an event that is refused to two replicas of one shape, for one reason, is refused for the same to who chooses
    schedules.
    """

    before: Callable[[State, int], Any]
    of: Callable[[State, int, Any], int]
    kind_of: Callable[[int], int]
    most: int
    kinds: int
    shape: Callable[[State, int], int] = _all_alike


@dataclass(frozen=True)
class Cards:
    """What random schedules are dealt from: how often each phrase, of verbs by number, is in the deck for a replica.

    Without the verbs that are `vital` nothing happens at all, and no schedule leaves them out.
    """

    phrases: Mapping[tuple[int, ...], int]
    vital: frozenset[int]


@dataclass(frozen=True)
class Program:
    """For which states kernels are made: what is constant under all of them is worked out as they are linked.

    `defects` is the module that plants mistakes, where the rules are to have them.
    """

    name: str
    constants: Mapping[str, int]
    defects: str | None = None


def _everything(starts: Sequence[Interpreted]) -> Program:
    return Program("kernels", {})


def _nothing_is_called(rule: Callable[..., Any]) -> bool:
    return False


def _nothing_to_forget(p: State) -> None:
    return None


@dataclass(frozen=True)
class Linking:
    """How kernels are linked: of which sources, for which states, and which rules are called and not inlined.

    `declared` is what kernels depend on besides, of a model that is made of declarations.
    """

    sources: tuple[Path, ...]
    declared: str = ""
    program: Callable[[Sequence[Any]], Program] = _everything
    is_called: Callable[[Callable[..., Any]], bool] = _nothing_is_called


@dataclass(frozen=True)
class Events:
    """The alphabet: an event is a verb and a replica, `verb << 3 | replica`.

    `possible` are the events that can be enabled under the constants of any of some states, in byte order, and
    `in_order` has events as shrinking prefers them. `parse` raises ValueError for a text that is no event.
    """

    possible: Callable[..., bytes]
    in_order: Callable[[bytes], bytes]
    text: Callable[[int], str]
    parse: Callable[[str], int]

    def texts(self, schedule: Iterable[int]) -> list[str]:
        """Return the events of a schedule as texts, in order."""
        return [self.text(event) for event in schedule]


@dataclass(frozen=True, eq=False)
class Model:
    """What the engine runs. Functions of a state `p` are linked, so they are simple ones (model/core/program.py).

    `protocol` returns the protocol of a name, and raises ValueError where there is none; `settings` are those of a run
    of which nothing else is said. `forget` clears what distinguishes no two states of a search. `is_symmetric` says
    whether replicas are alike to a search for a wanted property under protocols side by side. Each of `goals` is a bit
    in a state's `goals`. `small` are bounds within which most of what is short is found.
    """

    name: str
    table: Table
    protocol: Callable[[str], Any]
    settings: Any
    initial: Callable[[Any, Any], Any]
    events: Events
    step: Callable[[State, int], int]
    judgement: Judgement
    points: Points
    cards: Cards
    linking: Linking
    is_symmetric: Callable[[int, Sequence[Any], Any], bool]
    small: tuple[Any, ...]
    goals: tuple[str, ...] = ()
    forget: Callable[[State], None] = _nothing_to_forget


class _ToBeLinked:
    """Stands for the model that a kernel is linked for."""


MODEL = cast(Model, _ToBeLinked())


def model_of(protocols: Iterable[Protocol]) -> Model:
    """Return the model of protocols that run side by side."""
    (model,) = {each.model for each in protocols}
    return model
