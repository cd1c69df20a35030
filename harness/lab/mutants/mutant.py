"""Declare a mutant: a mistake that a developer could make, written as a function that replaces a rule of the model.

    @in_place_of(faults.checkpoint, "a replica checkpoints its log end offset as its high watermark")
    def checkpoint_of_the_log_end(p: State, r: int) -> int:
        refusal = faults.checkpoint(p, r)
        if refusal == APPLIED:
            p.checkpointed[r] = p.leo[r]
        return refusal

The function must have the rule's arguments and types. If the function calls the rule, the call runs the correct rule.
`in_place_of` turns the function into a Mutant. A mutant that changes two rules has a second function, with any name:

    @checkpoint_of_the_log_end.and_in_place_of(faults.crash)
    def _(p: State, r: int) -> int:
        ...
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from epochfuzz.model.core import specializer
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_names: set[str] = set()
_PLAIN = Configuration()


@dataclass(eq=False, kw_only=True)
class Mutant:
    """A protocol with one mistake. `jira` names the issue if Kafka itself had the mistake.

    `protocol` is the name of the protocol without the mistake. Any property that this protocol holds can detect the
    mutant. If `in_judging` is True, the mistake is in the checks, and only a protocol with a known flaw can show the
    mistake. `settings` is a configuration that the replaced rule needs. `mistaken` maps each replaced rule to the
    mutant's function, and `number` is the mutant's number, from 1.
    """

    name: str
    mistake: str
    jira: str | None
    protocol: str
    in_judging: bool
    settings: Configuration = _PLAIN
    mistaken: dict[Callable[..., Any], Callable[..., Any]] = field(default_factory=dict)
    number: int = 0

    @property
    def sound_protocol(self) -> Protocol:
        """Return the protocol without the mistake."""
        return parse_protocol(self.protocol)

    @property
    def broken_protocol(self) -> Protocol:
        """Return the protocol with the mistake, which runs like any other protocol."""
        return replace(self.sound_protocol, name=f"{self.protocol}:defect={self.name}", defect=self.number)

    @property
    def module(self) -> str:
        """Return the file of the rule that the mutant replaces. With several rules, the file of the first rule."""
        return _file(next(iter(self.mistaken)))

    @property
    def rules(self) -> list[str]:
        """Return the replaced rules as text, such as `model/kafka/partition/isr.py: why_not_caught_up`."""
        return [f"{_file(rule)}: {rule.__name__}" for rule in self.mistaken]

    def and_in_place_of(
        self, rule: Callable[_Arguments, _Result]
    ) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
        """Return a decorator for a function that replaces one more rule.

        The decorator raises ValueError if the mutant already replaces the rule.
        """

        def declare(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
            if rule in self.mistaken:
                raise ValueError(f"{self.name} has two functions in place of {rule.__qualname__}")
            specializer.check_stands_for(rule, function)
            self.mistaken[rule] = function
            return function

        return declare

    def plant(self, number: int) -> None:
        """Set the mutant's number. The protocols with this number then use the mutant's functions."""
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
    settings: Configuration = _PLAIN,
) -> Callable[[Callable[_Arguments, _Result]], Mutant]:
    """Return a decorator that turns a function into a Mutant with the function's name.

    `rule` is the rule that the function replaces, and `mistake` describes the mistake in one line. The decorator raises
    TypeError if the function cannot replace the rule, and ValueError if another mutant has the name.
    """

    def declare(function: Callable[_Arguments, _Result]) -> Mutant:
        name = function.__name__.replace("_", "-")
        if name in _names:
            raise ValueError(f"two defects are called {name}")
        _names.add(name)
        defect = Mutant(
            name=name, mistake=mistake, jira=jira, protocol=protocol, in_judging=in_judging, settings=settings
        )
        defect.and_in_place_of(rule)(function)
        return defect

    return declare


def declared_in(*modules: ModuleType) -> tuple[Mutant, ...]:
    """Return the mutants of some modules, in the order of their declarations."""
    return tuple(each for module in modules for each in vars(module).values() if isinstance(each, Mutant))


def _file(rule: Callable[..., Any]) -> str:
    return f"{rule.__module__.removeprefix('epochfuzz.').replace('.', '/')}.py"
