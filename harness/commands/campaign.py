"""`epochfuzz campaign`: the walk of `fuzz` on Spark, kept in a directory, to be resumed and reported on."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands import options
from harness.commands.outcome import BadInput, console
from model.configuration import Configuration

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from harness.campaign.campaign import Campaign, Outcome

DEFAULT_SECONDS = 30.0

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="The walk of `fuzz` on Spark, durable: run, resume, report."
)

Out = Annotated[str, typer.Option("--out", help="The campaign's directory: any URI that Spark can write.")]
Directory = Annotated[str, typer.Argument(metavar="DIR", help="The campaign's directory.")]
Master = Annotated[
    str | None, typer.Option("--master", help="The Spark master; every core of this machine if left out.")
]
Remote = Annotated[str | None, typer.Option("--remote", help="A Spark Connect server, such as sc://localhost.")]


@app.command("run")
@options.configured()
def run(
    *,
    settings: Configuration,
    out: Out,
    protocol: options.Protocols = ["hw", "kip-101"],  # noqa: B006 - typer reads the default, nobody writes to it
    schedules: Annotated[int | None, typer.Option("--schedules", min=1, help="How many schedules to walk.")] = None,
    for_: Annotated[str | None, typer.Option("--for", help="Walk for that long instead: 30s, 5m, 8h.")] = None,
    seed: options.Seed = None,
    master: Master = None,
    remote: Remote = None,
    json: options.Json = False,
) -> int:
    """Walk random schedules on every core that Spark has; shrink and certify what breaks.

    Examples:

    - `epochfuzz campaign run --out build/campaign --protocol hw --protocol kip-101`
    - `epochfuzz campaign run --out s3a://bucket/tonight --protocol kip-320 --for 8h --master spark://host:7077`
    - `epochfuzz campaign run --out /tmp/c --schedules 10000000 --seed 7 --json`
    """
    protocols = options.parse_protocols(protocol)
    if schedules is not None and for_ is not None:
        raise BadInput("--schedules and --for both say when to stop: give one of them")
    seconds = options.parse_duration(for_) if for_ is not None else None
    if schedules is None and seconds is None:
        seconds = DEFAULT_SECONDS
    if seed is None:
        seed = secrets.randbelow(1 << 32)

    def begin(spark: "SparkSession") -> "Campaign":
        from harness.campaign.campaign import Campaign
        from harness.campaign.parameters import Parameters

        return Campaign.start(spark, out, Parameters(tuple(protocols), settings, seed, schedules, seconds))

    return _finish(begin, out, master, remote, json)


@app.command("resume")
def resume(directory: Directory, master: Master = None, remote: Remote = None, json: options.Json = False) -> int:
    """Go on with a campaign wherever it ended; its result is that of a campaign that never stopped.

    Example: `epochfuzz campaign resume build/campaign`
    """
    return _finish(lambda spark: _load(spark, directory), directory, master, remote, json)


@app.command("report")
def report(directory: Directory, master: Master = None, remote: Remote = None, json: options.Json = False) -> int:
    """Show again what a finished campaign has found.

    Example: `epochfuzz campaign report build/campaign`
    """
    with spark_session(master, remote) as spark:
        outcome = _load(spark, directory).outcome()
    return _end(outcome, directory, json)


# What these import is imported there, so that help and mistakes are answered before Spark and Numba are loaded. What
# they tell of the run goes to stderr, and what it has found to stdout.


def _load(spark: "SparkSession", directory: str) -> "Campaign":
    from harness.campaign.campaign import Campaign

    return Campaign.load(spark, directory)


def _finish(
    begin: Callable[["SparkSession"], "Campaign"], directory: str, master: str | None, remote: str | None, json: bool
) -> int:
    """Begin or load a campaign, take it to its end, and show what it has found."""
    from harness.campaign.errors import CampaignError
    from harness.campaign.progress import Shown

    with spark_session(master, remote) as spark:
        campaign = begin(spark)
        parameters = campaign.parameters
        _tell(f"seed {parameters.seed} · {parameters.settings.text()}")
        try:
            with Shown.on(console(json_wanted=True), parameters) as progress:
                outcome = campaign.run(progress)
        except CampaignError:
            raise
        except BaseException:
            _tell(f"not finished; go on with: epochfuzz campaign resume {directory}")
            raise
    return _end(outcome, directory, json)


@contextmanager
def spark_session(master: str | None, remote: str | None) -> Iterator["SparkSession"]:
    """A Spark session. What goes wrong with Spark or with the directory is bad input, here or where they are set up."""
    from harness.campaign import session
    from harness.campaign.errors import CampaignError

    if master is not None and remote is not None:
        raise BadInput("--master and --remote both say where Spark runs: give one of them")
    _tell(f"starting Spark on {remote or master or session.DEFAULT_MASTER}")
    try:
        with session.opened(master, remote) as spark:
            yield spark
    except CampaignError as error:
        raise BadInput(str(error)) from None


def _end(outcome: "Outcome", directory: str, json: bool) -> int:
    from harness.commands.ending import end_walk
    from harness.fuzz import Walked

    parameters = outcome.parameters
    walked = Walked(outcome.tally, outcome.seconds)
    code = end_walk(console(json), parameters.walker(), walked, outcome.findings, json, directory=directory)
    _tell(f"kept in {directory}; show again with: epochfuzz campaign report {directory}")
    return code


def _tell(text: str) -> None:
    console(json_wanted=True).print(text, markup=False, soft_wrap=True)
