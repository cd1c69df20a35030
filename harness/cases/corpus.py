"""A corpus: case files in directories. No two cases of a corpus have the same id."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from epochfuzz.harness.cases.case import Case, CaseError, load_case


def find_cases(paths: Iterable[str | Path]) -> list[Path]:
    """Return the case files in `paths`: each file, and for each directory the sorted *.yaml files below it.

    Raises CaseError for a directory without a *.yaml file.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        files = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
        if not files:
            raise CaseError(path, None, "there is no case file (*.yaml) under this directory; name another")
        found |= dict.fromkeys(files)
    return list(found)


class CorpusError(CaseError):
    """Some files of a corpus are not valid cases, or repeat the id of another case.

    The message has a line for each such file. `cases` holds the cases of all other files.
    """

    def __init__(self, errors: Sequence[CaseError], cases: list[Case]) -> None:
        Exception.__init__(self, "\n".join(map(str, errors)))
        self.cases = cases


def load_corpus(paths: Iterable[str | Path]) -> list[Case]:
    """Return the cases in files and directories. Raises CorpusError, which names each faulty file and repeated id."""
    cases: dict[str, Case] = {}
    errors = []
    for path in find_cases(paths):
        try:
            _add(cases, load_case(path))
        except CaseError as error:
            errors.append(error)
    if errors:
        raise CorpusError(errors, list(cases.values()))
    return list(cases.values())


def _add(cases: dict[str, Case], case: Case) -> None:
    assert case.path is not None  # load_case sets the path
    if case.id in cases:
        message = f"id {case.id!r} is also the id of {cases[case.id].path}; change one of the two ids"
        raise CaseError(case.path, None, message)
    cases[case.id] = case
