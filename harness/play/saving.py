"""Saving: write a played schedule as a case file, after a check that the text reads back unchanged."""

import tempfile
from pathlib import Path

from epochfuzz.harness.cases.case import CaseError, dump_case, load_case
from epochfuzz.harness.cases.recording import recorded
from epochfuzz.harness.links.position import Position
from epochfuzz.harness.play.board import Board


class CannotSave(Exception):
    """A case that cannot be written. The message gives the reason and the remedy."""


class IsThere(CannotSave):
    """A file with this name already exists."""


def save(position: Position, slug: str, why: str, directory: Path, *, replace: bool) -> Path:
    """Write the whole schedule of a position as a case, and return the path of the file. Raises CannotSave.

    `slug` is the id of the case. If `why` is empty, the description of a run replaces it. The results of the model
    under every reference design and under the position's protocols become the expectations of the case. An existing
    file is replaced only if `replace` is true.
    """
    if not position.events:
        raise CannotSave("there is nothing to save: a case has at least one event")
    why = why.strip() or _why(position)
    text = dump_case(recorded(slug, why, position.events, position.settings, position.protocols))
    _check(text)
    file = directory / f"{slug}.yaml"
    try:
        with file.open("w" if replace else "x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise IsThere(f"{file} is there already: give the case another id, or replace the file") from None
    except OSError as error:
        raise CannotSave(f"{file}: cannot be written: {error.strerror}") from None
    return file


def _why(position: Position) -> str:
    """Describe the run of the first protocol that breaks a property, or else the run of the first protocol."""
    runs = Board(position).runs
    telling = next((run for run in runs if run.broken), runs[0])
    return f"Under {telling.protocol.name}: {telling.description}"


def _check(text: str) -> None:
    """Raise CannotSave unless the text reads back as an equal case."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "case.yaml"
        file.write_text(text, encoding="utf-8")
        try:
            loaded = load_case(file)
        except CaseError as error:
            raise CannotSave(f"this is not a case: {str(error).removeprefix(f'{file}:')}") from None
        if dump_case(loaded) != text:
            raise CannotSave("the case would not read back unchanged; simplify 'why'")
