"""Commands as Typer makes them, but for what their help shows, where defaults come from, and what must be installed."""

from typing import Any, ClassVar

from typer.core import TyperCommand, TyperGroup

from epochfuzz.harness import extras
from epochfuzz.harness.cli.environment.project_defaults import defaults_for


class Command(TyperCommand):
    """A command whose flags are shown without a type, and whose defaults a project may have said.

    `extra` names what it cannot do without.
    """

    extra: ClassVar[str | None] = None

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, `--help` among them."""
        return _without_types_of_flags(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the help, in which what switches a flag off has no column: it would leave none whole."""
        for parameter in self.params:
            parameter.secondary_opts = []
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options. Raises ProjectError, but not where a shell asks how a word may go on."""
        if not ctx.resilient_parsing:
            ctx.default_map = defaults_for(self.params)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run it. Raises MissingExtra before it has begun."""
        if self.extra is not None:
            extras.require(self.extra)
        return super().invoke(ctx)


class SparkCommand(Command):
    """A command that does its work on Spark."""

    extra = "spark"


class ClusterCommand(Command):
    """A command that talks to Kafka by its clients."""

    extra = "cluster"


class Group(TyperGroup):
    """The same for commands that have commands of their own."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, `--help` among them."""
        return _without_types_of_flags(super().get_params(ctx))


def _without_types_of_flags(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""  # Typer would show <bool>, and no flag takes that
    return parameters
