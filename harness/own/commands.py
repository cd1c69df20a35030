"""Run fuzz, shrink and replay on a user's own model.

The commands describe a run by its events and by the fields that each event changed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from epochfuzz.harness.cases.case import Case, CaseError, Expectation, dump_case
from epochfuzz.harness.cli.output import BadInput, Exit, as_bad_input, console, print_json, print_table
from epochfuzz.harness.engine.explore import certificates
from epochfuzz.harness.engine.runtime.deadline import Deadline
from epochfuzz.harness.engine.runtime.interruption import Interruption
from epochfuzz.harness.engine.shrink import shrink as shrinking
from epochfuzz.harness.engine.shrink.canonical import canonical
from epochfuzz.harness.engine.walk import walking
from epochfuzz.harness.engine.walk.walk import Tally, Walker
from epochfuzz.harness.own.case import load_case
from epochfuzz.harness.own.loading import mistakes_as_bad_input, protocol_of
from epochfuzz.harness.own.timeline import OwnRun, describe, print_lines
from epochfuzz.harness.views.progress import show_search, show_walk
from epochfuzz.model.core.model import Model, Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.documents import searches as documents

CERTIFICATE_MEMORY = 1 << 30


@dataclass(frozen=True)
class OwnWalk:
    """A request for random runs, which end after `schedules` schedules or after `seconds`.

    `certify` is the time for proofs in seconds, None for no limit.
    """

    model: Model
    protocols: Sequence[Protocol]
    settings: Any
    schedules: int | None
    seconds: float | None
    seed: int
    jobs: int
    certify: float | None


@dataclass(frozen=True)
class _Finding:
    protocol: Protocol
    property: str
    reproducer: certificates.Reproducer
    seen: int


def fuzz(asked: OwnWalk, *, json: bool) -> int:
    """Run random schedules of a model under each protocol, and shrink the failures. Returns the exit code."""
    out = console(json)
    out.print(f"seed {asked.seed} · {asked.settings.text()}", markup=False)
    with show_walk(out, asked.schedules, asked.seconds) as progress, mistakes_as_bad_input():
        walker = Walker(asked.protocols, asked.settings, asked.seed)
        walked = walking.walk(walker, asked.schedules, asked.seconds, asked.jobs, progress.walked)
        with Interruption() as interruption:
            deadline = Deadline(asked.certify, interruption)
            findings = []
            for finding in _findings(asked, walker, walked.tally, deadline):
                progress.doing(f"shrunk {finding.property} under {finding.protocol.name}")
                findings.append(finding)
    for each in findings:
        print_lines(out, describe(each.reproducer.schedule, each.protocol, asked.settings))
        out.print(_sentence(each, walked.tally.schedules), markup=False)
    spared = [each.name for each in asked.protocols if all(each is not finding.protocol for finding in findings)]
    out.print(*(f"{name} broke nothing" for name in spared), sep="\n", markup=False)
    rate = int(walked.tally.events.sum()) / max(walked.seconds, 1e-9) / 1e6
    out.print(f"{walked.tally.schedules:,} schedules in {walked.seconds:.1f} s ({rate:.1f} million events/s)")
    if json:
        document: documents.OwnFuzz = {
            "model": asked.model.name,
            "seed": asked.seed,
            "schedules": walked.tally.schedules,
            "configuration": asked.settings.changed(),
            "findings": [_plain(asked.model, each) for each in findings],
        }
        print_json(document)
    if walked.interrupted or interruption.happened:
        raise KeyboardInterrupt
    return Exit.BROKEN if findings else Exit.AS_EXPECTED


def _findings(asked: OwnWalk, walker: Walker[Any, Any], tally: Tally, deadline: Deadline) -> Iterator[_Finding]:
    """Yield a shrunk finding for each broken property. The remaining time is divided equally among the proofs."""
    names = asked.model.judgement.names
    broken = [(at, bit) for at in range(len(asked.protocols)) for bit in range(len(names)) if tally.seen[at, bit]]
    for number, (at, bit) in enumerate(broken):
        protocol, wanted = asked.protocols[at], 1 << bit
        failing = walker.schedule(tally.candidates(at, bit)[0].schedule)
        share = deadline.within(deadline.remaining / (len(broken) - number))
        reproducer = _reproducer(failing, protocol, asked.settings, wanted, CERTIFICATE_MEMORY, share)
        yield _Finding(protocol, names[bit], reproducer, int(tally.seen[at, bit]))


def _reproducer(
    schedule: bytes, protocol: Protocol, settings: Any, wanted: int, memory: int, deadline: Deadline
) -> certificates.Reproducer:
    """Shrink a schedule that breaks a wanted property, and try to prove before the deadline that no shorter one exists.

    In the result, replica names and the order of events have the canonical form. Raises DoesNotBreak.
    """
    if deadline.is_past:
        shrunk = shrinking.trim(schedule, protocol, settings, wanted)
        made = certificates.Reproducer(shrunk, False, 0)
    else:
        made = certificates.reproduce(schedule, protocol, settings, wanted, memory, deadline=deadline)
    return replace(made, schedule=canonical(made.schedule, protocol, settings, wanted))


def _sentence(found: _Finding, schedules: int) -> str:
    length = len(found.reproducer.schedule)
    return (
        f"{found.protocol.name} breaks {found.property} in {length} events: {found.reproducer.proven};"
        f" {found.seen:,} of {schedules:,} schedules broke it"
    )


def _plain(model: Model, found: _Finding) -> "documents.OwnFinding":
    return {
        "protocol": found.protocol.name,
        "property": found.property,
        "events": model.events.texts(found.reproducer.schedule),
        "length": len(found.reproducer.schedule),
        **found.reproducer.plain(),
        "seen": found.seen,
    }


@dataclass(frozen=True)
class Shrinking:
    """A request to shrink the schedule of a case file.

    `property` is the property that the result must break; None for the most severe property that the schedule breaks.
    `certify` is the time for a proof in seconds, None for no limit. `memory` is in bytes.
    """

    model: Model
    protocol: Protocol
    path: Path
    property: str | None
    certify: float | None
    memory: int


def shrink(asked: Shrinking, *, json: bool) -> int:
    """Shrink the schedule of a case file, and print the result as a case file. Returns the exit code."""
    model, path, protocol = asked.model, asked.path, asked.protocol
    with as_bad_input(CaseError):
        case = load_case(path, model)
    out = console(json_wanted=True)  # stdout is for the shrunk case, or for JSON
    broken = describe(case.events, protocol, case.settings).broken
    name = asked.property or next(iter(broken), "any property")
    if name not in broken:
        raise BadInput(f"{path}: the schedule does not break {name} under {protocol.name}: nothing to shrink")
    wanted = 1 << model.judgement.names.index(name)
    with show_search(out) as progress, Interruption() as interruption, mistakes_as_bad_input():
        progress.doing(f"shrinking {len(case.events)} events")
        found = _reproducer(
            case.events, protocol, case.settings, wanted, asked.memory, Deadline(asked.certify, interruption)
        )
    run = describe(found.schedule, protocol, case.settings)
    print_lines(out, run)
    what = f"{protocol.name} breaks {name} in {len(found.schedule)} events, shrunk from {len(case.events)}"
    out.print(f"{what}: {found.proven}", markup=False)
    shrunk = Case(
        f"{case.id}-shrunk", f"Shrunk from {case.id}: {protocol.name} breaks {name}.", case.settings, found.schedule,
        {protocol.name: Expectation(run.broken, run.at)},
    )  # fmt: skip
    if json:
        plain = _plain(model, _Finding(protocol, name, found, 1))
        document: documents.OwnShrink = {**plain, "shrunk_from": len(case.events)}
        print_json(document)
    else:
        typer.echo(dump_case(shrunk, model.events.texts), nl=False)
    if interruption.happened:
        raise KeyboardInterrupt
    return Exit.AS_EXPECTED


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
