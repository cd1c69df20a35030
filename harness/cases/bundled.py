"""The cases that are installed with epochfuzz, next to the code.

A command that reads a case file also accepts the id of an installed case, such as `m1-loss`, or of a case for clients.
"""

import difflib
import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epochfuzz.harness.cases.case import Case

CORPUS = Path(__file__).resolve().parents[2] / "corpus"  # next to harness/, in a checkout and in a wheel
FOR_CLIENTS = Path(__file__).resolve().parents[1] / "conform" / "client" / "cases"


@functools.cache
def bundled_cases() -> tuple["Case", ...]:
    """Return all installed cases except those for clients, sorted by folder and id."""
    from epochfuzz.harness.cases.corpus import load_corpus

    return tuple(load_corpus([CORPUS]))


def files() -> dict[str, Path]:
    """Return the file of each case in `bundled_cases`: a dictionary from id to path, sorted by folder and id."""
    return {file.stem: file for file in sorted(CORPUS.glob("*/*.yaml"))}


def _all_files() -> dict[str, Path]:
    return files() | {file.stem: file for file in sorted(FOR_CLIENTS.glob("*.yaml"))}


def located(path: Path) -> Path:
    """Return `path`, or the case file if `path` does not exist and is the id of an installed case."""
    if os.path.exists(path) or path.suffix or len(path.parts) != 1:  # also True for a name that is too long
        return path
    return _all_files().get(path.name, path)


def missing(path: Path) -> str:
    """Return the error message for a path that does not exist and is not the id of an installed case."""
    if path.suffix or len(path.parts) != 1:
        return "the file does not exist; check the path"
    near = difflib.get_close_matches(path.name, _all_files(), n=1)
    meant = f"did you mean {near[0]!r}?" if near else "check the path"
    return f"the file does not exist, and epochfuzz has no case with that id; {meant}"
