"""The options of `epochfuzz conform` as a request, and the command line that repeats the run.

Importing this module compiles nothing.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from epochfuzz.harness.cli import options
from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.run.selection import CLIENTS_FOR, SMALL, selection_for

if TYPE_CHECKING:
    from epochfuzz.harness.conform.run.plan import Plan

OUT = Path("conform-cases")
PROCESSES_FOR = 50
TOURS_FOR = 2_000  # test sequences per process: they are short, and a new process is slow to start


@dataclass(frozen=True, kw_only=True)
class ConformRequest:
    """The options of `epochfuzz conform`, except the options that the Plan (the request of the run itself) holds.

    `certify` is the time for shrinking and proofs in seconds; None: no limit. `is_certify_given` tells whether the user
    typed --certify, because the default of --certify depends on the adapter's speed. `resumes` tells whether a killed
    run of random schedules can resume from the directory `cases`.
    """

    out: Console
    json: bool
    exhaustive: bool
    refused: bool
    for_: str | None
    seconds: float | None
    jobs: int | None
    corpus: list[Path] | None
    known: Path | None
    cases: Path
    resumes: bool
    campaign: str | None
    master: str | None
    remote: str | None
    certify: float | None
    is_certify_given: bool

    def again(self, plan: "Plan") -> str:
        """Return the command line that repeats or resumes the run."""
        if self.exhaustive:
            return _tours_line(plan, self)
        return _command_line(plan, self)


def default_processes_for(*, exhaustive: bool, is_client: bool) -> int:
    """Return the default of --processes-for: the number of schedules that a process runs."""
    if exhaustive:
        return TOURS_FOR
    return CLIENTS_FOR if is_client else PROCESSES_FOR


def _command_line(plan: "Plan", asked: ConformRequest) -> str:
    words = _words(plan, asked, options.words_of(plan.settings))
    if plan.selection is not selection_for(plan.judged_by, is_client=plan.is_client):
        words += ["--selection", plan.selection]
    for path in asked.corpus or []:
        words += ["--corpus", str(path)]
    if asked.resumes:
        words += ["--out", str(asked.cases)]
    if asked.campaign is not None:
        words += ["--campaign", asked.campaign, *(["--for", asked.for_] if asked.for_ else [])]
    return shlex.join([*words, "--schedules", str(plan.schedules), "--seed", str(plan.seed), "--", *plan.command])


def _tours_line(plan: "Plan", asked: ConformRequest) -> str:
    settings = options.words_of(plan.settings)
    for name in SMALL:
        if f"--{name}" not in settings:
            settings += [f"--{name}", str(getattr(plan.settings, name))]
    words = [*_words(plan, asked, settings), "--exhaustive"]
    words += ["--refused"] if asked.refused else []
    words += ["--for", asked.for_] if asked.for_ else []
    words += ["--out", str(asked.cases)] if asked.cases != OUT else []
    words += ["--campaign", asked.campaign] if asked.campaign is not None else []
    return shlex.join([*words, "--", *plan.command])


def _words(plan: "Plan", asked: ConformRequest, settings: list[str]) -> list[str]:
    """Return the first words of a command line for a random or an exhaustive run, including the words in `settings`."""
    from epochfuzz.harness.conform.protocol.subject import PATIENCE

    words = ["epochfuzz", "conform"]
    for protocol in plan.protocols:
        words += ["--protocol", protocol.name]
    words += [*settings, *(["--client"] if plan.is_client else [])]
    if plan.judged_by is not JudgedBy.LOCKSTEP:
        words += ["--judge", plan.judged_by]
    if plan.max_failures is not None:
        words += ["--max-failures", str(plan.max_failures)]
    if plan.processes_for != default_processes_for(exhaustive=asked.exhaustive, is_client=plan.is_client):
        words += ["--processes-for", str(plan.processes_for)]
    if plan.patience != PATIENCE:
        words += ["--timeout", f"{plan.patience:g}"]
    if asked.known is not None:
        words += ["--known", str(asked.known)]
    if asked.campaign is not None and asked.jobs is not None:
        words += ["--jobs", str(asked.jobs)]
    return words
