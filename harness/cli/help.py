"""Commands: adapt Typer's help, take defaults from the project, and check for optional dependencies."""

from typing import Any, ClassVar

from typer.core import TyperCommand, TyperGroup

from epochfuzz.harness.cli.environment.project_defaults import defaults_for
from epochfuzz.harness.environment import extras


class Command(TyperCommand):
    """A command that shows its flags without a type, and takes its defaults from the project.

    `extra` names the optional dependency that the command needs.
    """

    extra: ClassVar[str | None] = None

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, including `--help`."""
        return _without_types_of_flags(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the help without the negative forms of flags, whose column would truncate all other columns."""
        for parameter in self.params:
            parameter.secondary_opts = []
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options. Raises ProjectError, but not during completion by a shell."""
        if not ctx.resilient_parsing:
            ctx.default_map = defaults_for(self.params)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises MissingExtra before it starts."""
        if self.extra is not None:
            extras.require(self.extra)
        return super().invoke(ctx)


class SparkCommand(Command):
    """A command that runs on Spark."""

    extra = "spark"


class ClusterCommand(Command):
    """A command that uses Kafka's clients."""

    extra = "cluster"


class Group(TyperGroup):
    """A group of commands, with flags shown without a type."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, including `--help`."""
        return _without_types_of_flags(super().get_params(ctx))


def _without_types_of_flags(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""  # Typer would show <bool>, but a flag takes no value
    return parameters
