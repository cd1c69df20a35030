"""The corpus: case files in directories, each known by its id."""

from collections.abc import Iterable
from pathlib import Path

from epochfuzz.harness.cases.case import Case, CaseError, load_case


def find_cases(paths: Iterable[str | Path]) -> list[Path]:
    """The case files among `paths`: files as named, and every *.yaml under a directory, sorted. Raises CaseError."""
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        files = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
        if not files:
            raise CaseError(path, None, "there is no case file (*.yaml) under this directory; name another")
        found |= dict.fromkeys(files)
    return list(found)


def load_corpus(paths: Iterable[str | Path]) -> list[Case]:
    """The cases in files and directories, each id once. Raises CaseError for the first file at fault."""
    cases: dict[str, Case] = {}
    for path in find_cases(paths):
        case = load_case(path)
        if case.id in cases:
            message = f"id {case.id!r} is also that of {cases[case.id].path}; give one of them another"
            raise CaseError(path, None, message)
        cases[case.id] = case
    return list(cases.values())


def covers(kept: Case, other: Case) -> bool:
    """Whether a case has the events and the configuration of another one, and expectations of all its protocols."""
    return kept.events == other.events and kept.settings == other.settings and other.expect.keys() <= kept.expect.keys()
