"""The command line: one application, its commands in the order in which people meet them."""

import sys
import traceback
from typing import Annotated, Any

import typer

from epochfuzz.harness.commands import (
    audit,
    bench,
    campaign,
    conform,
    corpus,
    explain,
    explore,
    fuzz,
    new_case,
    play,
    replay,
    report,
    selftest,
    shrink,
)
from epochfuzz.harness.commands.help import Command, Group, SparkCommand
from epochfuzz.harness.commands.output import INTERRUPTED, BadInput, Exit, complaints, end_broken_pipe
from epochfuzz.harness.extras import MissingExtra
from epochfuzz.harness.printable import paragraphs
from epochfuzz.harness.version import epochfuzz_version
from epochfuzz.strategies.project import ProjectError

_HELP = """Property-based fuzz testing of Kafka-style replication: find, shrink, certify and replay lost records.

Examples:

- `epochfuzz fuzz` walks random schedules, and shows the shortest that lose a record
- `epochfuzz replay corpus/documents/m1-loss.yaml --trace` shows one, step by step
- `epochfuzz explain no-committed-loss` says what a name means
"""
_ORDER = (
    "fuzz",
    "campaign",
    "replay",
    "report",
    "play",
    "new-case",
    "shrink",
    "corpus",
    "explore",
    "explain",
    "conform",
    "audit",
    "bench",
)


class _Commands(Group):
    """The commands in the order in which people meet them; Typer alone would put `campaign` last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, for help and completion."""
        return sorted(super().list_commands(ctx), key=lambda name: (*_ORDER, name).index(name))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"epochfuzz {epochfuzz_version()}")
        raise typer.Exit


app = typer.Typer(
    name="epochfuzz",
    cls=_Commands,
    help=_HELP,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """The options of epochfuzz itself; the help of the application is its own."""


app.command("fuzz", cls=Command)(fuzz.fuzz)
app.add_typer(campaign.app, name="campaign")
app.command("replay", cls=Command)(replay.replay)
app.command("play", cls=Command)(play.play)
app.command("report", cls=Command)(report.report)
app.command("shrink", cls=Command)(shrink.shrink)
app.add_typer(corpus.app, name="corpus")
app.command("explore", cls=Command)(explore.explore)
app.command("explain", cls=Command)(explain.explain)
app.command("conform", cls=Command)(conform.conform)
app.command("audit", cls=Command)(audit.audit)
app.command("new-case", cls=Command)(new_case.new_case)
app.command("bench", cls=SparkCommand)(bench.bench)
app.command("selftest", cls=Command)(selftest.selftest)


def main() -> None:
    """Run a command; its return value is the exit code, and bad input is one message on stderr."""
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:  # Typer's answer to Ctrl-C, which says nothing
            raise KeyboardInterrupt
        sys.stdout.flush()  # here, where it is noticed if nobody reads it
    except (BadInput, MissingExtra, ProjectError) as error:
        complaints().print(f"epochfuzz: {error}")
        sys.exit(Exit.BAD_INPUT)
    except typer.Exit as ended:
        sys.exit(ended.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        complaints().print("epochfuzz: interrupted")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        end_broken_pipe()
    except SystemExit as ended:  # rich and Typer end with 1, which would say that a property is broken
        if isinstance(ended.__context__, BrokenPipeError):
            end_broken_pipe()
        raise
    except Exception as error:
        if _is_usage_error(error):
            error.message = paragraphs(error.message)  # type: ignore[attr-defined]
            error.show()  # type: ignore[attr-defined]
            sys.exit(Exit.BAD_INPUT)
        sys.stderr.write(paragraphs(traceback.format_exc()))
        complaints().print("epochfuzz: this is a bug in epochfuzz; please report it with the lines above")
        sys.exit(Exit.INTERNAL)
    sys.exit(code)


def _is_usage_error(error: Exception) -> bool:
    return all(hasattr(error, name) for name in ("show", "exit_code", "message"))
