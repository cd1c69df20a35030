"""Output and exit codes of commands. With --json, stdout has one JSON document, and stderr has everything else."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from typing import IO, Any, cast

from rich.console import Console
from rich.table import Table

from epochfuzz.harness.views.console import PrintableConsole
from epochfuzz.harness.views.unpadded import Unpadded

INTERRUPTED = 130  # a shell's exit code for SIGINT
PIPE_CLOSED = 141  # a shell's exit code for SIGPIPE
_PIPED_WIDTH = 100  # columns
_UNLIMITED = 10_000


class Exit(IntEnum):
    """The exit codes, which are the same in every command."""

    AS_EXPECTED = 0
    BROKEN = 1  # a property broke that should hold, or a case differs from its expectation
    BAD_INPUT = 2
    INTERNAL = 3  # an internal error, or results that differ between equal runs
    GOAL_UNMET = 4  # a run that checked nothing, or a search that could not finish


class BadInput(Exception):
    """Input that cannot be used. The message states the problem, the place and the remedy."""


@contextmanager
def as_bad_input(kind: type[Exception] | tuple[type[Exception], ...], option: str | None = None) -> Iterator[None]:
    """Turn errors of the given class or classes in this block into BadInput.

    If given, `option` is the beginning of the message.
    """
    try:
        yield
    except kind as error:
        raise BadInput(str(error) if option is None else f"{option}: {error}") from None


@contextmanager
def files_as_bad_input(option: str) -> Iterator[None]:
    """Turn an OSError in this block into BadInput. The message names `option`, the file and the reason."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{option}: {error.filename}: {error.strerror}") from None


def end_broken_pipe() -> int:
    """Discard the remaining output, because the reader of stdout has closed the pipe. Returns the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def console(json_wanted: bool) -> Console:
    """Return the console for texts to the user. The console writes to stderr if stdout is for JSON, else to stdout."""
    stream = sys.stderr if json_wanted else sys.stdout
    if stream.isatty():
        return PrintableConsole(file=stream, highlight=False, emoji=False)
    return PrintableConsole(file=cast(IO[str], Unpadded(stream)), width=_PIPED_WIDTH, highlight=False, emoji=False)


def complaints() -> Console:
    """Return the console for error messages, on stderr, where texts such as `:100:` and `[bold]` stay unchanged."""
    return PrintableConsole(stderr=True, highlight=False, emoji=False, markup=False, soft_wrap=True)


def print_table(out: Console, table: Table) -> None:
    """Print a table. If the output is not a terminal, the table is as wide as its cells need."""
    if out.is_terminal:
        out.print(table)
    else:
        PrintableConsole(file=out.file, width=_UNLIMITED, emoji=False).print(table)


def print_json(document: Mapping[str, Any]) -> None:
    """Print the JSON document of a command."""
    json.dump(document, sys.stdout, indent=2)
    sys.stdout.write("\n")
