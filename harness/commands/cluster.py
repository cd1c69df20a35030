"""`epochfuzz cluster`: run schedules on Kafka itself, a controller and three brokers on this machine."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from epochfuzz.harness.cases import bundled
from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.environment.signals import as_ctrl_c
from epochfuzz.harness.cli.help import ClusterCommand, Group
from epochfuzz.harness.cli.output import BadInput, Exit, as_bad_input, console, print_json, print_table
from epochfuzz.harness.cluster.broker.installation import DEFAULT_RELEASE
from epochfuzz.harness.cluster.broker.repair import Repair
from epochfuzz.harness.cluster.broker.variant import Control, Election, FailureMode, Scenario, Variant
from epochfuzz.harness.cluster.errors import ClusterError
from epochfuzz.harness.commands.subcommands import cluster_schedules

if TYPE_CHECKING:
    from epochfuzz.harness.cluster.broker.installation import Installation
    from epochfuzz.harness.cluster.runs import ScenarioRequest
    from epochfuzz.harness.cluster.timeline import ScenarioRun
    from epochfuzz.harness.documents import evidence

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""Test Kafka with a controller and three brokers on this machine: run, replay, fuzz.

Example: `epochfuzz cluster run re-elected-leader`
""",
)


@app.callback()
def _cluster() -> None:
    """Group the commands of `epochfuzz cluster`. The help text is the `help` of the Typer application."""


app.command("replay", cls=ClusterCommand)(cluster_schedules.replay)
app.command("fuzz", cls=ClusterCommand)(cluster_schedules.fuzz)


Chosen = Annotated[Scenario, typer.Argument(help="The scenario to run.")]
Runs = Annotated[int, typer.Option("--runs", min=1, help="Number of runs, each on a new cluster.")]
End = Annotated[FailureMode, typer.Option("--end", help="How the leader fails at the end.")]
ElectedBy = Annotated[Election, typer.Option("--election", help="The trigger of the preferred leader election.")]
Controlled = Annotated[Control | None, typer.Option("--control", help="Change one step, so that the record is kept.")]
Repaired = Annotated[
    Repair | None, typer.Option("--repair", help="Patch Kafka's bytecode, so that leaders forget follower states.")
]
Out = Annotated[Path | None, typer.Option("--out", help="The directory for all logs and the timeline of each run.")]


@app.command("run", cls=ClusterCommand)
def run(
    scenario: Chosen,
    release: options.KafkaRelease = DEFAULT_RELEASE,
    kafka_home: options.KafkaHome = None,
    runs: Runs = 1,
    end: End = FailureMode.TERM,
    election: ElectedBy = Election.ADMIN,
    control: Controlled = None,
    repair: Repaired = None,
    out: Out = None,
    keep_data: options.KeepData = False,
    json: options.Json = False,
) -> int:
    """Run a scenario on Kafka, and report whether an acknowledged record was lost.

    Only `--repair` changes Kafka's code. Kafka's processes use the default settings, connect to each other directly,
    and listen on 127.0.0.1 only. After the run, only downloads and the directory of `--out` remain on the machine.

    Examples:

    - `epochfuzz cluster run re-elected-leader`
    - `epochfuzz cluster run re-elected-leader --release 3.9.2 --runs 3 --end kill --out build/cluster`
    - `epochfuzz cluster run re-elected-leader --repair missed-epoch --json`
    - `epochfuzz cluster run re-elected-leader --kafka-home ~/kafka_2.13-4.3.1`
    - `epochfuzz cluster run re-elected-leader-under-load --end kill --runs 10`
    - `epochfuzz cluster run re-elected-leader --out build/lost --keep-data`, for `epochfuzz audit build/lost/run-1`
    """
    variant = Variant(end, election, control)
    _refuse_variant(scenario, variant)
    if kafka_home is not None and not kafka_home.is_dir():
        raise BadInput(f"--kafka-home: {kafka_home} is not a directory; name the directory of an unpacked Kafka")

    options.require_out_for_data(keep_data, out)

    from epochfuzz.harness.cluster.runs import ScenarioRequest
    from epochfuzz.harness.views import play_links

    request = ScenarioRequest(
        scenario=scenario,
        variant=variant,
        release=release,
        home=kafka_home,
        repair=repair,
        out=out,
        command=_command(scenario, variant, release, repair),
        keep_data=keep_data,
    )
    printing = console(json)
    with as_ctrl_c(), as_bad_input(ClusterError):
        with printing.status("looking for Kafka"):
            kafka = request.kafka()
        all_runs = _play(printing, request, kafka, runs)
    link = _link(request, kafka, all_runs)
    if link is not None:
        play_links.show(printing, link)
    if json:
        print_json(_document(request, all_runs, link))
    return _exit_code(request, all_runs)


def _refuse_variant(scenario: Scenario, variant: Variant) -> None:
    """Raise BadInput for a variant that the scenario does not have."""
    usual = variant.control is None and variant.election is Election.ADMIN and variant.end is not FailureMode.PAUSE
    if scenario is Scenario.UNDER_LOAD and not usual:
        raise BadInput(
            f"{scenario.value} needs --end term or --end kill, and can't be combined with --election or --control"
        )


def _play(out: Console, request: "ScenarioRequest", kafka: "Installation", count: int) -> "list[ScenarioRun]":
    from epochfuzz.harness.cluster.runs import play
    from epochfuzz.harness.cluster.view import conclusion, print_run
    from epochfuzz.harness.views.report.html import environment

    templates = environment("epochfuzz.harness.cluster")
    all_runs = []
    for number in range(1, count + 1):
        out.print(f"{request.scenario.value} on Kafka {kafka.release}, run {number} of {count}", markup=False)
        played = play(request, kafka, number, lambda line: out.print(line, markup=False, soft_wrap=True), templates)
        all_runs.append(played.run)
        if count == 1:
            print_run(out, played.run, print_table)
        else:
            out.print(conclusion(played.run), markup=False, soft_wrap=True)
        if played.kept is not None:
            out.print(f"logs and timeline: {played.kept}", markup=False, soft_wrap=True)
    if count > 1:
        told = ", ".join(
            f"{number} {verdict.replace('_', ' ')}" for verdict, number in _counted(all_runs).items() if number
        )
        out.print(f"{count} runs: {told}")
    return all_runs


def _link(request: "ScenarioRequest", kafka: "Installation", all_runs: "list[ScenarioRun]") -> str | None:
    """Return a link to the step that loses the record in the model of the release, or None if no run lost a record.

    With --repair or --control, the result is None, because these options change the scenario.
    """
    from epochfuzz.harness.cluster.schedules.beside import modelled
    from epochfuzz.harness.views import cluster_links

    if request.repair is not None or request.variant.control is not None or not _counted(all_runs)["lost"]:
        return None
    case = load_case(bundled.files()[Scenario.RE_ELECTED_LEADER])  # each scenario shows this bug
    return cluster_links.to_loss(case, modelled(kafka.release))


def _document(request: "ScenarioRequest", all_runs: "list[ScenarioRun]", link: str | None) -> "evidence.Cluster":
    counted = _counted(all_runs)
    return {
        "scenario": request.scenario.value,
        "release": request.release if request.home is None else str(request.home),
        "lost": counted["lost"],
        "kept": counted["kept"],
        "not_reached": counted["not_reached"],
        "runs": [each.plain() for each in all_runs],
        "play": link,
    }


def _counted(all_runs: "list[ScenarioRun]") -> dict[str, int]:
    from epochfuzz.harness.cluster.timeline import ScenarioVerdict

    counts = Counter(each.verdict for each in all_runs)
    return {verdict.lower().replace(" ", "_"): counts[verdict] for verdict in ScenarioVerdict}


def _exit_code(request: "ScenarioRequest", all_runs: "list[ScenarioRun]") -> int:
    """Return the exit code: AS_EXPECTED, BROKEN, or GOAL_UNMET if a run did not reach the end of the scenario.

    A release is expected to lose the scenario's record. With --repair or --control, the run is expected to keep the
    record. A user's own Kafka (--kafka-home) is also expected to keep the record, because a loss breaks a property.
    """
    counts = _counted(all_runs)
    if counts["not_reached"]:
        return Exit.GOAL_UNMET
    return Exit.AS_EXPECTED if counts["kept" if request.is_lost else "lost"] == 0 else Exit.BROKEN


def _command(scenario: Scenario, variant: Variant, release: str, repair: Repair | None) -> str:
    """Return the command line that repeats the run."""
    chosen = {"release": release, "end": variant.end, "election": variant.election, "control": variant.control}
    given = {name: value for name, value in (chosen | {"repair": repair}).items() if value is not None}
    return " ".join(["epochfuzz cluster run", scenario, *(f"--{name} {value}" for name, value in given.items())])
