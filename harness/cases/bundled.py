"""Bundled cases: the cases of epochfuzz's own corpus, installed next to the code, and known by their ids."""

import difflib
import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epochfuzz.harness.cases.case import Case

CORPUS = Path(__file__).resolve().parents[2] / "corpus"  # next to harness/, in a checkout and in a wheel


@functools.cache
def bundled_cases() -> tuple["Case", ...]:
    """Return all bundled cases, in the order of their folders and ids."""
    from epochfuzz.harness.cases.corpus import load_corpus

    return tuple(load_corpus([CORPUS]))


def files() -> dict[str, Path]:
    """Return the files of all bundled cases by id, in the order of their folders."""
    return {file.stem: file for file in sorted(CORPUS.glob("*/*.yaml"))}


def located(path: Path) -> Path:
    """Return the file of a bundled case, if the path doesn't exist and is the id of that case.

    Any other path is returned unchanged.
    """
    if os.path.exists(path) or path.suffix or len(path.parts) != 1:  # also True for a name that is too long
        return path
    return files().get(path.name, path)


def missing(path: Path) -> str:
    """Return a message about a path that doesn't exist, and is not the id of a bundled case either."""
    if path.suffix or len(path.parts) != 1:
        return "the file does not exist; check the path"
    near = difflib.get_close_matches(path.name, files(), n=1)
    meant = f"did you mean {near[0]!r}?" if near else "check the path"
    return f"the file does not exist, and epochfuzz has no case with that id; {meant}"
