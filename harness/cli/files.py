"""Write the files that options such as `--report FILE` name.

A command replaces an existing file only if the file has the format that the command writes.
"""

import os
import re
import stat
from enum import Enum
from pathlib import Path

from epochfuzz.harness.cli.output import BadInput

_BEGINNING = 4000  # bytes of a file that show its kind


class FileKind(Enum):
    """The formats of files that commands write.

    Each format has a description for messages, and a regular expression that matches the beginning of its files.
    """

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
    """Raise BadInput if a file cannot be written, or exists in another format than `kind`.

    Commands call this function before a long run.
    """
    if (reason := _why_not_writable(path, kind)) is not None:
        raise BadInput(f"{option}: {path}: {reason}; name another file")


def write_file(path: Path, text: str, kind: FileKind) -> None:
    """Write a file. Raises BadInput if the file cannot be written, or exists in another format than `kind`."""
    if (reason := _why_not_writable(path, kind)) is not None:
        raise BadInput(f"{path}: {reason}; name another file")
    _write(path, text, "w")


def write_new_file(path: Path, text: str) -> None:
    """Write a new file, and create its directory if necessary.

    Raises BadInput if the file exists or cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
    _write(path, text, "x")


def rewrite_file(path: Path, text: str) -> None:
    """Write a file, and replace any content. Raises BadInput if the file cannot be written."""
    _write(path, text, "w")


def _write(path: Path, text: str, mode: str) -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


def _why_not_writable(path: Path, kind: FileKind) -> str | None:
    """Return the reason why a file cannot be written, or must not be replaced. None if there is no reason."""
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
