"""How a command ends: exit codes, one JSON document on stdout, everything else on stderr."""

import json
import sys
from enum import IntEnum
from pathlib import Path
from typing import Any

from rich.console import Console


class Exit(IntEnum):
    """The exit codes, the same for every command."""

    AS_EXPECTED = 0
    BROKEN = 1  # a property broken where it should hold, or a case not as it expects
    BAD_INPUT = 2
    INTERNAL = 3  # an internal error, or results that differ where they must not
    GOAL_UNMET = 4  # a vacuous run, or a search that could not finish


class BadInput(Exception):
    """Something the user gave cannot be used; the message says what, where, and what to do."""


def console(json_wanted: bool) -> Console:
    """Where a command prints for people: stdout, or stderr when stdout is for JSON."""
    stream = sys.stderr if json_wanted else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else 100, highlight=False, soft_wrap=False)


def print_json(document: dict[str, Any]) -> None:
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
