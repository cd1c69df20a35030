"""Write the files that a user names. A command replaces a file only if it has the kind that the command writes."""

import os
import re
import stat
from enum import Enum
from pathlib import Path

from epochfuzz.harness.cli.output import BadInput

_BEGINNING = 4000  # bytes of a file that show its kind


class FileKind(Enum):
    """The kinds of files that commands write: a name for messages, and the expression that finds the kind in a file."""

    HTML = "an HTML page", r"(?i)\s*<!doctype html>"
    SARIF = "a SARIF file", r'\s*\{\s*"\$schema": "[^"]*sarif'
    BENCHMARK = "results of epochfuzz bench", "# Benchmark results\n"
    TERMINAL = "a drawing for the terminal", r"(?m)(?:.*\n){1,6}?Start: "
    SVG = "an SVG drawing", "<svg "
    MERMAID = "a Mermaid diagram", "sequenceDiagram\n"
    TLA = "a TLA+ module", "-{4,} MODULE "
    ITF = "an ITF trace", r'\s*\{\s*"#meta": '

    def __init__(self, description: str, beginning: str) -> None:
        self.description = description
        self.beginning = re.compile(beginning)


def check_writable(option: str, path: Path, kind: FileKind) -> None:
    """Raise BadInput, before the work starts, if a file cannot be written, or if a file of another kind is there."""
    if (reason := _why_not_writable(path, kind)) is not None:
        raise BadInput(f"{option}: {path}: {reason}; name another file")


def write_file(path: Path, text: str, kind: FileKind) -> None:
    """Write a requested file. It replaces only a file of the same kind. Raises BadInput."""
    if (reason := _why_not_writable(path, kind)) is not None:
        raise BadInput(f"{path}: {reason}; name another file")
    _write(path, text, "w")


def write_new_file(path: Path, text: str) -> None:
    """Write a file, if necessary in a new directory. Raises BadInput if that fails, or if the file is there already."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
    _write(path, text, "x")


def rewrite_file(path: Path, text: str) -> None:
    """Write a file that the user wants changed, or that this command has written before. Raises BadInput."""
    _write(path, text, "w")


def _write(path: Path, text: str, mode: str) -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


def _why_not_writable(path: Path, kind: FileKind) -> str | None:
    """Return the reason why a file must not or cannot be written; None if it may."""
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            return "it is a directory"
        if stat.S_ISREG(found.st_mode) and found.st_size and not _is_of(path, kind):
            return f"it is there already, and is not {kind.description}"
        return None if os.access(path, os.W_OK) else "you may not write it"
    except FileNotFoundError:
        if not path.parent.is_dir():
            return f"cannot be written: there is no directory {path.parent}"
        return None if os.access(path.parent, os.W_OK) else f"you may not write into {path.parent}"
    except OSError as error:
        return f"cannot be written: {error.strerror}"


def _is_of(path: Path, kind: FileKind) -> bool:
    with path.open("rb") as file:
        return kind.beginning.match(file.read(_BEGINNING).decode(errors="replace")) is not None
