"""Print the results of random runs on this machine or on Spark, as text and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.walks.outcome import MachineOutcome
    from epochfuzz.harness.documents import walks

from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.environment import github
from epochfuzz.harness.cli.files import FileKind, write_file
from epochfuzz.harness.cli.output import Exit, print_json
from epochfuzz.harness.engine.walk.walk import Walker
from epochfuzz.harness.engine.walk.walking import Walked
from epochfuzz.harness.findings.findings import Finding, FoundFindings, ScheduleEngine, breaches
from epochfuzz.harness.views import sarif as sarif_format
from epochfuzz.harness.views import summary
from epochfuzz.harness.views.report import from_walk
from epochfuzz.harness.views.report.page import ReportPage
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol


@dataclass(frozen=True, kw_only=True)
class Ending:
    """The requested outputs of random runs.

    `report` is the HTML file and `sarif` the SARIF file to write; None for no file. With `trace`, the output draws the
    schedules of known bugs too. `never_met` lists, by protocol, the situations that are reachable in the model but
    that no schedule met. The HTML report shows these situations, and the facts in `about`. `more` contains further keys
    of the JSON document.
    """

    out: Console
    json: bool
    report: Path | None = None
    sarif: Path | None = None
    trace: bool = False
    never_met: Mapping[str, Sequence[str]] | None = None
    about: Mapping[str, str] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


def end_walk(ending: Ending, walker: ScheduleEngine, walked: Walked, found: Sequence[Finding]) -> int:
    """Print the results of random runs, and write the requested files. Returns the exit code."""
    out, protocols, settings, tally = ending.out, walker.protocols, walker.settings, walked.tally
    again = reproduction([f"--protocol {each.name}" for each in protocols], settings, tally.schedules, walker.seed)
    out.print(summary.goals_table(protocols, settings, tally.goals))
    out.print(summary.verdict_table(protocols, settings, found))
    summary.print_reproducers(out, found, trace=ending.trace)
    out.print(summary.pace(walked), f"\nreproduce: {again}", sep="")
    unmet = summary.unmet_goals(protocols, settings, tally.goals)
    for goal in unmet:
        out.print(f"goal never met: {goal}; more schedules (--schedules, --for) may meet it")
    if ending.report is not None:
        page = from_walk.page(walker, walked, found, again, ending.never_met, ending.about)
        write_report(out, ending.report, page)
    if ending.sarif is not None:
        write_sarif(out, ending.sarif, walker, found, again)
    github.annotate_walk(out, found, again)
    if ending.json:
        print_json({**summary.walk_json(walker, walked, found), "reproduce": again, **ending.more})
    if any(finding.known_flaw is None for finding in found):
        return Exit.BROKEN
    return Exit.GOAL_UNMET if unmet else Exit.AS_EXPECTED


@contextmanager
def interruptible(
    out: Console, walker: Walker[Protocol, Configuration], walked: Walked, what: Sequence[str], kept: Path | None = None
) -> Iterator[None]:
    """Handle Ctrl-C in this block, or earlier in the random runs.

    After Ctrl-C, prints the violations and the command line that continues the runs, and raises KeyboardInterrupt.
    `what` holds the options that select the protocols. `kept` is the file with the saved progress, or None.
    """
    try:
        if walked.interrupted:
            raise KeyboardInterrupt
        yield
    except KeyboardInterrupt:
        for breach in breaches(walker.protocols, walker.settings, walked.tally):
            out.print(summary.unshrunk(breach), soft_wrap=True)
        again = reproduction(what, walker.settings, walked.tally.schedules, walker.seed)
        out.print(summary.pace(walked))
        if kept is not None:
            out.print(f"these schedules are kept in {kept}: repeat the command to continue after them", soft_wrap=True)
        out.print("to shrink and show these, or to continue with more --schedules:")
        out.print(again, soft_wrap=True)
        raise


def tell_unfinished(out: Console, found: FoundFindings) -> None:
    """Print the violations that were not shrunk before Ctrl-C. Raises KeyboardInterrupt if the user pressed Ctrl-C."""
    for breach in found.unshrunk:
        out.print(summary.unshrunk(breach), soft_wrap=True)
    if found.interrupted:
        raise KeyboardInterrupt


def write_report(out: Console, file: Path, page: ReportPage) -> None:
    """Write a report as an HTML file."""
    from epochfuzz.harness.views.report import html  # loads the renderer on demand

    with out.status("drawing the report"):
        write_file(file, html.render(page), FileKind.HTML)
    out.print(f"report: {file}", markup=False, soft_wrap=True)


def write_sarif(out: Console, file: Path, walker: ScheduleEngine, found: Sequence[Finding], reproduce: str) -> None:
    """Write findings as a SARIF file."""
    write_file(file, dumps(sarif_format.log(walker, found, reproduce), indent=2) + "\n", FileKind.SARIF)
    out.print(f"SARIF: {file}", markup=False, soft_wrap=True)


def end_machine(out: Console, outcome: "MachineOutcome", json: bool, **more: Any) -> int:
    """Print the results of a campaign that ran a user's Hypothesis state machine. Returns the exit code.

    Each finding is an exception, with the steps of the state machine that raise it.
    """
    parameters = outcome.parameters
    for error in outcome.errors:
        out.print(Text(f"\n{error['property']} in {error['seen']} runs; the shortest is {error['schedule']}:", "bold"))
        out.print(Text(error["message"]))
        out.print(Text("\n".join(f"  {number} {step}" for number, step in enumerate(error["events"], start=1))))
    again = (
        f"epochfuzz campaign run --out DIR --engine hypothesis --machine {parameters.machine}"
        f" --schedules {outcome.tally.schedules} --seed {parameters.seed}"
    )
    out.print(
        f"{outcome.tally.schedules:,} runs of {parameters.machine}, {outcome.steps:,} steps in {outcome.seconds:.1f} s;"
        f" {len(outcome.errors)} kinds of failure\nreproduce: {again}",
        markup=False,
    )
    if json:
        document: walks.MachineRuns = {
            "seed": parameters.seed,
            "protocols": [parameters.machine],
            "schedules": outcome.tally.schedules,
            "events": outcome.steps,
            "seconds": round(outcome.seconds, 3),
            "events_per_second": round(outcome.steps / outcome.seconds),
            "goals": {},
            "findings": [_error_json(error) for error in outcome.errors],
            "reproduce": again,
        }
        print_json({**document, **more})
    return Exit.BROKEN if outcome.errors else Exit.AS_EXPECTED


def _error_json(error: Mapping[str, Any]) -> "walks.Error":
    return {
        "protocol": error["protocol"],
        "property": error["property"],
        "events": error["events"],
        "length": error["length"],
        "certified_minimal": error["certified_minimal"],
        "seen": error["seen"],
        "schedule": error["schedule"],
        "message": error["message"],
    }


def reproduction(what: Sequence[str], settings: Configuration, schedules: int, seed: int) -> str:
    """Return the command line that runs the same schedules again. `what` has the options for the protocols."""
    words = ["epochfuzz fuzz", *what, *options.words_of(settings)]
    return " ".join([*words, f"--schedules {schedules}", f"--seed {seed}"])
