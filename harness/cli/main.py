"""The application `epochfuzz`: it finds the module of a command, runs the command, and returns its exit code."""

import atexit
import errno
import gc
import os
import sys
import traceback
from importlib import import_module
from typing import Annotated, Any

import typer

from epochfuzz.harness.cli.environment.standard_streams import usable_standard_streams
from epochfuzz.harness.cli.help import ClientCommand, Command, Group, SparkCommand
from epochfuzz.harness.cli.output import INTERRUPTED, BadInput, Exit, complaints, end_broken_pipe
from epochfuzz.harness.environment.extras import MissingExtra
from epochfuzz.harness.environment.version import epochfuzz_version
from epochfuzz.harness.text.printable import paragraphs
from epochfuzz.strategies.project import ProjectError

_HELP = """Property-based fuzz testing of Kafka-style replication: find, shrink, certify and replay lost records.

Examples:

- `epochfuzz conform -- ./my-adapter` compares your broker with the model
- `epochfuzz fuzz` runs random schedules, and shows the shortest that lose a record
- `epochfuzz replay m1-loss --trace` shows a case step by step
- `epochfuzz explain no-committed-loss` explains a name
"""
# The commands, grouped by purpose, in the order in which users meet them. Each command has a module of the same name in
# harness/commands or in a folder below, which is imported on demand. The module has a function of that name or, for
# None, an application with subcommands.
_PANELS: dict[str, dict[str, type[Command] | None]] = {
    "Test something of yours": {
        "new-adapter": Command,
        "conform": Command,
        "serve": ClientCommand,
        "cluster": None,
        "audit": Command,
        "skill": Command,
    },
    "Test a protocol (our model, which does not change with your commits)": {
        "fuzz": Command,
        "campaign": None,
        "explore": Command,
        "shrink": Command,
    },
    "Look at cases": {
        "cases": Command,
        "replay": Command,
        "report": Command,
        "play": Command,
        "new-case": Command,
        "corpus": None,
        "explain": Command,
    },
    "See how good epochfuzz is": {"bench": SparkCommand, "selftest": Command},
}
_COMMANDS = {name: kind for panel in _PANELS.values() for name, kind in panel.items()}
_FOLDERS = {"new-adapter": "adapters.", "skill": "adapters.", "play": "servers.", "serve": "servers."}


class _Commands(Group):
    """A group that imports each command on demand. Importing all commands takes longer than a short command runs."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, for help and completion."""
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command with the name `cmd_name`, or None if no command has this name."""
        for name in [cmd_name] if cmd_name in _COMMANDS else _COMMANDS:  # the error message suggests similar names
            if name not in self.commands:
                self.commands[name] = _loaded(name)
        return super().get_command(ctx, cmd_name)


def _loaded(name: str) -> Any:
    module = import_module(f"epochfuzz.harness.commands.{_FOLDERS.get(name, '')}{name.replace('-', '_')}")
    kind = _COMMANDS[name]
    if kind is None:
        command: Any = typer.main.get_group(module.app)
        command.name = name
        return _in_its_panel(command)
    alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    alone.command(name, cls=kind)(getattr(module, name.replace("-", "_")))
    return _in_its_panel(typer.main.get_command(alone))


def _in_its_panel(command: Any) -> Any:
    command.rich_help_panel = next(panel for panel, names in _PANELS.items() if command.name in names)
    return command


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
    """Handle the options that need no command, such as `--version`. The application's help text is _HELP."""


_OBJECTS = 50_000  # new objects before a collection; with the default, 700, collections take a third of a replay's time


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_OF_THE_MACHINE = (
    *_FULL,
    *(errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES, errno.EPERM, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.EIO),
)


def main() -> None:
    """Run a command, and exit with its exit code. Bad input causes a single message on stderr."""
    gc.set_threshold(_OBJECTS)
    atexit.register(gc.freeze)  # collections at the end of the interpreter take 0.4 s once Numba is imported
    with usable_standard_streams():
        try:
            sys.exit(_exit_code())
        finally:
            # After a KeyboardInterrupt that left an `exec`, as in Numba, Python ends with SIGINT in place of the exit
            # code. Another `exec` forgets the interruption (run_eval_code_obj in CPython's pythonrun.c).
            exec("")


def _exit_code() -> int:
    try:
        return _run()
    except (BadInput, MissingExtra, ProjectError) as error:
        complaints().print(f"epochfuzz: {error}")
        return Exit.BAD_INPUT
    except typer.Exit as ended:
        return ended.exit_code
    except (typer.Abort, KeyboardInterrupt):
        complaints().print("epochfuzz: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        return end_broken_pipe()
    except SystemExit as ended:  # rich and Typer exit with 1, the code of a broken property
        if isinstance(ended.__context__, BrokenPipeError):
            return end_broken_pipe()
        raise
    except Exception as error:
        if _is_usage_error(error):
            error.message = paragraphs(error.message)  # type: ignore[attr-defined]
            error.show()  # type: ignore[attr-defined]
            return Exit.BAD_INPUT
        if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
            complaints().print(f"epochfuzz: {_sentence(error)}")
            return Exit.BAD_INPUT
        sys.stderr.write(paragraphs(traceback.format_exc()))
        complaints().print("epochfuzz: this is a bug in epochfuzz; please report it with the lines above")
        return Exit.INTERNAL


def _sentence(error: OSError) -> str:
    """Return a message with advice for an error of the operating system, such as a full disk."""
    where = "" if error.filename is None else f"{error.filename}: "
    advice = "use another file or directory"
    if error.errno in _FULL:
        advice = "make room, or set XDG_CACHE_HOME (compiled code) and TMPDIR (temporary files) to another disk"
    return f"{where}{error.strerror}; {advice}"


def _run() -> int:
    """Run the command, and return its exit code. Raises BadInput if the working directory was removed."""
    try:
        os.getcwd()
    except OSError as error:
        raise BadInput(f"the working directory: {error.strerror}; change to another directory") from None
    try:
        code: int = app(standalone_mode=False)
    finally:
        sys.stdout.flush()  # raises the errors of standard output here, and not at exit
    if code == INTERRUPTED:  # Typer returns this after Ctrl-C, and prints nothing
        raise KeyboardInterrupt
    return code


def _is_usage_error(error: Exception) -> bool:
    return all(hasattr(error, name) for name in ("show", "exit_code", "message"))
