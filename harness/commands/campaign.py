"""`epochfuzz campaign`: the random runs of `fuzz` on Spark, stored in a directory, with resume and report."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from epochfuzz.harness.cli import campaigns, options
from epochfuzz.harness.cli.cases import known_cases
from epochfuzz.harness.cli.help import Group, SparkCommand
from epochfuzz.harness.cli.output import BadInput, as_bad_input, console
from epochfuzz.harness.cluster.broker.installation import DEFAULT_RELEASE, refuse_no_release
from epochfuzz.harness.cluster.errors import ClusterError
from epochfuzz.harness.commands.subcommands.campaign_report import report
from epochfuzz.harness.environment import extras
from epochfuzz.harness.environment.seeds import random_seed
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.campaign import Campaign, Platform
    from epochfuzz.harness.campaign.run.job import Job
    from epochfuzz.harness.cases.case import Case

DEFAULT_SECONDS = 30.0
# Options without a meaning for clusters: the release determines Kafka's behaviour, and the partition has its defaults.
_NOT_OF_CLUSTERS = (
    *("protocol", "certify", "corpus"),
    *(each.name for each in fields(Configuration) if each.name != "replicas"),
)


class Engine(Enum):
    """The engines that run the schedules of a campaign."""

    WALK = "walk"
    HYPOTHESIS = "hypothesis"
    CLUSTER = "cluster"


app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""Run `fuzz` on Spark or in local processes, with durable results: run, resume, report.

Examples:

- `epochfuzz campaign run --out build/tonight --protocol kip-320 --replicas 3 --for 8h`
- `epochfuzz campaign resume build/tonight`
- `epochfuzz campaign report build/tonight`
""",
)

Schedules = Annotated[int | None, typer.Option("--schedules", min=1, help="Number of schedules to run.")]
For = Annotated[str | None, typer.Option("--for", help="Time to run, such as 8h, instead of --schedules.")]
UntilStable = Annotated[
    float | None,
    typer.Option(
        "--until-stable",
        help="Stop when the probability that one more schedule shows something new is below this value. --schedules or"
        " --for may stop earlier.",
    ),
]
WithEngine = Annotated[
    Engine,
    typer.Option(
        "--engine",
        help="Run random schedules of the model, a Hypothesis state machine, or schedules on one Kafka cluster per"
        " worker.",
    ),
]
OwnMachine = Annotated[
    str | None,
    typer.Option("--machine", help="With --engine hypothesis: your own state machine, as module:Name."),
]
Release = Annotated[
    str | None,
    typer.Option("--release", help=f"With --engine cluster: the release of Kafka; {DEFAULT_RELEASE} if left out."),
]
Out = Annotated[str, typer.Option("--out", help="The campaign's directory: any URI that Spark can write to.")]


@app.command("run", cls=SparkCommand)
@options.configured()
def run(
    context: typer.Context,
    *,
    settings: Configuration,
    out: Out,
    protocol: options.Protocols = ["hw", "kip-101"],  # noqa: B006 - typer only reads the default
    schedules: Schedules = None,
    for_: For = None,
    until_stable: UntilStable = None,
    seed: options.Seed = None,
    engine: WithEngine = Engine.WALK,
    machine: OwnMachine = None,
    release: Release = None,
    jobs: campaigns.Jobs = None,
    master: campaigns.Master = None,
    remote: campaigns.Remote = None,
    certify: options.Certify = options.CERTIFY,
    corpus: campaigns.Corpus = None,
    json: options.Json = False,
) -> int:
    """Run random schedules on every core that Spark has, or with --jobs; shrink and certify each violation.

    Examples:

    - `epochfuzz campaign run --out build/campaign --protocol hw --protocol kip-101`
    - `epochfuzz campaign run --out s3a://bucket/tonight --protocol kip-320 --for 8h --master spark://host:7077`
    - `epochfuzz campaign run --out /tmp/c --until-stable 1e-5 --for 8h`
    - `epochfuzz campaign run --out /tmp/c --engine hypothesis --machine tests.machines:MyLog --schedules 1000`
    - `epochfuzz campaign run --out /tmp/c --engine cluster --release 4.3.1 --replicas 3 --for 8h --master local[2]`
    - `epochfuzz campaign run --out /tmp/c --schedules 10000000 --seed 7 --json`
    - `epochfuzz campaign run --out /tmp/c --jobs 4 --for 8h`
    """
    asked, on = _asked(context, settings), campaigns.RunsOn(jobs, master, remote)
    if engine is Engine.CLUSTER:
        options.refuse_with(context, _NOT_OF_CLUSTERS, "--engine cluster")
        begin = _on_clusters(out, release or DEFAULT_RELEASE, asked)
        return _finish(begin, _Request(out, on, None, [], json))
    options.say_what_versions_stand_for(console(json), asked.protocols)
    if engine is Engine.WALK:
        from epochfuzz.harness.cli.first_finding import show_first_finding

        show_first_finding(console(json), asked.protocols, settings)
    begin = _of_the_model(out, asked, engine, machine)
    return _finish(begin, _Request(out, on, options.parse_certify(certify), known_cases(corpus), json))


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """The schedules that a campaign runs, and its limits: a number of schedules, a time, and --until-stable.

    `seconds` is the time limit. `stable` is the probability that --until-stable gives. An unused limit is None.
    """

    protocols: list[Protocol]
    settings: Configuration
    seed: int
    schedules: int | None
    seconds: float | None
    stable: float | None


def _asked(context: typer.Context, settings: Configuration) -> _Asked:
    """Return the request that the options describe. Raises BadInput for options that exclude each other."""
    named = context.params
    engine, stable, seed, seconds = named["engine"], named["until_stable"], named["seed"], None
    protocols = options.parse_protocols(named["protocol"])
    if named["schedules"] is not None and named["for_"] is not None:
        raise BadInput("--schedules can't be combined with --for; give only one")
    if named["for_"] is not None:
        seconds = options.parse_duration(named["for_"])
    if named["machine"] is not None and engine is not Engine.HYPOTHESIS:
        raise BadInput("--machine needs --engine hypothesis")
    if named["release"] is not None and engine is not Engine.CLUSTER:
        raise BadInput("--release needs --engine cluster")
    if stable is not None and engine is not Engine.WALK:
        raise BadInput("--until-stable needs --engine walk")
    if stable is not None and not 0 < stable < 1:
        raise BadInput(f"--until-stable must be a probability between 0 and 1, such as 1e-5; got {stable:g}")
    return _Asked(
        protocols=protocols,
        settings=settings,
        seed=random_seed() if seed is None else seed,
        schedules=named["schedules"],
        seconds=DEFAULT_SECONDS if named["schedules"] is None and seconds is None and stable is None else seconds,
        stable=stable,
    )


def _of_the_model(
    out: str, asked: _Asked, engine: Engine, machine: str | None
) -> Callable[["Platform"], "Campaign[Any]"]:
    """Return the function that starts a campaign of random runs of the model, or of Hypothesis state machines."""

    def begin(platform: "Platform") -> "Campaign[Any]":
        from epochfuzz.harness.campaign.run.campaign import Campaign
        from epochfuzz.harness.campaign.run.kinds import work_of
        from epochfuzz.harness.campaign.walks.parameters import MACHINES, Parameters

        parameters = Parameters(
            protocols=tuple(asked.protocols),
            settings=asked.settings,
            seed=asked.seed,
            schedules=asked.schedules,
            seconds=asked.seconds,
            stable=asked.stable,
        )
        if engine is Engine.HYPOTHESIS:
            parameters = replace(parameters, engine=engine.value, block=MACHINES)
        if machine is not None:
            parameters = replace(parameters, machine=machine, protocols=())
        return Campaign.start(platform, out, work_of(parameters.row()))

    return begin


def _on_clusters(out: str, release: str, asked: _Asked) -> Callable[["Platform"], "Campaign[Any]"]:
    """Return the function that starts a campaign on clusters of Kafka itself. Raises BadInput and MissingExtra."""
    from epochfuzz.harness.cluster.broker.cluster import NAMES

    extras.require("cluster")
    with as_bad_input(ClusterError):
        refuse_no_release(release)
    replicas = asked.settings.replicas
    if replicas > len(NAMES):
        raise BadInput(f"--replicas must be at most {len(NAMES)}, the brokers of a cluster; got {replicas}")

    def begin(platform: "Platform") -> "Campaign[Any]":
        from epochfuzz.harness.campaign.clusters.cluster_job import Clusters
        from epochfuzz.harness.campaign.clusters.cluster_parameters import ClusterParameters
        from epochfuzz.harness.campaign.run.campaign import Campaign
        from epochfuzz.harness.cluster.schedules.beside import modelled

        protocol = modelled(release).name
        parameters = ClusterParameters(
            release=release,
            protocol=protocol,
            replicas=replicas,
            seed=asked.seed,
            schedules=asked.schedules,
            seconds=asked.seconds,
        )
        return Campaign.start(platform, out, Clusters(parameters))

    return begin


@app.command("resume", cls=SparkCommand)
def resume(
    directory: campaigns.Directory,
    machine: Annotated[
        str | None,
        typer.Option("--machine", help="The state machine of the campaign. epochfuzz imports its module."),
    ] = None,
    jobs: campaigns.Jobs = None,
    master: campaigns.Master = None,
    remote: campaigns.Remote = None,
    certify: options.Certify = options.CERTIFY,
    corpus: campaigns.Corpus = None,
    json: options.Json = False,
) -> int:
    """Resume a campaign. It produces the same tables, row for row, as an uninterrupted campaign.

    Examples:

    - `epochfuzz campaign resume build/campaign`
    - `epochfuzz campaign resume build/machines --machine tests.machines:MyLog`
    """
    known, on = known_cases(corpus), campaigns.RunsOn(jobs, master, remote)
    with campaigns.mistakes():
        kept = campaigns.kept(directory, remote)
        if kept is not None:  # report errors before Spark starts
            _refuse_another_machine(kept.work, directory, machine)

    def load(platform: "Platform") -> "Campaign[Any]":
        campaign = campaigns.load(platform, directory)
        _refuse_another_machine(campaign.work, directory, machine)
        return campaign

    return _finish(load, _Request(directory, on, options.parse_certify(certify), known, json))


app.command("report", cls=SparkCommand)(report)


def _refuse_another_machine(work: "Job[Any]", directory: str, machine: str | None) -> None:
    """Raise BadInput unless `machine` names the state machine of the campaign, or is None if the campaign has none.

    A resumed campaign imports the module of its state machine. Someone else may have created the directory, so the user
    must allow this import with --machine.
    """
    from epochfuzz.harness.campaign.machines.machine_job import OwnMachines
    from epochfuzz.harness.campaign.machines.own import place_of

    (kept,) = work.names if isinstance(work, OwnMachines) else (None,)
    if kept is None and machine is not None:
        raise BadInput(f"--machine: {directory} is not a campaign of your own state machine; leave --machine out")
    if kept is not None and machine != kept:
        raise BadInput(
            f"{directory} is a campaign of the state machine {kept}. To resume it, epochfuzz imports"
            f" {kept.partition(':')[0]} from {place_of(kept)}; allow that with --machine {kept}"
        )


@dataclass(frozen=True)
class _Request:
    """The directory of a campaign, where it runs, its corpus, and its options. `certify` is in seconds."""

    directory: str
    runs_on: campaigns.RunsOn
    certify: float | None
    corpus: list["Case"]
    json: bool


def _finish(begin: Callable[["Platform"], "Campaign[Any]"], asked: _Request) -> int:
    """Start or load a campaign, run it to its end, and show its results. Returns the exit code."""
    from epochfuzz.harness.campaign.run.progress import CampaignProgress
    from epochfuzz.harness.campaign.store.errors import CampaignError

    with campaigns.platform(asked.runs_on, asked.directory) as platform:
        campaign = begin(platform)
        campaign.work.certify = asked.certify
        campaigns.note(campaign.work.heading)
        try:
            with CampaignProgress.on(console(json_wanted=True), campaign.work) as progress:
                outcome = campaign.run(progress)
        except CampaignError:
            raise
        except BaseException:
            resume = campaign.work.command_to_resume(asked.directory) + asked.runs_on.words
            campaigns.note(f"not finished; resume with: {resume}")
            raise
    return campaigns.end(outcome, asked.directory, asked.corpus, asked.json)
