"""`epochfuzz conform`: compare a user's own implementation with the model."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.campaigns import Master, Remote, RunsOn, platform
from epochfuzz.harness.cli.environment.signals import as_ctrl_c
from epochfuzz.harness.cli.output import BadInput, as_bad_input, console, files_as_bad_input
from epochfuzz.harness.cli.runs.conform_request import OUT, PROCESSES_FOR, ConformRequest, default_processes_for
from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.run.attempts import FOR_SLOW
from epochfuzz.harness.conform.run.selection import SMALL, Selection, selection_for
from epochfuzz.model.kafka.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    from epochfuzz.harness.cases.case import Case
    from epochfuzz.harness.conform.oracle.known import Known
    from epochfuzz.harness.conform.run.plan import Plan
    from epochfuzz.harness.conform.run.run import Conformance
    from epochfuzz.harness.jobs.unfinished import UnfinishedRun
    from epochfuzz.model.kafka.vocabulary.protocols import Protocol

_CORPUS = Path("corpus")

_OF_SCHEDULES = ("schedules", "seed", "selection", "corpus")
_OF_TOURS = ("refused",)
_SCHEDULES_FOR_CLIENTS = 100  # a client needs about a second for each
_NO_LIMIT = 1_000_000_000  # schedules; --for ends the campaign before


Command = Annotated[list[str], typer.Argument(help="After --: the command that starts your adapter.")]
OfClient = Annotated[
    bool,
    typer.Option(
        "--client",
        callback=options.needs("client"),
        help="The command is an adapter of a Kafka client, and the model simulates the brokers. Implies --judge"
        " promises. If left out, --schedules is 100 and --processes-for is 10.",
    ),
]
Judge = Annotated[
    JudgedBy,
    typer.Option("--judge", help="Compare every field with the model, or check only the guarantees to clients."),
]
Schedules = Annotated[
    int,
    typer.Option(
        "--schedules",
        min=0,
        help="Number of random schedules. With --campaign and --for, there is no limit by default.",
    ),
]
Selected = Annotated[
    Selection | None,
    typer.Option(
        "--selection",
        help="Run all schedules (random), those that cover the most new situations (coverage), or those that break a"
        " protocol with a known bug (bugs). If left out: bugs with --client, coverage with --judge promises, otherwise"
        " random.",
    ),
]
EveryTransition = Annotated[
    bool,
    typer.Option(
        "--exhaustive",
        help="Instead of random schedules, run every transition within --replicas, --records and --epochs (default: 2,"
        " 1 and 2).",
    ),
]
Refused = Annotated[
    bool,
    typer.Option("--refused", help="With --exhaustive, also send every event that is not enabled, once in each state."),
]
For = Annotated[
    str | None,
    typer.Option(
        "--for",
        metavar="DURATION",
        help="With either --exhaustive or --campaign: the time limit, such as 60s or 8h.",
    ),
]
MaxFailures = Annotated[
    int | None, typer.Option("--max-failures", min=1, help="Stop after this number of failed schedules.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, help="Number of parallel adapter processes; 1 if left out. With --campaign: instead of Spark."
    ),
]
ProcessesFor = Annotated[
    int, typer.Option("--processes-for", min=1, help="Number of schedules for each adapter process.")
]
Timeout = Annotated[float, typer.Option("--timeout", min=0.01, max=1_000_000, help="Seconds to wait for a reply.")]
Corpus = Annotated[
    list[Path] | None,
    typer.Option(
        "--corpus",
        help="Cases to run first. If left out: with --client the installed cases for clients, else ./corpus if there"
        " is one.",
    ),
]
KnownDifferences = Annotated[Path | None, typer.Option("--known", help="A file that lists known differences.")]
Out = Annotated[
    Path,
    typer.Option("--out", help="The directory for found cases. To resume a killed run, repeat the command."),
]
InCampaign = Annotated[
    str | None,
    typer.Option(
        "--campaign",
        callback=options.needs("spark"),
        help="Run the command on Spark's workers or with --jobs, and keep the results in this directory.",
    ),
]


@options.configured()
def conform(
    *,
    settings: Configuration,
    context: typer.Context,
    command: Command,
    protocol: options.Protocols = ["kip-320"],  # noqa: B006 - typer only reads the default
    client: OfClient = False,
    judge: Judge = JudgedBy.LOCKSTEP,
    schedules: Schedules = 2_000,
    seed: options.Seed = None,
    selection: Selected = None,
    exhaustive: EveryTransition = False,
    refused: Refused = False,
    for_: For = None,
    max_failures: MaxFailures = None,
    jobs: Jobs = None,
    processes_for: ProcessesFor = PROCESSES_FOR,
    timeout: Timeout = 5.0,
    corpus: Corpus = None,
    certify: options.Certify = options.CERTIFY,
    known: KnownDifferences = None,
    cases_out: Out = OUT,
    campaign: InCampaign = None,
    master: Master = None,
    remote: Remote = None,
    json: options.Json = False,
) -> int:
    """Compare your own implementation with the model; shrink each difference.

    Examples:

    - `epochfuzz conform -- python -m tests.conform.subject`
    - `epochfuzz conform --protocol kip-101 --replicas 3 --jobs 2 -- ./my-broker --conformance`
    - `epochfuzz conform --judge promises --schedules 10000 --seed 7 --json -- node subject.js`
    - `epochfuzz conform --selection coverage --replicas 3 -- ./my-broker --conformance`
    - `epochfuzz conform --processes-for 2000 -- java -jar my-adapter.jar`
    - `epochfuzz conform --exhaustive --refused --for 10m -- ./my-broker --conformance`
    - `epochfuzz conform --client --replicas 3 -- python -m tests.clients.librdkafka`
    - `epochfuzz conform --campaign build/tonight --schedules 1000000 --seed 7 -- /usr/local/bin/my-adapter`
    - `epochfuzz conform --campaign build/all --exhaustive --records 2 -- /usr/local/bin/my-adapter`
    - `epochfuzz conform --campaign build/tonight --jobs 4 --for 8h -- /usr/local/bin/my-adapter`
    """
    asked = _request(context, settings)
    plan = _plan(context, settings, asked)
    asked.out.print(plan.settings.text() if exhaustive else f"seed {plan.seed} · {plan.settings.text()}")
    options.say_what_versions_stand_for(asked.out, plan.protocols)
    with as_ctrl_c():
        return _run(asked, plan)


def _request(context: typer.Context, settings: Configuration) -> ConformRequest:
    """Return the request that the options describe. Raises BadInput for options that exclude each other."""
    given, named = options.given(context), context.params
    if named["client"]:
        options.refuse_with(context, ("exhaustive", "transactions"), "--client")
        if "judge" in given and named["judge"] is not JudgedBy.PROMISES:
            raise BadInput("--client needs --judge promises, because clients differ from the model in details")
    if named["exhaustive"]:
        options.refuse_with(context, _OF_SCHEDULES, "--exhaustive")
        if named["campaign"] is not None and named["for_"] is not None:
            raise BadInput("--for can't be combined with --exhaustive and --campaign; end the campaign with Ctrl-C")
    else:
        options.refuse_without(context, _OF_TOURS, "--exhaustive")
        if named["campaign"] is None:
            options.refuse_without(context, ("for_",), "--exhaustive or --campaign")
    if named["campaign"] is None and (named["master"] or named["remote"]):
        raise BadInput("--master and --remote need --campaign DIR")
    return ConformRequest(
        out=console(named["json"]),
        json=named["json"],
        exhaustive=named["exhaustive"],
        refused=named["refused"],
        for_=named["for_"],
        seconds=None if named["for_"] is None else options.parse_duration(named["for_"]),
        jobs=named["jobs"],
        corpus=named["corpus"],
        known=named["known"],
        cases=named["cases_out"],
        resumes="cases_out" in given and not named["exhaustive"] and named["campaign"] is None,
        campaign=named["campaign"],
        master=named["master"],
        remote=named["remote"],
        certify=options.parse_certify(named["certify"]),
        is_certify_given="certify" in given,
    )


# Imported inside the functions, so that help and errors are printed before anything is compiled.


def _plan(context: typer.Context, settings: Configuration, asked: ConformRequest) -> "Plan":
    """Return the plan that the options describe. Raises BadInput.

    Without --seed, the plan has the seed of the campaign in the directory of --campaign, or of an unfinished run with
    an equal request, or else a random seed.
    """
    named = context.params
    protocols = options.parse_protocols(named["protocol"])
    if asked.exhaustive and len(protocols) > 1:
        raise BadInput("--exhaustive needs exactly one --protocol")
    cases = [] if asked.exhaustive else _load(asked.corpus, protocols if named["client"] else None)
    known = _load_known(asked.known)

    from epochfuzz.harness.conform.run.kept_runner import request
    from epochfuzz.harness.conform.run.plan import Plan
    from epochfuzz.harness.jobs.unfinished import ProgressError
    from epochfuzz.harness.serve.settings import settings_for_clients

    judged_by = named["judge"]
    if named["client"]:
        judged_by, settings = JudgedBy.PROMISES, settings_for_clients(settings)
    processes_for = named["processes_for"]
    if "processes_for" not in options.given(context):
        processes_for = default_processes_for(exhaustive=asked.exhaustive, is_client=named["client"])
    plan = Plan(
        command=tuple(named["command"]),
        protocols=protocols,
        settings=_small(context, settings) if asked.exhaustive else settings,
        schedules=_schedules(context, asked),
        seed=0,
        cases=cases,
        judged_by=judged_by,
        patience=named["timeout"],
        max_failures=named["max_failures"],
        processes_for=processes_for,
        known=known,
        selection=named["selection"] or selection_for(judged_by, is_client=named["client"]),
        is_client=named["client"],
    )
    if asked.exhaustive:
        return plan
    with as_bad_input(ProgressError, "--out"):
        seed = _seed_of_campaign(asked.campaign) if named["seed"] is None else named["seed"]
        return replace(plan, seed=request(plan).seed_for(seed, asked.cases if asked.resumes else None))


def _seed_of_campaign(directory: str | None) -> int | None:
    """Return the seed of the conformance campaign in a directory of this machine, or None if there is none."""
    if directory is None or not Path(directory).is_dir():
        return None
    from epochfuzz.harness.campaign.conformance.conformance_job import Trials
    from epochfuzz.harness.campaign.store.errors import CampaignError
    from epochfuzz.harness.campaign.store.local_tables import LocalTables

    try:
        work = LocalTables(Path(directory)).work
    except CampaignError:  # no campaign, or a damaged one: to run the campaign raises this error again
        return None
    return work.seed if isinstance(work, Trials) else None


def _schedules(context: typer.Context, asked: ConformRequest) -> int:
    """Return the number of schedules to draw: the value of --schedules, or the default for the other options."""
    if asked.exhaustive:
        return 0
    if "schedules" in options.given(context):
        return int(context.params["schedules"])
    if asked.campaign is not None and asked.seconds is not None:
        return _NO_LIMIT
    return _SCHEDULES_FOR_CLIENTS if context.params["client"] else int(context.params["schedules"])


def _run(asked: ConformRequest, plan: "Plan") -> int:
    """Run the plan, and show its results. Returns the exit code. Raises BadInput."""
    from epochfuzz.harness.cli.runs.conform_results import ConformEnding, end, unusable
    from epochfuzz.harness.conform.protocol.discrepancy import SubjectUnable
    from epochfuzz.harness.conform.protocol.process import CommandError
    from epochfuzz.harness.engine.explore.explore import MemoryEnded
    from epochfuzz.harness.jobs.unfinished import ProgressError

    again = asked.again(plan)
    try:
        with as_bad_input(ProgressError, "--out"):
            if asked.campaign is not None:
                conformance, unfinished = _in_campaign(asked, plan, asked.campaign, again), None
            else:
                conformance, unfinished = _on_this_machine(asked, plan)
            ending = ConformEnding(asked, again, None if unfinished is None else unfinished.path)
            toured = conformance.toured
            with _forgotten(None if toured is not None and not toured.is_complete else unfinished):
                return end(ending, plan, conformance)
    except (SubjectUnable, CommandError) as error:
        raise unusable(error) from None
    except MemoryEnded as error:
        raise BadInput(f"{error}; play fewer, with smaller --replicas, --records or --epochs") from None


@contextmanager
def _forgotten(unfinished: "UnfinishedRun | None") -> Iterator[None]:
    """Delete the saved progress of a run when the `with` block ends or raises BadInput, but not after Ctrl-C."""
    try:
        yield
    except BadInput:
        if unfinished is not None:
            unfinished.forget()
        raise
    if unfinished is not None:
        unfinished.forget()


def _on_this_machine(asked: ConformRequest, plan: "Plan") -> "tuple[Conformance, UnfinishedRun | None]":
    """Run the plan with processes of this machine. Returns the results, and the file of the saved progress or None."""
    from epochfuzz.harness.conform.exhaustive.crew import Exhaustive, TourRequest
    from epochfuzz.harness.conform.run.kept_runner import KeptRunner
    from epochfuzz.harness.conform.run.run import run
    from epochfuzz.harness.conform.run.workers import Processes
    from epochfuzz.harness.views.progress import show_search

    shrinking = asked.certify / 2 / len(plan.protocols) if asked.certify else None  # the other half is for proofs
    with show_search(asked.out) as progress:
        if plan.selection is Selection.BUGS and plan.schedules:
            progress.doing("looking for schedules that known bugs fail")
            _say_which_bugs(asked, plan)
        processes = Processes(
            asked.jobs or 1, progress.doing, shrinking, for_slow=0 if asked.is_certify_given else FOR_SLOW
        )
        if asked.exhaustive:
            tours = Exhaustive(TourRequest(asked.refused, asked.seconds, asked.cases), processes)
            conformance = run(plan, tours, progress.doing)
            return conformance, None if tours.kept is None else tours.kept.unfinished
        if not asked.resumes:
            return run(plan, processes, progress.doing), None
        kept = KeptRunner(asked.cases, plan, processes)
        if kept.done:
            asked.out.print(
                f"resuming after {kept.done:,} schedules and cases, which are kept in {kept.unfinished.path}; remove"
                " that file to begin again, such as with another build of the system under test",
                markup=False, soft_wrap=True,
            )  # fmt: skip
        return run(plan, kept, progress.doing), kept.unfinished


def _say_which_bugs(asked: ConformRequest, plan: "Plan") -> None:
    """Print the known bugs that `--selection bugs` draws the schedules of the plan for."""
    from epochfuzz.harness.conform.run.bugs import known_bugs

    for protocol in plan.protocols:
        bugs = known_bugs(protocol, plan.settings, is_client=plan.is_client)
        names = ", ".join(bug.choice for bug in bugs)
        text = f"each schedule shows one of these bugs, if the system has it: {names}"
        if not bugs:
            text = "no known bug breaks a guarantee with these settings, so the schedules are random"
        asked.out.print(f"{protocol.name}: {text}", markup=False, soft_wrap=True)


def _in_campaign(asked: ConformRequest, plan: "Plan", directory: str, again: str) -> "Conformance":
    from epochfuzz.harness.campaign.spark import session

    program, on = plan.command[0], RunsOn(asked.jobs, asked.master, asked.remote)
    is_here = on.jobs is not None or session.destination(on.master, on.remote).startswith("local")
    if is_here and shutil.which(program) is None:
        raise BadInput(f"cannot run '{program}': no such command on this machine")
    with platform(on, directory) as where:
        from epochfuzz.harness.campaign.conformance.conformance_job import Trials
        from epochfuzz.harness.campaign.conformance.tours_job import Tours
        from epochfuzz.harness.campaign.run.campaign import Campaign
        from epochfuzz.harness.campaign.run.progress import CampaignProgress

        work: Trials = Tours(plan, asked.refused) if asked.exhaustive else Trials(plan)
        campaign = Campaign.start_or_load(where, directory, work)
        asked.out.print(f"kept in {directory}; resume with: {again}", markup=False, soft_wrap=True)
        campaign.work.seconds = asked.seconds
        with CampaignProgress.on(console(json_wanted=True), campaign.work) as progress:
            return campaign.run(progress)


def _small(context: typer.Context, settings: Configuration) -> Configuration:
    """Return the settings with the small bounds of an exhaustive run. Bounds on the command line take precedence."""
    given = options.given(context)
    small: dict[str, Any] = {name: value for name, value in SMALL.items() if name not in given}
    return replace(settings, **small)


def _load(paths: list[Path] | None, of_client: "Sequence[Protocol] | None") -> list["Case"]:
    """Return the cases in `paths`, or else the default cases. `of_client` are the protocols of a client, or None."""
    from epochfuzz.harness.cases.case import CaseError
    from epochfuzz.harness.cases.corpus import load_corpus

    if paths is None and of_client is not None:
        from epochfuzz.harness.conform.client.client_cases import client_cases

        return client_cases(of_client)
    if paths is None:
        paths = [_CORPUS] if any(_CORPUS.rglob("*.yaml")) else []
    with as_bad_input(CaseError, "--corpus"):
        return load_corpus(paths)


def _load_known(path: Path | None) -> tuple["Known", ...]:
    from epochfuzz.harness.conform.oracle.known import KnownError, load_known

    with files_as_bad_input("--known"), as_bad_input(KnownError, "--known"):
        return load_known(path) if path is not None else ()
