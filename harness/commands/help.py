"""Commands as Typer makes them, but for what their help shows, and what they need to be installed."""

from typing import Any, ClassVar

from typer.core import TyperCommand, TyperGroup

from epochfuzz.harness import extras


class Command(TyperCommand):
    """A command whose flags are shown without a type. `extra` names what it cannot do without."""

    extra: ClassVar[str | None] = None

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, `--help` among them."""
        return _without_types_of_flags(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run it. Raises MissingExtra before it has begun."""
        if self.extra is not None:
            extras.require(self.extra)
        return super().invoke(ctx)


class SparkCommand(Command):
    """A command that does its work on Spark."""

    extra = "spark"


class Group(TyperGroup):
    """The same for commands that have commands of their own."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, `--help` among them."""
        return _without_types_of_flags(super().get_params(ctx))


def _without_types_of_flags(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""  # Typer would show <bool>, and no flag takes that
    return parameters
