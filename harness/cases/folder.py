"""A directory of cases. A run adds new cases to it, and never changes existing ones."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from epochfuzz.harness.cases.case import Case, dump_case
from epochfuzz.harness.cases.corpus import load_corpus


def twin_of(case: Case, kept: Iterable[Case]) -> Case | None:
    """Return the first case in `kept` that makes `case` superfluous, or None.

    Such a case has equal events and settings, and an expectation for each protocol of `case`.
    """
    alike = (other for other in kept if (other.events, other.settings) == (case.events, case.settings))
    return next((other for other in alike if case.expect.keys() <= other.expect.keys()), None)


def under_a_free_id(case: Case, kept: Iterable[Case]) -> Case:
    """Return `case`, but with another id such as `loss-2` if a case in `kept` already has the id of `case`."""
    taken = {other.id for other in kept}
    number = 2
    name = case.id
    while name in taken:
        name, number = f"{case.id}-{number}", number + 1
    return replace(case, id=name)


def write_new(case: Case, path: Path) -> None:
    """Write a case to a new file in one step, so that a killed process leaves no incomplete case.

    Raises FileExistsError if the file exists, because it may belong to another process or to the user. Raises OSError.
    """
    text = dump_case(case)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        try:
            os.link(temporary, path)  # unlike os.replace, this never overwrites a file
        except (PermissionError, NotImplementedError):  # the file system has no hard links
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
    finally:
        temporary.unlink(missing_ok=True)


class CaseDirectory:
    """The cases of a directory. The constructor creates the directory if necessary.

    The constructor raises CaseError and OSError.
    """

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.cases = load_corpus([directory]) if any(directory.rglob("*.yaml")) else []

    def save(self, case: Case) -> Path | None:
        """Write a case to a new file. Returns the path; None if an existing case makes the new case superfluous.

        Raises OSError.
        """
        if twin_of(case, self.cases) is not None:
            return None
        case = under_a_free_id(case, self.cases)
        path = self.directory / f"{case.id}.yaml"
        write_new(case, path)
        self.cases.append(replace(case, path=path))
        return path
