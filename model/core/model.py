"""The model: the interface through which the engine runs, searches and shrinks.

A model has a table of fields, rules that change a state event by event, and properties to check. A `Protocol` chooses
among the model's rules. `Settings` are the parameters of a run, including its bounds.

A kernel of the engine refers to its model as MODEL: `MODEL.step(p, event)`, `MODEL.judgement.at_end`. The linker
replaces MODEL with the model that it links for, so each model has kernels of its own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self, cast
from typing import Protocol as Interface

from epochfuzz.model.core.fields import Interpreted, State, Table

APPLIED = 0  # the result of a step whose event was enabled; any other number is the reason why it was not


class Bounds(Interface):
    """The bounds of a run: a named tuple of numbers."""

    def __iter__(self) -> Iterator[int]: ...
    def __hash__(self) -> int: ...

    @property
    def text(self) -> str:
        """The bounds for people to read, such as `1 record and 2 epoch changes`."""

    def _asdict(self) -> dict[str, Any]: ...


class Settings(Interface):
    """The parameters of a run."""

    @property
    def replicas(self) -> int:
        """The number of replicas."""

    @property
    def bounds(self) -> Any:
        """The Bounds of a run."""

    @property
    def least_bounds(self) -> Any:
        """The least Bounds that a run can have."""

    def within(self, bounds: Any) -> Self:
        """Return these settings with other bounds."""

    def bounded_by(self, length: int) -> Self:
        """Return these settings with lower bounds, which still allow every schedule of `length` events."""

    def alphabet(self) -> bytes:
        """Return the events that at least one protocol can enable, in byte order."""

    def changed(self) -> dict[str, Any]:
        """Return the settings that a case file lists, by name."""

    def changed_to(self, given: Mapping[str, Any]) -> Self:
        """Return these settings with some settings replaced, by name. Raises ValueError."""

    def text(self) -> str:
        """Return the settings in one line."""


class Protocol(Interface):
    """A choice of rules, expressed as constants of a state.

    `defect` is the number of the mutant that is planted in the rules, 0 for none. Equal protocols have equal rules and
    names.
    """

    @property
    def name(self) -> str:
        """The name of the protocol."""

    @property
    def defect(self) -> int:
        """The number of the mutant that is planted in the rules, 0 for none."""

    @property
    def model(self) -> "Model":
        """The model that the protocol belongs to."""

    def numbers(self) -> dict[str, int]:
        """Return the constants of a state that choose the rules."""


@dataclass(frozen=True)
class Judgement:
    """The names of the properties, in the order of severity, and the functions that check them.

    A set of properties is a number with one bit for each property. `now` checks every property except those in the set
    `at_end`. `end` checks the properties in `at_end`. `end` may change its state, so pass a copy.
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
    """Coverage: the situation of each applied event, as a number below `most`.

    `before` reads the state of a replica before an event. It must be cheap, because most events are not enabled. `of`
    maps a state, the event just applied to it, and the result of `before` to the situation. `kind_of` maps a situation
    to a number below `kinds`, which is coarse enough to group failures. `shape` describes a replica in relation to the
    others in less than 62 bits. The choice of schedules treats two rejections of an event as equal if the replicas have
    equal shapes and the reasons are equal.
    """

    before: Callable[[State, int], Any]
    of: Callable[[State, int, Any], int]
    kind_of: Callable[[int], int]
    most: int
    kinds: int
    shape: Callable[[State, int], int] = _all_alike


@dataclass(frozen=True)
class Cards:
    """The deck of cards that random schedules are dealt from.

    `phrases` maps a phrase, a tuple of verb numbers, to the number of its copies in the deck for each replica. Nothing
    happens without the `vital` verbs, and no schedule leaves them out. A phrase with a `particular` verb is only in the
    decks of protocols that can enable the verb.
    """

    phrases: Mapping[tuple[int, ...], int]
    vital: frozenset[int]
    particular: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Specialization:
    """A set of states for which kernels are compiled, given by the constants that all of them share.

    The linker folds these constants. `defects` is the module that plants mutants, None if the rules have none.
    """

    name: str
    constants: Mapping[str, int]
    defects: str | None = None


def _everything(starts: Sequence[Interpreted]) -> Specialization:
    return Specialization("kernels", {})


def _nothing_is_called(rule: Callable[..., Any]) -> bool:
    return False


def _nothing_to_forget(p: State) -> None:
    return None


@dataclass(frozen=True)
class SpecializationRules:
    """The inputs of the linker: source files, and functions that choose the program and the rules that are not inlined.

    If a model is built from declarations, its kernels depend on them too. `declared` is the text of these declarations.
    """

    sources: tuple[Path, ...]
    declared: str = ""
    program: Callable[[Sequence[Any]], Specialization] = _everything
    is_called: Callable[[Callable[..., Any]], bool] = _nothing_is_called


@dataclass(frozen=True)
class Events:
    """The alphabet: an event is a verb and a replica, `verb << 3 | replica`.

    `possible` takes some states. It returns the events that the constants of at least one of them can enable, in byte
    order. `in_order` sorts events in shrinking's order of preference. `parse` raises ValueError for a text that is not
    an event.
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
    """The interface of a model to the engine.

    The linker compiles functions over a state `p`, so they must be simple (model/core/specializer.py). `protocol`
    returns the protocol with a given name, and raises ValueError for an unknown name. `settings` are the default
    settings of a run. `forget` clears the fields that cannot distinguish two states of a search. `is_symmetric` takes
    the wanted properties, the protocols that run side by side, and the settings. The result is True if a search may
    ignore the names of replicas. Each of `goals` is a bit in a state's `goals`. `small` lists bounds within which a
    search finds most short failures.
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
    linking: SpecializationRules
    is_symmetric: Callable[[int, Sequence[Any], Any], bool]
    small: tuple[Any, ...]
    goals: tuple[str, ...] = ()
    forget: Callable[[State], None] = _nothing_to_forget


class _ToBeLinked:
    """A placeholder for the model that a kernel is linked for."""


MODEL = cast(Model, _ToBeLinked())


def model_of(protocols: Iterable[Protocol]) -> Model:
    """Return the model that protocols share. Raises ValueError if they have different models."""
    (model,) = {each.model for each in protocols}
    return model
