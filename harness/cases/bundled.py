"""The cases that epochfuzz brings with it: those of its corpus, installed beside the code, each known by its id."""

import difflib
import os
from pathlib import Path

CORPUS = Path(__file__).resolve().parents[2] / "corpus"  # in a checkout beside harness/, in a wheel too


def located(path: Path) -> Path:
    """Return the file of the case of that id where a path leads nowhere and is a bare name, else the path itself."""
    if os.path.exists(path) or path.suffix or len(path.parts) != 1:  # also where a name is too long to be one
        return path
    return _by_id().get(path.name, path)


def missing(path: Path) -> str:
    """Return what to say of a path that leads nowhere, and is the id of no case either."""
    if path.suffix or len(path.parts) != 1:
        return "there is no such file; check the path"
    near = difflib.get_close_matches(path.name, _by_id(), n=1)
    meant = f"did you mean {near[0]!r}?" if near else "check the path"
    return f"there is no such file, and no case of that id comes with epochfuzz; {meant}"


def _by_id() -> dict[str, Path]:
    return {file.stem: file for file in CORPUS.glob("*/*.yaml")}
