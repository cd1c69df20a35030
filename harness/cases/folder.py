"""A folder: a directory in which cases are kept, and which a run may add to without harm to what is there."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from epochfuzz.harness.cases.case import Case, dump_case
from epochfuzz.harness.cases.corpus import covers, load_corpus


def twin_of(case: Case, kept: Iterable[Case]) -> Case | None:
    """Return the one among some cases that says all that a case does; None where none does."""
    return next((other for other in kept if covers(other, case)), None)


def under_a_free_id(case: Case, kept: Iterable[Case]) -> Case:
    """Return the case, under another id if its own is taken."""
    taken = {other.id for other in kept}
    number = 2
    name = case.id
    while name in taken:
        name, number = f"{case.id}-{number}", number + 1
    return replace(case, id=name)


class Folder:
    """The cases of a directory, which is made if need be. Raises CaseError for files that are none, and OSError."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.cases = load_corpus([directory]) if any(directory.rglob("*.yaml")) else []

    def save(self, case: Case) -> Path | None:
        """Write a case into a file of its own; None where one that is there says all that it does. Raises OSError."""
        if twin_of(case, self.cases) is not None:
            return None
        case = under_a_free_id(case, self.cases)
        path = self.directory / f"{case.id}.yaml"
        with path.open("x", encoding="utf-8") as file:  # nothing is written over, whoever else writes here
            file.write(dump_case(case))
        self.cases.append(replace(case, path=path))
        return path
