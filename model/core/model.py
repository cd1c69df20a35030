"""The interface between a model and the engine. The engine runs, searches and shrinks schedules.

A model has a table of fields, rules that change a state event by event, and properties to check. A `Protocol` chooses
among the model's rules. `Settings` are the parameters of a run, including its bounds.

The engine's compiled functions, its kernels, refer to the model as MODEL, as in `MODEL.step(p, event)`. The specializer
(model/core/specializer.py) makes a copy of each kernel for each model, and replaces MODEL with the model.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self, cast
from typing import Protocol as Interface

from epochfuzz.model.core.description import values
from epochfuzz.model.core.fields import Interpreted, State, Table

# The result of a step whose event was enabled. Any other result is the reason why the event was not enabled.
APPLIED = 0


class Bounds(Interface):
    """The bounds of a run, as a named tuple of ints. An example of a bound is the largest number of records."""

    def __iter__(self) -> Iterator[int]: ...
    def __hash__(self) -> int: ...

    @property
    def text(self) -> str:
        """The bounds as a phrase, such as `1 record and 2 epoch changes`."""

    def _asdict(self) -> dict[str, Any]: ...


class Settings(Interface):
    """The parameters of a run, such as the number of replicas."""

    @property
    def replicas(self) -> int:
        """The number of replicas."""

    @property
    def bounds(self) -> Any:
        """The bounds of a run, as a named tuple (Bounds)."""

    @property
    def least_bounds(self) -> Any:
        """The lowest bounds that a run can have, as a named tuple (Bounds)."""

    def within(self, bounds: Any) -> Self:
        """Return a copy of these settings with the given bounds."""

    def bounded_by(self, length: int) -> Self:
        """Return a copy of these settings, with the bounds lowered to the values that `length` events can reach."""

    def alphabet(self) -> bytes:
        """Return the events that at least one protocol can enable under these settings, as bytes in ascending order."""

    def changed(self) -> dict[str, Any]:
        """Return the settings to write to a case file (a saved schedule): a dictionary from names to values."""

    def changed_to(self, given: Mapping[str, Any]) -> Self:
        """Return these settings with the given values, by name. Raises ValueError for a wrong name or value."""

    def text(self) -> str:
        """Return the settings as one line of text."""


class Protocol(Interface):
    """A choice among the model's rules, expressed as constants of a state.

    `defect` is the number of a mutant, a deliberate mistake in the rules. If the rules have no mutant, `defect` is 0.
    Protocols that compare equal have equal rules and names.
    """

    @property
    def name(self) -> str:
        """The name of the protocol."""

    @property
    def defect(self) -> int:
        """The number of the mutant (a deliberate mistake) in the rules, or 0 if the rules have no mutant."""

    @property
    def model(self) -> "Model":
        """The model that the protocol belongs to."""

    def numbers(self) -> dict[str, int]:
        """Return the constants that choose the rules: a dictionary from names of fields of a state to values."""


@dataclass(frozen=True)
class Judgement:
    """The properties of a model: their names, the most severe first, and the functions that check them.

    A set of properties is an int with one bit for each property. `at_end` is the set of properties that are checked
    only after all faults have stopped. `now(p)` returns the set of all other properties that state `p` breaks. `end(p)`
    stops all faults in `p`, and returns the set of those properties in `at_end` that `p` then breaks. Pass a copy to
    `end`, because it changes `p`.
    """

    names: tuple[str, ...]
    at_end: int
    now: Callable[[State], int]
    end: Callable[[State], int]

    @cached_property
    def all(self) -> int:
        """The set of all properties, one bit each."""
        return (1 << len(self.names)) - 1

    def set_of(self, name: str) -> int:
        """Return the set that has only the named property. Raises ValueError for an unknown name."""
        return 1 << self.names.index(name)

    def named(self, broken: int) -> list[str]:
        """Return the names of the properties in a set, the most severe first."""
        return [name for bit, name in enumerate(self.names) if broken >> bit & 1]


def _all_alike(p: State, r: int) -> int:
    return 0


@dataclass(frozen=True, kw_only=True)
class Points:
    """The functions that measure coverage. They assign to each applied event a number, the *situation* of the event.

    `before(p, r)` returns facts about replica r before an event. The function must be cheap, because it also runs for
    the many events that are not enabled. `of(p, event, before)` returns the situation, a number below `most`, after the
    event was applied. Its argument `before` is the result of `before(p, r)`. epochfuzz groups failures by
    `kind_of(situation)`, a coarser number below `kinds`. `shape(p, r)` returns a number of less than 62 bits that
    describes replica r in relation to the other replicas. When epochfuzz chooses schedules for a slow system under
    test, it counts similar steps by situation and shape.
    """

    before: Callable[[State, int], Any]
    of: Callable[[State, int, Any], int]
    kind_of: Callable[[int], int]
    most: int
    kinds: int
    shape: Callable[[State, int], int] = _all_alike


@dataclass(frozen=True)
class Cards:
    """The weights of verbs in random schedules, as a deck of cards. A random schedule consists of cards from the deck.

    A phrase is a tuple of verb numbers. `phrases` maps each phrase to a number: the deck contains this many copies of
    the phrase for each replica. A random schedule may leave out verbs, but not the `vital` verbs, because nothing
    happens without them. A phrase with a `particular` verb is only in the decks of protocols that can enable the verb.
    """

    phrases: Mapping[tuple[int, ...], int]
    vital: frozenset[int]
    particular: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Specialization:
    """The constants that a set of states has in common. The engine compiles its functions for these states.

    The specializer replaces each constant with its value. `name` is the name of the compiled program. `defects` is the
    module that plants mutants (deliberate mistakes) in the rules, or None if the rules have no mutants.
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


def _all_values(p: State) -> str:
    return ", ".join(f"{name} {value}" for name, value in values(p).items())


def _changed_values(before: State, event: int, reason: int, after: State) -> str:
    if reason != APPLIED:
        return "is not enabled"
    old, new = values(before), values(after)
    changed = [f"{name} {old[name]} -> {value}" for name, value in new.items() if value != old[name]]
    return ", ".join(changed) or "nothing changes"


@dataclass(frozen=True)
class SpecializationRules:
    """The inputs for compiling a model: its source files, the choice of a Specialization, and the rules not to inline.

    `program(starts)` returns the Specialization for some initial states. `is_called(rule)` is true if compiled code
    calls the rule instead of inlining it. `declared` is a text with all other facts that the compiled code depends on.
    """

    sources: tuple[Path, ...]
    declared: str = ""
    program: Callable[[Sequence[Any]], Specialization] = _everything
    is_called: Callable[[Callable[..., Any]], bool] = _nothing_is_called


@dataclass(frozen=True, kw_only=True)
class Events:
    """The events of a model. An event is a byte for a verb and a replica.

    `verb_number` and `replica_of` take an event apart, and `encode(verb, replica)` makes an event. These functions are
    compiled. `possible(*starts)` returns all events that can be enabled in a run from at least one of the initial
    states, in ascending order. `in_order` sorts events by preference: shrinking prefers the first events. `parse`
    raises ValueError for a text that is not an event.
    """

    possible: Callable[..., bytes]
    in_order: Callable[[bytes], bytes]
    text: Callable[[int], str]
    parse: Callable[[str], int]
    verb_number: Callable[[int], int]
    replica_of: Callable[[int], int]
    encode: Callable[[int, int], int]

    def texts(self, schedule: Iterable[int]) -> list[str]:
        """Return the events of a schedule as texts such as `fetch B`."""
        return [self.text(event) for event in schedule]


@dataclass(frozen=True, eq=False, kw_only=True)
class Model:
    """Everything that the engine needs to know about a model.

    The functions over a state `p` are compiled, so they must be simple (model/core/specializer.py). `protocol(name)`
    raises ValueError for an unknown name. `settings` are the defaults of a run. `forget(p)` clears fields whose values
    can no longer matter. `is_symmetric(wanted, protocols, settings)` is true if a search for violations of the
    properties `wanted` may treat states as equal that differ only in the names of replicas. `goals` are the names of
    the coverage goals: bit i of `p.goals` stands for the goal `goals[i]`. `small` lists bounds within which a search
    finds most short failures.

    `describe_state(p)` returns a text with the values of an interpreted state. `describe_step(before, event, reason,
    after)` returns a text with the effect of an event, given the states before and after the event. `reason` is the
    result of the step: APPLIED, or the number of the reason why the event was not enabled.
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
    describe_state: Callable[[State], str] = _all_values
    describe_step: Callable[[State, int, int, State], str] = _changed_values


class _ToBeLinked:
    """The type of MODEL, the placeholder for a model in the source of the engine's compiled functions."""


MODEL = cast(Model, _ToBeLinked())


def model_of(protocols: Iterable[Protocol]) -> Model:
    """Return the model that all of the protocols belong to. Raises ValueError if their models differ."""
    (model,) = {each.model for each in protocols}
    return model
