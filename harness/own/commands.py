"""Run fuzz and replay on a user's own model, and describe each event in the words of the model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from epochfuzz.harness.cases.case import Case, CaseError
from epochfuzz.harness.cli.output import BadInput, Exit, as_bad_input, console, print_json, print_table
from epochfuzz.harness.cli.runs.fuzz_request import FuzzRequest
from epochfuzz.harness.cli.walk_results import tell_unfinished
from epochfuzz.harness.documents import searches as documents
from epochfuzz.harness.engine.walk import walking
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.harness.findings import findings as fuzzing
from epochfuzz.harness.own.case import load_case
from epochfuzz.harness.own.loading import mistakes_as_bad_input, protocol_of
from epochfuzz.harness.own.timeline import OwnRun, describe, print_lines
from epochfuzz.harness.views import summary
from epochfuzz.harness.views.progress import show_walk
from epochfuzz.model.core.model import Model


def fuzz(asked: FuzzRequest, protocols: Sequence[Any]) -> int:
    """Run random schedules under protocols of a user's own model, and shrink the failures. Returns the exit code."""
    out, settings = asked.out, asked.settings
    out.print(f"seed {asked.seed} · {settings.text()}", markup=False)
    with show_walk(out, asked.schedules, asked.seconds) as progress, mistakes_as_bad_input():
        walker = Walker(protocols, settings, asked.seed)
        walked = walking.walk(walker, asked.schedules, asked.seconds, asked.threads, progress.walked)
        broken = fuzzing.all_breaches(walker.protocols, walked.tally)
        found = fuzzing.findings(walker, broken, progress, asked.certify)
    for each in found.findings:
        print_lines(out, describe(each.reproducer.schedule, each.protocol, settings))
        seen = f"{each.seen:,} of {walked.tally.schedules:,} schedules broke it"
        out.print(f"{summary.standing(each)}; {seen}", markup=False)
    for each in protocols:
        if all(each != breach.protocol for breach in broken):
            out.print(f"{each.name} broke nothing", markup=False)
    out.print(summary.pace(walked))
    if asked.json:
        document = {
            "model": walker.model.name,
            "seed": asked.seed,
            "schedules": walked.tally.schedules,
            "configuration": settings.changed(),
        }
        plain, keys = [each.plain().items() for each in found.findings], documents.OwnFinding.__annotations__
        print_json(document | {"findings": [{key: value for key, value in each if key in keys} for each in plain]})
    tell_unfinished(out, found)
    if walked.interrupted:
        raise KeyboardInterrupt
    return Exit.BROKEN if found.findings else Exit.AS_EXPECTED


def replay(model: Model, paths: Sequence[Path], protocols: Sequence[str], *, trace: bool, json: bool) -> int:
    """Replay case files, and print whether each protocol meets the expectations of the case. Returns the exit code.

    Without `protocols`, each case runs under the protocols that it names. `trace` prints a line for each event.
    """
    out = console(json)
    table = Table("case", "protocol", "broken", "after event", "as expected")
    document: documents.OwnReplay = {"cases": []}
    for path in paths:
        with as_bad_input(CaseError):
            case = load_case(path, model)
        names = protocols or list(case.expect)
        if not names:
            raise BadInput(f"{path}: the case names no protocol: give one with --protocol")
        for name in names:
            with mistakes_as_bad_input():
                run = describe(case.events, protocol_of(model, name), case.settings)
            if trace:
                out.print(f"\n{case.id}: {case.why}", markup=False, soft_wrap=True)
                print_lines(out, run)
            as_expected = _is_as_expected(case, name, run)
            said = {None: "the case does not say", True: "yes", False: "NO"}[as_expected]
            table.add_row(case.id, name, ", ".join(run.broken) or "nothing", str(run.at or "-"), said)
            document["cases"].append(
                {"id": case.id, "protocol": name, "broken": list(run.broken), "at": run.at, "as_expected": as_expected}
            )
    print_table(out, table)
    if json:
        print_json(document)
    return Exit.BROKEN if any(each["as_expected"] is False for each in document["cases"]) else Exit.AS_EXPECTED


def _is_as_expected(case: Case, protocol: str, run: OwnRun) -> bool | None:
    """Return whether a run meets the expectation of its case, or None if the case expects nothing of the protocol.

    The expected event `at` must be the first that breaks any property.
    """
    expected = case.expect.get(protocol)
    if expected is None:
        return None
    if not expected.broken:
        return not run.broken
    return set(expected.broken) <= set(run.broken) and expected.at in (None, run.at)
