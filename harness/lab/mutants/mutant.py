"""A defect: a mistake that a developer could make, written as the function that they would have written.

It stands for a rule of the model, and has its name, arguments and types checked when it is declared:

    @in_place_of(faults.checkpoint, "a replica checkpoints its log end offset as its high watermark")
    def checkpoint_of_the_log_end(p: State, r: int) -> int:
        refusal = faults.checkpoint(p, r)
        if refusal == APPLIED:
            p.checkpointed[r] = p.leo[r]
        return refusal

A mistake that calls the rule that it stands for calls the sound one. What `in_place_of` makes is a Defect. A mistake
that takes two rules to make has one more function, under any name:

    @checkpoint_of_the_log_end.and_in_place_of(faults.crash)
    def _(p: State, r: int) -> int:
        ...
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from epochfuzz.model.core import specializer
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_names: set[str] = set()


@dataclass(eq=False)
class Mutant:
    """A mistake; `jira` names it where Kafka made it.

    `protocol` is the one that the mistake is made in. It holds every property without it, except where the mistake
    is `in_judging`, in what is remembered and judged, which only a protocol known to be flawed can show. `mistaken` has
    what stands for each rule that it replaces, and `number` is its place among the mutants, from 1.
    """

    name: str
    mistake: str
    jira: str | None
    protocol: str
    in_judging: bool
    mistaken: dict[Callable[..., Any], Callable[..., Any]] = field(default_factory=dict)
    number: int = 0

    @property
    def sound_protocol(self) -> Protocol:
        """The protocol without the mistake."""
        return parse_protocol(self.protocol)

    @property
    def broken_protocol(self) -> Protocol:
        """The protocol with the mistake in it: run, searched and walked as any other."""
        return replace(self.sound_protocol, name=f"{self.protocol}:defect={self.name}", defect=self.number)

    @property
    def module(self) -> str:
        """The file of the rule that it replaces, of the first where it replaces two."""
        return _file(next(iter(self.mistaken)))

    @property
    def rules(self) -> list[str]:
        """The rules that it replaces, such as `model/kafka/partition/isr.py: why_not_caught_up`."""
        return [f"{_file(rule)}: {rule.__name__}" for rule in self.mistaken]

    def and_in_place_of(
        self, rule: Callable[_Arguments, _Result]
    ) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
        """Decorate what stands for one more rule. Raises ValueError if something does already."""

        def declare(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
            if rule in self.mistaken:
                raise ValueError(f"{self.name} has two functions in place of {rule.__qualname__}")
            specializer.check_stands_for(rule, function)
            self.mistaken[rule] = function
            return function

        return declare

    def plant(self, number: int) -> None:
        """Have protocols with that defect number make the mistake."""
        self.number = number
        for rule, function in self.mistaken.items():
            specializer.plant(rule, number, function)


def in_place_of(
    rule: Callable[_Arguments, _Result],
    mistake: str,
    *,
    jira: str | None = None,
    protocol: str = "kip-320",
    in_judging: bool = False,
) -> Callable[[Callable[_Arguments, _Result]], Mutant]:
    """Declare a defect, named as the function that it decorates: what stands for a rule, and the mistake in a line.

    Raises TypeError where the function cannot stand for the rule, and ValueError where the name is taken.
    """

    def declare(function: Callable[_Arguments, _Result]) -> Mutant:
        name = function.__name__.replace("_", "-")
        if name in _names:
            raise ValueError(f"two defects are called {name}")
        _names.add(name)
        defect = Mutant(name, mistake, jira, protocol, in_judging)
        defect.and_in_place_of(rule)(function)
        return defect

    return declare


def declared_in(*modules: ModuleType) -> tuple[Mutant, ...]:
    """Return the defects of some modules, in the order in which they stand there."""
    return tuple(each for module in modules for each in vars(module).values() if isinstance(each, Mutant))


def _file(rule: Callable[..., Any]) -> str:
    return f"{rule.__module__.removeprefix('epochfuzz.').replace('.', '/')}.py"
