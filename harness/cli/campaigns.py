"""Code that the commands about campaigns share: options, the platform that runs the campaign, and results."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from epochfuzz.harness.cli.environment.signals import as_ctrl_c
from epochfuzz.harness.cli.output import BadInput, Exit, console

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from epochfuzz.harness.campaign.clusters.cluster_job import ClusterOutcome
    from epochfuzz.harness.campaign.run.campaign import Campaign, Platform
    from epochfuzz.harness.campaign.store.local_tables import LocalTables
    from epochfuzz.harness.campaign.walks.outcome import Finished
    from epochfuzz.harness.cases.case import Case

Directory = Annotated[str, typer.Argument(metavar="DIR", help="The campaign's directory.")]
Master = Annotated[
    str | None, typer.Option("--master", help="The Spark master; every core of this machine if left out.")
]
Corpus = Annotated[
    Path | None, typer.Option("--corpus", help="The corpus to compare findings with; ./corpus if left out.")
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Run in this many processes of this machine, without Spark.")
]
Remote = Annotated[str | None, typer.Option("--remote", help="A Spark Connect server, such as sc://localhost.")]


@dataclass(frozen=True)
class RunsOn:
    """The options that say where a campaign runs. `jobs` is the number of local processes; None stands for Spark."""

    jobs: int | None
    master: str | None
    remote: str | None

    def __post_init__(self) -> None:
        for name, value in (("--master", self.master), ("--remote", self.remote)):
            if self.jobs is not None and value is not None:
                raise BadInput(f"--jobs can't be combined with {name}; --jobs runs without Spark")

    @property
    def words(self) -> str:
        """The option for local processes, as text to append to a command. Empty for Spark."""
        return "" if self.jobs is None else f" --jobs {self.jobs}"


_KEPT = "kept in {}; show again with: epochfuzz campaign report {}"

# Imports are inside the functions, so that help and errors are printed before Spark and Numba are loaded. Messages
# about the run go to stderr, and findings to stdout.


def note(text: str) -> None:
    """Print a message about the run to stderr."""
    console(json_wanted=True).print(text, markup=False, soft_wrap=True)


def kept(directory: str, remote: str | None) -> "LocalTables | None":
    """Return the tables of the campaign in a directory on this machine. Raises CampaignError.

    None if the directory is elsewhere, or if `remote` names a Spark Connect server.
    """
    from epochfuzz.harness.campaign.store.local_tables import LocalTables
    from epochfuzz.harness.campaign.store.location import on_this_machine

    here = on_this_machine(directory) if remote is None else None
    return None if here is None else LocalTables(here)


def load(platform: "Platform", directory: str) -> "Campaign[Any]":
    """Return the campaign in a directory, if the command `campaign run` can resume this campaign.

    Raises BadInput if another command started the campaign, and CampaignError if there is no usable campaign.
    """
    from epochfuzz.harness.campaign.clusters.cluster_job import Clusters
    from epochfuzz.harness.campaign.run.campaign import Campaign
    from epochfuzz.harness.campaign.walks.schedules import Schedules

    campaign = Campaign.load(platform, directory)
    if not isinstance(campaign.work, (Schedules, Clusters)):
        resume = campaign.work.how_to_resume(directory)
        raise BadInput(f"{directory} holds a campaign of {campaign.work.NAME}; {resume}")
    return campaign


@contextmanager
def mistakes() -> Iterator[None]:
    """Turn a CampaignError in this block into BadInput. A NonDeterminismError ends the command with code INTERNAL."""
    from epochfuzz.harness.campaign.store.errors import CampaignError, NonDeterminismError

    try:
        yield
    except CampaignError as error:
        raise BadInput(str(error)) from None
    except NonDeterminismError as error:
        note(f"epochfuzz: {error}")
        raise typer.Exit(Exit.INTERNAL) from None


@contextmanager
def platform(where: RunsOn, works_in: str) -> Iterator["Platform"]:
    """Open the platform that runs a campaign in the directory `works_in`: local processes, or a Spark session."""
    if where.jobs is None:
        with spark_session(where.master, where.remote, works_in) as spark:
            yield spark
        return
    from epochfuzz.harness.campaign.store.location import held, on_this_machine
    from epochfuzz.harness.jobs.processes import ProcessPool

    here = on_this_machine(works_in)
    if here is None:
        raise BadInput(f"{works_in} is not on this machine, and only Spark can write it; leave out --jobs")
    with mistakes(), as_ctrl_c(), held(here), ProcessPool(where.jobs) as pool:
        note(f"starting {where.jobs} processes on this machine")
        yield pool


@contextmanager
def spark_session(
    master: str | None, remote: str | None, works_in: str | None = None, memory: float | None = None
) -> Iterator["SparkSession"]:
    """Open a Spark session for a command. Errors of Spark and of `works_in` become BadInput.

    If the directory `works_in` is on this machine, the session locks this directory and keeps Spark's temporary files
    in it. `memory` is the limit of the driver's Java heap, in GiB.
    """
    from epochfuzz.harness.campaign.spark import session
    from epochfuzz.harness.campaign.store.location import held, on_this_machine

    if master is not None and remote is not None:
        raise BadInput("--master can't be combined with --remote; give only one")
    here = None if works_in is None or remote is not None else on_this_machine(works_in)
    with mistakes(), as_ctrl_c(), nullcontext() if here is None else held(here) as temporary:
        note(f"starting Spark on {session.destination(master, remote)}")
        with session.opened(master, remote, temporary, memory) as spark:
            from epochfuzz.harness.campaign.spark import versions

            note(versions.place(spark))
            yield spark


def end(
    outcome: "Finished | ClusterOutcome",
    directory: str,
    corpus: list["Case"],
    json: bool,
    report: Path | None = None,
    sarif: Path | None = None,
) -> int:
    """Print the results of a finished campaign, and write the requested files. Returns the exit code.

    `report` is the HTML file and `sarif` the SARIF file to write, or None. Raises BadInput if the campaign did not run
    schedules of the model but a file is requested.
    """
    from epochfuzz.harness.campaign.clusters.cluster_job import ClusterOutcome
    from epochfuzz.harness.campaign.run.status import about
    from epochfuzz.harness.campaign.walks.outcome import MachineOutcome, ScheduleOutcome
    from epochfuzz.harness.campaign.walks.remaining import remaining_json, remaining_lines
    from epochfuzz.harness.cases.comparison import compare, comparison_json, comparison_lines
    from epochfuzz.harness.cli.cluster_results import end_clusters
    from epochfuzz.harness.cli.walk_results import Ending, end_machine, end_walk
    from epochfuzz.harness.engine.walk.walking import Walked
    from epochfuzz.harness.views.campaigns import about_line, checked_facts

    asked, out = outcome.parameters, console(json)
    facts = about(outcome.begun, asked.version, asked.model)
    out.print(about_line(facts), f"\nseed {asked.seed} · {asked.settings.text()}", sep="")
    more: dict[str, Any] = {"directory": directory, **facts}
    if not isinstance(outcome, ScheduleOutcome) and (report is not None or sarif is not None):
        about_what = "a state machine" if isinstance(outcome, MachineOutcome) else "Kafka itself"
        raise BadInput(
            f"--out and --sarif show schedules of the model, but {directory} is about {about_what}; leave them out"
        )
    if isinstance(outcome, ClusterOutcome):
        code = end_clusters(out, outcome, directory, facts, json)
        note(_KEPT.format(directory, quote(directory)))
        return code
    if isinstance(outcome, MachineOutcome):
        return end_machine(out, outcome, json, **more)
    assert isinstance(outcome, ScheduleOutcome)
    parameters = outcome.parameters
    walked = Walked(outcome.tally, outcome.seconds)
    comparison = compare(outcome.findings, parameters.protocols, parameters.settings, corpus)
    remaining = remaining_json(outcome)
    more |= {**comparison_json(outcome.findings, comparison), **remaining}
    never_met = remaining["unreached"]
    of_the_run: dict[str, Any] = {**facts, **checked_facts(outcome.checked)}
    ending = Ending(
        out=out, json=json, report=report, sarif=sarif, trace=True, never_met=never_met, about=of_the_run, more=more
    )
    code = end_walk(ending, outcome.engine, walked, outcome.findings)
    for line in (*comparison_lines(outcome.findings, comparison), *remaining_lines(outcome)):
        out.print(line, highlight=False)
    if code == Exit.AS_EXPECTED and outcome.stopped_unstable:
        code = Exit.GOAL_UNMET
    note(_KEPT.format(directory, quote(directory)))
    return code
