"""Classes of Typer commands. They adapt the help, take defaults from the project, and check optional dependencies."""

import re
from typing import Any, ClassVar

from typer.core import TyperCommand, TyperGroup

from epochfuzz.harness.cli.environment.project_defaults import defaults_for
from epochfuzz.harness.cli.output import BadInput
from epochfuzz.harness.environment import extras
from epochfuzz.harness.links.play_link import address_in_environment

_LARGEST: dict[type, int] = {float: 10**9, int: 2**63 - 1}  # seconds or GiB, and the largest integer of machine code
_COMMAND_TO_RUN = "command"  # the argument with the words of a command, which may be empty


class Command(TyperCommand):
    """A Typer command that takes defaults for its options from the project's pyproject.toml.

    `extra` names the optional dependency that the command needs, or is None.
    """

    extra: ClassVar[str | None] = None

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, including `--help`. The help shows no type for flags."""
        return _without_types_of_flags(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help without the `--no-` forms of flags.

        A column for these forms would leave too little room for the other columns.
        """
        for parameter in self.params:
            parameter.secondary_opts = []
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options, and return the remaining words. Omitted options get the project's defaults.

        Raises ProjectError and BadInput, but not during completion by a shell.
        """
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        address_in_environment()  # raises an error before the run, and not after its results
        ctx.default_map = defaults_for(self.params)
        given = self.make_parser(ctx).parse_args(list(args))[0]
        self._refuse_empty(given)
        try:
            rest = super().parse_args(ctx, args)
        except Exception as error:
            rejected, must = getattr(error, "param", None), _must(error)
            if rejected is None or must is None:
                raise
            raise BadInput(f"{_shown(rejected)} must be {must}; got {given[rejected.name]!r}") from None
        self._refuse_too_large(ctx.params)
        return rest

    def _refuse_empty(self, given: dict[str, Any]) -> None:
        """Raise BadInput for an empty value. For a path, an empty value would mean the working directory."""
        for parameter in self.params:
            value = given.get(parameter.name)
            if parameter.name != _COMMAND_TO_RUN and "" in (value if isinstance(value, (list, tuple)) else (value,)):
                raise BadInput(f"{_shown(parameter)}: the value is empty; give a value")

    def _refuse_too_large(self, values: dict[str, Any]) -> None:
        """Raise BadInput for a number that is too large for the system's clock, memory or counters."""
        for parameter in self.params:
            value: Any = values.get(parameter.name)
            most = _LARGEST.get(type(value), 0)
            if most and not value <= most:  # also true for nan
                raise BadInput(f"{parameter.opts[0]} must be at most {most}; got {value}")

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises MissingExtra if the optional dependency `extra` is not installed."""
        if self.extra is not None:
            extras.require(self.extra)
        return super().invoke(ctx)


class SparkCommand(Command):
    """A command that runs on Spark."""

    extra = "spark"


class ClientCommand(Command):
    """A command that serves Kafka clients."""

    extra = "client"


class ClusterCommand(Command):
    """A command that needs a Kafka client library."""

    extra = "cluster"


class Group(TyperGroup):
    """A group of subcommands. The group's help shows no type for flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, including `--help`. The help shows no type for flags."""
        return _without_types_of_flags(super().get_params(ctx))


def _must(error: Exception) -> str | None:
    """Return the form that a rejected value must have, such as `at least 1`.

    None if the error does not reject a value.
    """
    parameter, message = getattr(error, "param", None), str(getattr(error, "message", ""))
    _, is_choice, choices = message.partition(" is not one of ")
    if parameter is None or not (is_choice or "Input should be" in message):
        return None
    if is_choice:
        *others, last = re.findall(r"'([^']+)'", choices)
        return f"{', '.join(others)} or {last}"
    kind = "a whole number" if "integer" in message else "a number" if "unable to parse" in message else ""
    low, high = parameter.min, parameter.max
    bounds = f"from {low} to {high}" if None not in (low, high) else f"at least {low}" if low is not None else ""
    joint = " of " if kind and bounds.startswith("at") else " "
    return f"{kind}{joint}{bounds}".strip() or message


def _shown(parameter: Any) -> str:
    """Return the name of a parameter as the help shows it: `--seed` for an option, `DIR` for an argument."""
    name: str = parameter.opts[0]
    return name if name.startswith("-") else parameter.metavar or name.upper()


def _without_types_of_flags(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""  # Typer would show <bool>, but a flag takes no value
    return parameters
