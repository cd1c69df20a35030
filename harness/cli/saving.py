"""Save the findings of random runs as case files, as `--out` and `--new` request."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cases.folder import CaseDirectory
from epochfuzz.harness.cli.cases import known_cases, mistakes_as_bad_input
from epochfuzz.harness.cli.output import BadInput, files_as_bad_input

if TYPE_CHECKING:
    from epochfuzz.harness.findings.findings import Finding, ScheduleEngine


@dataclass(frozen=True)
class Saving:
    """The directory for case files of findings.

    If `corpus` is given, `save` leaves out the findings that a case of the corpus shows or that an issue or KIP
    describes.
    """

    folder: CaseDirectory
    corpus: Sequence[Case] | None

    @staticmethod
    def asked(directory: Path | None, new: bool, corpus: Path | None) -> "Saving | None":
        """Return the values of --out, --new and --corpus as a Saving, or None without --out. Raises BadInput."""
        if corpus is not None and not new:
            raise BadInput("--corpus needs --new")
        if directory is None:
            if new:
                raise BadInput("--new needs --out DIR")
            return None
        known = known_cases(corpus) if new else None
        with mistakes_as_bad_input():
            try:
                return Saving(CaseDirectory(directory), known)
            except OSError as error:
                raise BadInput(f"--out: {directory}: {error.strerror}") from None

    def save(self, walker: "ScheduleEngine", findings: "Sequence[Finding]") -> list[str]:
        """Save the findings as new case files, except for findings that the directory already has. Returns the paths.

        Raises BadInput.
        """
        from epochfuzz.harness.cases.comparison import news
        from epochfuzz.harness.cases.found_case import case_for

        chosen = findings if self.corpus is None else news(findings, walker.settings, self.corpus)
        with files_as_bad_input("--out"):
            paths = [self.folder.save(case_for(finding, walker.seed, "A walk")) for finding in chosen]
        return [str(path) for path in paths if path is not None]

    def tell(self, out: Console, saved: Sequence[str]) -> None:
        """Print the names of the saved files."""
        for path in saved:
            out.print(f"saved {path}", markup=False, soft_wrap=True)
        if not saved:
            out.print(f"nothing new to save in {self.folder.directory}", markup=False, soft_wrap=True)
