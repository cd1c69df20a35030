"""Build a model from one file of declarations: fields, a rule for each verb, and properties.

A rule is a function of a state `p` and a replica. It returns APPLIED, or a number for the reason why the event is not
enabled. A rule that returns a reason must not change the state. A property is a function of a state. Rules and
properties must be simple enough to be compiled. All settings, including `replicas`, and all
choices of protocols are ints.
"""

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, cast

from epochfuzz.model.core.description import REPLICA_NAMES
from epochfuzz.model.core.fields import NONE, Axis, Field, Interpreted, Names, State, Table, never_read
from epochfuzz.model.core.model import MODEL, Cards, Events, Judgement, Model, Points, SpecializationRules

NO_SUCH_REPLICA = 1  # the result of a step whose event names a replica that does not exist
MOST_VERBS = 32  # an event is one byte, with its replica in the low three bits
REPLICA = Axis(len(REPLICA_NAMES), lambda p: int(p.replicas), of_replicas=True)


class ModelError(ValueError):
    """The declarations of a model contradict each other, or a name or value is not declared; the message says which."""


@dataclass(frozen=True)
class Holds:
    """The range of a field's elements: from `least` to `greatest(p)`, which may depend on constants of the state."""

    least: int
    greatest: Callable[[State], int]
    names: Names = Names.NOBODY
    narrow: bool = False

    def bounds(self, p: State) -> tuple[int, int]:
        """Return the (least, greatest) value."""
        return self.least, self.greatest(p)


FLAG = Holds(0, lambda p: 1, narrow=True)
ONE_REPLICA = Holds(NONE, lambda p: p.replicas - 1, Names.REPLICA)  # NONE for no replica
REPLICAS = Holds(0, lambda p: (1 << p.replicas) - 1, Names.REPLICAS)  # bit r for replica r
_NUMBER = Holds(0, lambda p: 0)


def up_to(constant: str) -> Holds:
    """Return the range from 0 to the value of a setting. For example, `up_to("records")` ends at `p.records`."""
    return Holds(0, lambda p: int(getattr(p, constant)))


@dataclass(frozen=True)
class Verb:
    """A kind of event at a replica, named like the function `rule`. `dealt` is the weight in random schedules."""

    rule: Callable[[State, int], int]
    dealt: int = 1


@dataclass(frozen=True)
class Property:
    """A property, defined by the condition that breaks it.

    `at_end`: the condition is checked after all faults have stopped. Otherwise it is checked after every event.
    """

    name: str
    is_broken: Callable[[State], bool]
    at_end: bool = False


@dataclass(frozen=True)
class SimpleProtocol:
    """A protocol of a SimpleModel: the values of the constants that choose among the rules."""

    name: str
    choices: tuple[tuple[str, int], ...]
    model: "Model" = field(compare=False, repr=False)
    defect: int = 0

    def numbers(self) -> dict[str, int]:
        """Return the constants that the protocol sets in a state, by name."""
        return dict(self.choices)


@lru_cache
def _bounds_named(names: tuple[str, ...]) -> Any:
    """Return a named tuple type with the fields `names`, and a property `text` such as `2 records and 3 epochs`."""
    text = property(lambda self: " and ".join(f"{most} {name}" for name, most in self._asdict().items()))
    return type("Bounds", (namedtuple("Bounds", names),), {"text": text, "__slots__": ()})


@dataclass(frozen=True)
class SimpleSettings:
    """The settings of a SimpleModel, as ints by name.

    `bounding` names the settings that bound a run. `verbs` is the number of verbs of the model.
    """

    numbers: tuple[tuple[str, int], ...]
    bounding: tuple[str, ...]
    verbs: int

    @property
    def replicas(self) -> int:
        """The number of replicas."""
        return dict(self.numbers)["replicas"]

    @property
    def bounds(self) -> Any:
        """The bounds of a run."""
        return _bounds_named(self.bounding)(*(dict(self.numbers)[name] for name in self.bounding))

    @property
    def least_bounds(self) -> Any:
        """The least bounds that a run can have: all zero."""
        return _bounds_named(self.bounding)(*(0 for _ in self.bounding))

    def within(self, bounds: Any) -> "SimpleSettings":
        """Return a copy of these settings with the given bounds."""
        return self.changed_to(bounds._asdict())

    def bounded_by(self, length: int) -> "SimpleSettings":
        """Return a copy of these settings with every bound reduced to at most `length`, the length of a schedule."""
        return self.within(type(self.bounds)(*(min(length, most) for most in self.bounds)))

    def changed(self) -> dict[str, int]:
        """Return all settings, by name."""
        return dict(self.numbers)

    def changed_to(self, given: Mapping[str, Any]) -> "SimpleSettings":
        """Return these settings with the given values, by name. Raises ModelError for a wrong name or value."""
        unknown = given.keys() - self.changed()
        if unknown:
            raise ModelError(f"unknown setting {min(unknown)!r}; the settings are {', '.join(self.changed())}")
        changed = {**self.changed(), **given}
        wrong = [name for name, number in changed.items() if isinstance(number, bool) or not isinstance(number, int)]
        if wrong:
            raise ModelError(f"{wrong[0]} must be a whole number; got {changed[wrong[0]]!r}")
        if not 1 <= changed["replicas"] <= len(REPLICA_NAMES) or min(changed.values()) < 0:
            raise ModelError(f"replicas must be from 1 to {len(REPLICA_NAMES)}, and no setting may be below 0")
        return SimpleSettings(tuple(changed.items()), self.bounding, self.verbs)

    def alphabet(self) -> bytes:
        """Return every event, as bytes in ascending order."""
        return bytes(_encode(verb, r) for verb in range(self.verbs) for r in range(self.replicas))

    def text(self) -> str:
        """Return the settings as one line of text, such as `replicas=2 records=3`."""
        return " ".join(f"{name}={number}" for name, number in self.numbers)


@dataclass(frozen=True, eq=False, kw_only=True)
class SimpleModel(Model):
    """The model that `simple_model` builds: a Model, and the rules and properties that its `step` and checks read."""

    rules: tuple[Callable[[State, int], int], ...]
    judged_now: tuple[tuple[int, Callable[[State], bool]], ...]
    judged_at_end: tuple[tuple[int, Callable[[State], bool]], ...]
    heal: Callable[[State], None]

    @cached_property
    def verbs(self) -> list[str]:
        """The names of the verbs, in the order of their numbers."""
        return [rule.__name__ for rule in self.rules]


_PLAIN = cast(SimpleModel, MODEL)


def _encode(verb: int, replica: int) -> int:
    return verb << 3 | replica


def _verb_number(event: int) -> int:
    return event >> 3


def _replica_of(event: int) -> int:
    return event & 7


def step(p: State, event: int) -> int:
    """Apply an event. Returns APPLIED, or the number of the reason why the event is not enabled."""
    if _replica_of(event) >= p.replicas:
        return NO_SUCH_REPLICA
    return _PLAIN.rules[_verb_number(event)](p, _replica_of(event))


def broken_now(p: State) -> int:
    """Return the properties that the state breaks, one bit each, without the properties that are checked at the end."""
    broken = 0
    for bit, is_broken in _PLAIN.judged_now:  # the linker unrolls the loop, so it has no break or continue
        if is_broken(p):
            broken |= bit
    return broken


def broken_at_end(p: State) -> int:
    """Stop all faults in `p`, and return the properties that are broken then, one bit each.

    The bits cover only the properties that are checked at the end. Pass a copy, because `p` changes.
    """
    _PLAIN.heal(p)
    broken = 0
    for bit, is_broken in _PLAIN.judged_at_end:
        if is_broken(p):
            broken |= bit
    return broken


def _nothing_to_heal(p: State) -> None:
    return None


def _nothing_before(p: State, r: int) -> int:
    return 0


def _event_alone(p: State, event: int, before: int) -> int:
    return event


def _verb_alone(situation: int) -> int:
    return _verb_number(situation)


# The situation is the event, and the kind of the situation is the verb.
BY_EVENT = Points(before=_nothing_before, of=_event_alone, kind_of=_verb_alone, most=1 << 8, kinds=1 << 5)


def simple_model(
    name: str,
    *,
    fields: Sequence[Field],
    verbs: Sequence[Verb],
    properties: Sequence[Property],
    settings: Mapping[str, int],
    bounds: Sequence[str],
    protocols: Mapping[str, Mapping[str, int]],
    heal: Callable[[State], None] = _nothing_to_heal,
    points: Points = BY_EVENT,
    symmetric: bool = False,
    describe_state: Callable[[State], str] = Model.describe_state,
    describe_step: Callable[[State, int, int, State], str] = Model.describe_step,
) -> SimpleModel:
    """Build a model from declarations. Raises ModelError if the declarations contradict each other.

    Shrinking prefers the first `verbs`. Random schedules never leave out the first verb, so put a verb first that every
    run needs. `bounds` names the settings that keep a search finite. All `protocols` must set the same constants.
    `heal` stops all faults in a state before the properties with `at_end` are checked. Pass symmetric=True if the rules
    and properties do not depend on the names of replicas. `heal` may depend on the names. `describe_state`
    and `describe_step` put states and steps into words (see Model); the defaults list the values of fields.
    """
    if len(verbs) > MOST_VERBS:
        raise ModelError(f"a model has at most {MOST_VERBS} verbs; got {len(verbs)}")
    choices = _checked(settings, bounds, protocols)
    constants = [Field(each, _NUMBER) for each in (*settings, *choices)]
    table = Table([*fields, Field("goals", _NUMBER, read=never_read)], constants)
    state = type("PlainState", (Interpreted,), {"__slots__": table.names, "table": table})
    default = SimpleSettings(tuple(settings.items()), tuple(bounds), len(verbs))
    judged = [(1 << number, each) for number, each in enumerate(properties)]
    at_end = tuple((bit, each.is_broken) for bit, each in judged if each.at_end)
    at_end_bits = sum(bit for bit, _ in at_end)
    functions = [heal, *(verb.rule for verb in verbs), *(each.is_broken for each in properties)]
    functions += [points.before, points.of, points.kind_of]
    declared = [name, table.record, *((each.__module__, each.__qualname__) for each in functions), at_end_bits]
    events = _SimpleEvents([verb.rule.__name__ for verb in verbs])
    made = SimpleModel(
        name=name,
        table=table,
        initial=lambda protocol, settings: _initial(state(), protocol, settings),
        events=Events(
            possible=events.possible,
            in_order=bytes,
            text=events.text,
            parse=events.parse,
            verb_number=_verb_number,
            replica_of=_replica_of,
            encode=_encode,
        ),
        protocol=lambda text: _named(text, protocols, made),
        settings=default,
        step=step,
        judgement=Judgement(tuple(each.name for each in properties), at_end_bits, broken_now, broken_at_end),
        points=points,
        cards=Cards({(number,): verb.dealt for number, verb in enumerate(verbs)}, frozenset({0})),
        linking=SpecializationRules(
            tuple(sorted({Path(each.__code__.co_filename) for each in functions})), repr(declared)
        ),
        is_symmetric=lambda wanted, beside, settings: (
            symmetric and len(beside) == 1 and not wanted & made.judgement.at_end
        ),
        small=tuple(type(default.bounds)(*(most for _ in bounds)) for most in (1, 2)),
        rules=tuple(verb.rule for verb in verbs),
        judged_now=tuple((bit, each.is_broken) for bit, each in judged if not each.at_end),
        judged_at_end=at_end,
        heal=heal,
        describe_state=describe_state,
        describe_step=describe_step,
    )
    return made


def _checked(
    settings: Mapping[str, int], bounds: Sequence[str], protocols: Mapping[str, Mapping[str, int]]
) -> list[str]:
    """Return the names of the constants that protocols choose. Raises ModelError for contradictory declarations."""
    if "replicas" not in settings:
        raise ModelError("replicas is a setting of every model")
    unknown = [name for name in bounds if name not in settings]
    if unknown:
        raise ModelError(f"the bound {unknown[0]!r} is not a setting; the settings are {', '.join(settings)}")
    chosen = [list(choices) for choices in protocols.values()]
    if not chosen or any(each != chosen[0] for each in chosen):
        raise ModelError("declare at least one protocol; all protocols choose the same constants in the same order")
    return chosen[0]


def _initial(p: Any, protocol: Any, settings: SimpleSettings) -> Any:
    for name, number in (*protocol.numbers().items(), *settings.numbers):
        setattr(p, name, number)
    return p


def _named(text: str, protocols: Mapping[str, Mapping[str, int]], model: Model) -> SimpleProtocol:
    if text not in protocols:
        raise ModelError(f"unknown protocol {text!r}; the protocols are {', '.join(protocols)}")
    return SimpleProtocol(text, tuple(protocols[text].items()), model)


@dataclass(frozen=True)
class _SimpleEvents:
    """The events of a SimpleModel: each verb at each replica."""

    verbs: Sequence[str]

    def possible(self, *starts: State) -> bytes:
        """Return every event, as bytes in ascending order."""
        return bytes(_encode(verb, r) for verb in range(len(self.verbs)) for r in range(starts[0].replicas))

    def text(self, event: int) -> str:
        """Return the text of an event, such as `write B`."""
        return f"{self.verbs[_verb_number(event)]} {REPLICA_NAMES[_replica_of(event)]}"

    def parse(self, text: str) -> int:
        """Return the event for a text such as `write B`. Raises ModelError."""
        verb, _, replica = text.partition(" ")
        if verb not in self.verbs or len(replica) != 1 or replica not in REPLICA_NAMES:
            raise ModelError(
                f"an event is a verb ({', '.join(self.verbs)}) and a replica, such as {self.text(0)!r}; got {text!r}"
            )
        return _encode(self.verbs.index(verb), REPLICA_NAMES.index(replica))
