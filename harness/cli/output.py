"""How a command ends: exit codes, one JSON document on stdout, everything else on stderr."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from rich.console import Console
from rich.table import Table

from epochfuzz.harness.views.console import PrintableConsole
from epochfuzz.harness.views.unpadded import Unpadded

INTERRUPTED = 130  # as a shell reports a command that SIGINT ended
PIPE_CLOSED = 141  # the same for SIGPIPE
_PIPED_WIDTH = 100  # columns
_UNLIMITED = 10_000


class Exit(IntEnum):
    """The exit codes, the same for every command."""

    AS_EXPECTED = 0
    BROKEN = 1  # a property broken where it should hold, or a case not as it expects
    BAD_INPUT = 2
    INTERNAL = 3  # an internal error, or results that differ where they must not
    GOAL_UNMET = 4  # a vacuous run, or a search that could not finish


class BadInput(Exception):
    """Something the user gave cannot be used; the message says what, where, and what to do."""


@contextmanager
def as_bad_input(kind: type[Exception]) -> Iterator[None]:
    """Turn errors of a kind into bad input: the message is all that is said of them."""
    try:
        yield
    except kind as error:
        raise BadInput(str(error)) from None


def end_broken_pipe() -> NoReturn:
    """End because nobody reads stdout any more; what is still to be flushed there goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(PIPE_CLOSED)


def console(json_wanted: bool) -> Console:
    """Where a command prints for people: stdout, or stderr when stdout is for JSON."""
    stream = sys.stderr if json_wanted else sys.stdout
    if stream.isatty():
        return PrintableConsole(file=stream, highlight=False, emoji=False)
    return PrintableConsole(file=cast(IO[str], Unpadded(stream)), width=_PIPED_WIDTH, highlight=False, emoji=False)


def complaints() -> Console:
    """Where a command says what is wrong: text as it is, be there a `:100:` or a `[bold]` in it."""
    return PrintableConsole(stderr=True, highlight=False, emoji=False, markup=False, soft_wrap=True)


def print_table(out: Console, table: Table) -> None:
    """Print a table; where no terminal limits it, as wide as it has to be for every cell to be whole."""
    if out.is_terminal:
        out.print(table)
    else:
        PrintableConsole(file=out.file, width=_UNLIMITED, emoji=False).print(table)


def print_json(document: Mapping[str, Any]) -> None:
    """Print the one JSON document of a command."""
    json.dump(document, sys.stdout, indent=2)
    sys.stdout.write("\n")


def write_file(path: Path, text: str, *, in_new_directory: bool = False) -> None:
    """Write a file that was asked for, in a directory that may have to be made. Raises BadInput if that fails."""
    try:
        if in_new_directory:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
