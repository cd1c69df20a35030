"""`epochfuzz conform`: somebody's own implementation, run beside the model."""

import secrets
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands import options
from harness.commands.outcome import BadInput, Exit, console, print_json
from harness.conform.judge import Judgement
from model.configuration import Configuration

if TYPE_CHECKING:
    from harness.case import Case
    from harness.conform.finding import Finding
    from harness.conform.plan import Plan

_CORPUS = Path("corpus")


@options.configured()
def conform(
    *,
    settings: Configuration,
    command: Annotated[list[str], typer.Argument(help="The command that speaks the conformance protocol, after --.")],
    protocol: options.Protocols = ["kip-320"],  # noqa: B006 - typer reads the default, nobody writes to it
    judge: Annotated[
        Judgement, typer.Option("--judge", help="By the model, field by field, or by the promises to clients only.")
    ] = Judgement.LOCKSTEP,
    schedules: Annotated[int, typer.Option("--schedules", min=0, help="How many schedules to draw.")] = 2_000,
    seed: options.Seed = None,
    max_failures: Annotated[
        int | None, typer.Option("--max-failures", min=1, help="Stop once so many schedules have failed.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes of the subject at a time.")] = 1,
    timeout: Annotated[float, typer.Option("--timeout", min=0.01, help="Seconds that an answer may take.")] = 5.0,
    corpus: Annotated[
        list[Path] | None, typer.Option("--corpus", help="Cases to run first; ./corpus if there is one.")
    ] = None,
    cases_out: Annotated[Path, typer.Option("--out", help="Where findings are saved as cases.")] = Path(
        "conform-cases"
    ),
    json: options.Json = False,
) -> int:
    """Run your own implementation beside the model; shrink what differs.

    Examples:

    - `epochfuzz conform -- python -m tests.conform.subject`
    - `epochfuzz conform --protocol kip-101 --replicas 3 --jobs 2 -- ./my-broker --conformance`
    - `epochfuzz conform --judge promises --schedules 10000 --seed 7 --json -- node subject.js`
    """
    protocols = options.parse_protocols(protocol)
    cases = _load(corpus)
    if seed is None:
        seed = secrets.randbelow(1 << 32)

    # Imported here so that help and mistakes are answered before anything is compiled.
    from harness.conform import report
    from harness.conform.fault import SubjectUnable
    from harness.conform.plan import Plan
    from harness.conform.process import CommandError
    from harness.conform.run import run
    from harness.progress import show_search

    out = console(json)
    plan = Plan(tuple(command), protocols, settings, schedules, seed, cases, judge, timeout, jobs, max_failures)
    out.print(f"seed {seed} · {settings.text()}")
    try:
        with _left_on_sigterm(), show_search(out) as progress:
            outcome = run(plan, progress.doing)
    except SubjectUnable as unable:
        raise BadInput(f"the subject is unable to run this protocol and configuration: {unable}") from None
    except CommandError as error:
        raise BadInput(str(error)) from None
    saved = {}
    for number, finding in enumerate(outcome.findings):
        out.print(report.finding_text(finding))
        if finding.failure.sent and not finding.known_flaw:
            saved[number] = _save(finding, seed, cases_out)
            out.print(f"saved as {saved[number]}", markup=False)
    for line in report.summary(outcome, plan):
        out.print(line, markup=False)
    again = _command_line(plan)
    out.print(f"reproduce: {again}", markup=False, soft_wrap=True)
    if json:
        print_json({**report.document(outcome, plan, saved), "reproduce": again})
    if not outcome.conforms:
        return Exit.BROKEN
    if outcome.vacuous:
        out.print("This run says nothing: no event was ever applied, or no field ever shown.")
        return Exit.GOAL_UNMET
    return Exit.AS_EXPECTED


@contextmanager
def _left_on_sigterm() -> Iterator[None]:
    """SIGTERM raises an exception, so that the processes of the subject are ended."""
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _load(paths: list[Path] | None) -> list["Case"]:
    from harness.case import CaseError
    from harness.corpus import load_corpus

    if paths is None:
        paths = [_CORPUS] if _CORPUS.is_dir() else []
    try:
        return load_corpus(paths)
    except CaseError as error:
        raise BadInput(f"--corpus: {error}") from None


def _save(finding: "Finding", seed: int, directory: Path) -> Path:
    from harness.conform.cases import save_case

    try:
        return save_case(finding, seed, directory)
    except OSError as error:
        raise BadInput(f"--out: {error.filename}: {error.strerror}") from None


def _command_line(plan: "Plan") -> str:
    words = ["epochfuzz", "conform"]
    for protocol in plan.protocols:
        words += ["--protocol", protocol.name]
    for key, value in plan.settings.changed().items():
        words += [f"--{key.replace('_', '-')}", *([] if value is True else [str(value)])]
    if plan.judgement is not Judgement.LOCKSTEP:
        words += ["--judge", plan.judgement]
    return shlex.join([*words, "--schedules", str(plan.schedules), "--seed", str(plan.seed), "--", *plan.command])
