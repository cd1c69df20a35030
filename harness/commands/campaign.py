"""`epochfuzz campaign`: the walk of `fuzz` on Spark, kept in a directory, to be resumed and reported on."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from epochfuzz.harness.commands import options
from epochfuzz.harness.commands.cases import known_cases
from epochfuzz.harness.commands.help import Group, SparkCommand
from epochfuzz.harness.commands.output import BadInput, Exit, console
from epochfuzz.model.configuration import Configuration

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from epochfuzz.harness.campaign.campaign import Campaign
    from epochfuzz.harness.campaign.walks.outcome import Outcome
    from epochfuzz.harness.cases.case import Case

DEFAULT_SECONDS = 30.0


class Engine(Enum):
    """What runs the schedules of a campaign."""

    WALK = "walk"
    HYPOTHESIS = "hypothesis"


app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""The walk of `fuzz` on Spark, durable: run, resume, report.

Examples:

- `epochfuzz campaign run --out build/tonight --protocol kip-320 --replicas 3 --for 8h`
- `epochfuzz campaign resume build/tonight`
- `epochfuzz campaign report build/tonight`
""",
)

Out = Annotated[str, typer.Option("--out", help="The campaign's directory: any URI that Spark can write.")]
Directory = Annotated[str, typer.Argument(metavar="DIR", help="The campaign's directory.")]
Master = Annotated[
    str | None, typer.Option("--master", help="The Spark master; every core of this machine if left out.")
]
Corpus = Annotated[
    Path | None, typer.Option("--corpus", help="The corpus that says what is known already; ./corpus if left out.")
]
Remote = Annotated[str | None, typer.Option("--remote", help="A Spark Connect server, such as sc://localhost.")]


@app.command("run", cls=SparkCommand)
@options.configured()
def run(
    *,
    settings: Configuration,
    out: Out,
    protocol: options.Protocols = ["hw", "kip-101"],  # noqa: B006 - typer reads the default, nobody writes to it
    schedules: Annotated[int | None, typer.Option("--schedules", min=1, help="How many schedules to walk.")] = None,
    for_: Annotated[str | None, typer.Option("--for", help="Walk for that long instead: 30s, 5m, 8h.")] = None,
    until_stable: Annotated[
        float | None,
        typer.Option(
            "--until-stable",
            help="Walk until one more schedule shows something new with less than this probability; with --schedules"
            " or --for, no further than that.",
        ),
    ] = None,
    seed: options.Seed = None,
    engine: Annotated[
        Engine, typer.Option("--engine", help="Compiled random schedules, or runs of a Hypothesis state machine.")
    ] = Engine.WALK,
    machine: Annotated[
        str | None,
        typer.Option("--machine", help="With --engine hypothesis: a state machine of your own, as module:Name."),
    ] = None,
    master: Master = None,
    remote: Remote = None,
    corpus: Corpus = None,
    json: options.Json = False,
) -> int:
    """Walk random schedules on every core that Spark has; shrink and certify what breaks.

    Examples:

    - `epochfuzz campaign run --out build/campaign --protocol hw --protocol kip-101`
    - `epochfuzz campaign run --out s3a://bucket/tonight --protocol kip-320 --for 8h --master spark://host:7077`
    - `epochfuzz campaign run --out /tmp/c --until-stable 1e-5 --for 8h`
    - `epochfuzz campaign run --out /tmp/c --engine hypothesis --machine tests.machines:MyLog --schedules 1000`
    - `epochfuzz campaign run --out /tmp/c --schedules 10000000 --seed 7 --json`
    """
    protocols = options.parse_protocols(protocol)
    if schedules is not None and for_ is not None:
        raise BadInput("--schedules and --for both say when to stop: give one of them")
    seconds = options.parse_duration(for_) if for_ is not None else None
    if machine is not None and engine is not Engine.HYPOTHESIS:
        raise BadInput("--machine is a Hypothesis state machine: give --engine hypothesis as well")
    if until_stable is not None and engine is not Engine.WALK:
        raise BadInput("--until-stable counts situations, which only --engine walk does")
    if until_stable is not None and not 0 < until_stable < 1:
        raise BadInput(f"--until-stable is a probability, such as 1e-5; {until_stable:g} is none")
    if schedules is None and seconds is None and until_stable is None:
        seconds = DEFAULT_SECONDS
    if seed is None:
        seed = secrets.randbelow(1 << 32)

    if engine is Engine.WALK:
        from epochfuzz.harness.commands.first_finding import show_first_finding

        show_first_finding(console(json), protocols, settings)

    def begin(spark: "SparkSession") -> "Campaign[Outcome]":
        from epochfuzz.harness.campaign.campaign import Campaign
        from epochfuzz.harness.campaign.kinds import work_of
        from epochfuzz.harness.campaign.walks.parameters import MACHINES, Parameters

        asked = Parameters(tuple(protocols), settings, seed, schedules, seconds, until_stable)
        if engine is Engine.HYPOTHESIS:
            asked = replace(asked, engine=engine.value, block=MACHINES)
        if machine is not None:
            asked = replace(asked, machine=machine, protocols=())
        return Campaign.start(spark, out, work_of(asked.row()))

    return _finish(begin, out, master, remote, known_cases(corpus), json)


@app.command("resume", cls=SparkCommand)
def resume(
    directory: Directory,
    master: Master = None,
    remote: Remote = None,
    corpus: Corpus = None,
    json: options.Json = False,
) -> int:
    """Go on with a campaign wherever it ended; its result is that of a campaign that never stopped.

    Example: `epochfuzz campaign resume build/campaign`
    """
    return _finish(lambda spark: _load(spark, directory), directory, master, remote, known_cases(corpus), json)


@app.command("report", cls=SparkCommand)
def report(
    directory: Directory,
    file: Annotated[
        Path | None,
        typer.Option("--out", callback=options.needs("report"), help="Write an HTML report to this file, too."),
    ] = None,
    sarif: options.Sarif = None,
    master: Master = None,
    remote: Remote = None,
    corpus: Corpus = None,
    json: options.Json = False,
) -> int:
    """Show again what a finished campaign has found.

    Examples:

    - `epochfuzz campaign report build/campaign`
    - `epochfuzz campaign report build/campaign --out campaign.html`
    - `epochfuzz campaign report build/campaign --sarif campaign.sarif`
    """
    known = known_cases(corpus)
    with spark_session(master, remote) as spark:
        outcome = _load(spark, directory).outcome()
    return _end(outcome, directory, known, json, file, sarif)


# What these import is imported there, so that help and mistakes are answered before Spark and Numba are loaded. What
# they say of the run goes to stderr, and what it has found to stdout.


def _load(spark: "SparkSession", directory: str) -> "Campaign[Outcome]":
    from epochfuzz.harness.campaign.campaign import Campaign
    from epochfuzz.harness.campaign.walks.work import Walks

    campaign = Campaign.load(spark, directory)
    if not isinstance(campaign.work, Walks):
        resume = campaign.work.how_to_resume(directory)
        raise BadInput(f"{directory} holds a campaign of {campaign.work.NAME}: to go on with it, {resume}")
    return campaign


def _finish(
    begin: Callable[["SparkSession"], "Campaign[Outcome]"],
    directory: str,
    master: str | None,
    remote: str | None,
    corpus: list["Case"],
    json: bool,
) -> int:
    """Begin or load a campaign, take it to its end, and show what it has found."""
    from epochfuzz.harness.campaign.errors import CampaignError
    from epochfuzz.harness.campaign.progress import Shown

    with spark_session(master, remote) as spark:
        campaign = begin(spark)
        _note(campaign.work.heading)
        try:
            with Shown.on(console(json_wanted=True), campaign.work) as progress:
                outcome = campaign.run(progress)
        except CampaignError:
            raise
        except BaseException:
            _note(f"not finished; go on with: epochfuzz campaign resume {directory}")
            raise
    return _end(outcome, directory, corpus, json)


@contextmanager
def spark_session(master: str | None, remote: str | None) -> Iterator["SparkSession"]:
    """A Spark session. What goes wrong with Spark or with the directory is bad input, here or where they are set up."""
    from epochfuzz.harness.campaign import session
    from epochfuzz.harness.campaign.errors import CampaignError, NonDeterminismError

    if master is not None and remote is not None:
        raise BadInput("--master and --remote both say where Spark runs: give one of them")
    _note(f"starting Spark on {remote or master or session.DEFAULT_MASTER}")
    try:
        with session.opened(master, remote) as spark:
            yield spark
    except CampaignError as error:
        raise BadInput(str(error)) from None
    except NonDeterminismError as error:
        _note(f"epochfuzz: {error}")
        raise typer.Exit(Exit.INTERNAL) from None


def _end(
    outcome: "Outcome",
    directory: str,
    corpus: list["Case"],
    json: bool,
    report: Path | None = None,
    sarif: Path | None = None,
) -> int:
    from epochfuzz.harness.campaign.walks.remaining import remaining_json, remaining_lines
    from epochfuzz.harness.cases.comparison import compare, comparison_json, comparison_lines
    from epochfuzz.harness.commands.walk_results import end_machine, end_walk
    from epochfuzz.harness.memory import most_memory
    from epochfuzz.harness.search.findings import Walked

    parameters, out = outcome.parameters, console(json)
    if parameters.machine is not None:
        if report is not None or sarif is not None:
            raise BadInput(
                f"--out and --sarif show schedules of the model, and {directory} is about a machine of yours"
            )
        return end_machine(out, outcome, directory, json)
    walked = Walked(outcome.tally, outcome.seconds)
    comparison = compare(outcome.findings, parameters.protocols, parameters.settings, corpus)
    remaining = remaining_json(outcome)
    more: dict[str, Any] = {"directory": directory} | comparison_json(outcome.findings, comparison) | remaining
    never_met = remaining["unreached"]
    code = end_walk(out, outcome.engine, walked, outcome.findings, json, report, sarif, never_met, trace=True, **more)
    for line in (*comparison_lines(outcome.findings, comparison), *remaining_lines(outcome)):
        out.print(line, highlight=False)
    if code == Exit.AS_EXPECTED and outcome.stopped_unstable:
        code = Exit.GOAL_UNMET
    _note(
        f"memory: a worker had {outcome.checked.memory >> 20:,} MiB at the most, this process {most_memory() >> 20:,}"
    )
    _note(f"kept in {directory}; show again with: epochfuzz campaign report {directory}")
    return code


def _note(text: str) -> None:
    console(json_wanted=True).print(text, markup=False, soft_wrap=True)
