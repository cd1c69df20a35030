"""`epochfuzz conform`: compare a user's own implementation with the model."""

import secrets
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.campaigns import Master, Remote, spark_session
from epochfuzz.harness.cli.environment.signals import as_ctrl_c
from epochfuzz.harness.cli.output import BadInput, Exit, console, print_json
from epochfuzz.harness.conform.oracle.judge import JudgedBy
from epochfuzz.harness.conform.run.selection import SMALL, Selection
from epochfuzz.model.kafka.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    from epochfuzz.harness.cases.case import Case
    from epochfuzz.harness.conform.oracle.known import Known
    from epochfuzz.harness.conform.protocol.discrepancy import SubjectUnable
    from epochfuzz.harness.conform.protocol.process import CommandError
    from epochfuzz.harness.conform.run.conformance_finding import ConformanceFinding
    from epochfuzz.harness.conform.run.plan import Plan
    from epochfuzz.harness.conform.run.run import Conformance
    from epochfuzz.harness.documents import conformance as documents

_CORPUS = Path("corpus")
_OUT = Path("conform-cases")
_PROCESSES_FOR = 50
_TOURS_FOR = 2_000  # test sequences are short, and a new process is slow

_OF_SCHEDULES = ("schedules", "seed", "selection", "corpus")
_OF_TOURS = ("refused", "for_")


@options.configured()
def conform(
    *,
    settings: Configuration,
    context: typer.Context,
    command: Annotated[list[str], typer.Argument(help="The command that speaks the conformance protocol, after --.")],
    protocol: options.Protocols = ["kip-320"],  # noqa: B006 - typer only reads the default
    judge: Annotated[
        JudgedBy,
        typer.Option("--judge", help="Check against the model, field by field, or only the guarantees to clients."),
    ] = JudgedBy.LOCKSTEP,
    schedules: Annotated[int, typer.Option("--schedules", min=0, help="Number of schedules to draw.")] = 2_000,
    seed: options.Seed = None,
    selection: Annotated[
        Selection,
        typer.Option(
            "--selection",
            help="Run schedules as drawn, or choose those that cover the most new situations in the model.",
        ),
    ] = Selection.RANDOM,
    exhaustive: Annotated[
        bool,
        typer.Option(
            "--exhaustive",
            help="Play every transition within --replicas, --records and --epochs (if left out: 2, 1 and 2), and draw"
            " nothing.",
        ),
    ] = False,
    refused: Annotated[
        bool,
        typer.Option(
            "--refused", help="With --exhaustive, also send every event that is not enabled, once in each state."
        ),
    ] = False,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="DURATION",
            help="With --exhaustive, the time to play, such as 60s or 8h; the same command resumes.",
        ),
    ] = None,
    max_failures: Annotated[
        int | None, typer.Option("--max-failures", min=1, help="Stop once that number of schedules has failed.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Processes of the adapter at a time; 1 if left out.")
    ] = None,
    processes_for: Annotated[
        int, typer.Option("--processes-for", min=1, help="Schedules after which an adapter process is replaced.")
    ] = _PROCESSES_FOR,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.01, max=1_000_000, help="Seconds to wait for a reply.")
    ] = 5.0,
    corpus: Annotated[
        list[Path] | None, typer.Option("--corpus", help="Cases to run first; ./corpus if there is one.")
    ] = None,
    certify: options.Certify = options.CERTIFY,
    known: Annotated[Path | None, typer.Option("--known", help="A file that lists known differences.")] = None,
    cases_out: Annotated[
        Path, typer.Option("--out", help="The directory for cases of findings, and for the progress of --exhaustive.")
    ] = _OUT,
    campaign: Annotated[
        str | None,
        typer.Option(
            "--campaign",
            callback=options.needs("spark"),
            help="Run the command on Spark's workers, and keep the results in this directory.",
        ),
    ] = None,
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
    - `epochfuzz conform --processes-for 2000 -- java -jar my-subject.jar`
    - `epochfuzz conform --exhaustive --refused --for 10m -- ./my-broker --conformance`
    - `epochfuzz conform --campaign build/tonight --schedules 1000000 --seed 7 -- /usr/local/bin/my-subject`
    - `epochfuzz conform --campaign build/all --exhaustive --records 2 -- /usr/local/bin/my-subject`
    """
    protocols = options.parse_protocols(protocol)
    limit = None if for_ is None else options.parse_duration(for_)
    if exhaustive:
        options.refuse_with(context, _OF_SCHEDULES, "--exhaustive")
        if len(protocols) > 1:
            raise BadInput("--exhaustive needs exactly one --protocol")
        settings, schedules, seed = _small(context, settings), 0, 0
        processes_for = processes_for if "processes_for" in options.given(context) else _TOURS_FOR
    else:
        options.refuse_without(context, _OF_TOURS, "--exhaustive")
    if campaign is None and (master or remote):
        raise BadInput("--master and --remote need --campaign DIR")
    if campaign is not None and jobs is not None:
        raise BadInput("--jobs can't be combined with --campaign; set the number of cores with --master")
    if campaign is not None and limit is not None:
        raise BadInput("--for can't be combined with --campaign; end a campaign with Ctrl-C")
    proving = options.parse_certify(certify)
    cases = [] if exhaustive else _load(corpus)
    differences = _load_known(known)
    if seed is None:
        seed = secrets.randbelow(1 << 32)

    # Imported here, so that help and errors are printed before anything is compiled.
    from epochfuzz.harness.conform.exhaustive.crew import Exhaustive, TourRequest
    from epochfuzz.harness.conform.exhaustive.tour_progress import KeptError
    from epochfuzz.harness.conform.protocol.discrepancy import SubjectUnable
    from epochfuzz.harness.conform.protocol.process import CommandError
    from epochfuzz.harness.conform.run.plan import Plan
    from epochfuzz.harness.conform.run.run import run
    from epochfuzz.harness.conform.run.workers import Processes
    from epochfuzz.harness.engine.explore.explore import MemoryEnded
    from epochfuzz.harness.views.progress import show_search

    out = console(json)
    plan = Plan(
        tuple(command),
        protocols,
        settings,
        schedules,
        seed,
        cases,
        judge,
        timeout,
        max_failures,
        processes_for,
        differences,
        selection,
    )
    again = _command_line(plan, corpus, known, campaign)
    if exhaustive:
        again = _tours_line(plan, known, refused, for_, cases_out, campaign)
    out.print(settings.text() if exhaustive else f"seed {seed} · {settings.text()}")
    options.say_what_versions_stand_for(out, protocols)
    if campaign is not None:
        out.print(f"kept in {campaign}; resume with: {again}", markup=False, soft_wrap=True)
    kept = None
    with as_ctrl_c():
        try:
            if campaign is not None:
                conformance = _campaign(plan, campaign, master, remote, exhaustive, refused)
            else:
                shrinking = proving / 2 / len(protocols) if proving else None  # the other half is for proofs
                with show_search(out) as progress:
                    processes = Processes(jobs or 1, progress.doing, shrinking)
                    if exhaustive:
                        tours = Exhaustive(TourRequest(refused, limit, cases_out), processes)
                        conformance = run(plan, tours, progress.doing)
                        kept = tours.keeper.path if tours.keeper else None
                    else:
                        conformance = run(plan, processes, progress.doing)
        except (SubjectUnable, CommandError) as error:
            raise _unusable(error) from None
        except KeptError as error:
            raise BadInput(f"--out: {error}") from None
        except MemoryEnded as error:
            raise BadInput(f"{error}; play fewer, with smaller --replicas, --records or --epochs") from None
        return _end(_Ending(out, again, cases_out, proving, json, exhaustive, kept), plan, conformance)


def _small(context: typer.Context, settings: Configuration) -> Configuration:
    """Return the settings, with small bounds unless the command line gives bounds."""
    given = options.given(context)
    small: dict[str, Any] = {name: value for name, value in SMALL.items() if name not in given}
    return replace(settings, **small)


@dataclass(frozen=True)
class _Ending:
    """The requested outputs of a run. `again` is the command line that repeats or resumes the run.

    `tours` is true if the run played test sequences instead of schedules. Their progress is in the file `kept`, or in a
    campaign.
    """

    out: Console
    again: str
    cases: Path
    proving: float | None
    json: bool
    tours: bool
    kept: Path | None


def _end(ending: _Ending, plan: "Plan", conformance: "Conformance") -> int:
    """Show and save the results. Returns the exit code. Raises KeyboardInterrupt at the end of an interrupted run."""
    from epochfuzz.harness.conform.run.proofs import proofs
    from epochfuzz.harness.engine.runtime.interruption import Interruption
    from epochfuzz.harness.views import conformance as report
    from epochfuzz.harness.views import transitions

    out, again, proving, tours = ending.out, ending.again, ending.proving, ending.tours
    with out.status("certifying"), Interruption() as interruption:
        known = conformance.nonconformities
        proven = proofs(known, 0 if conformance.interrupted else proving and proving / 2, interruption)
    conformance.interrupted |= interruption.happened
    saved = {}
    for number, (nonconformity, proof) in enumerate(zip(known, proven, strict=True)):
        out.print(report.nonconformity_text(nonconformity, proof))
        if nonconformity.sighting.sent and not nonconformity.known_flaw:
            saved[number] = _save(nonconformity, plan.seed, ending.cases)
            out.print(f"saved as {saved[number]}", markup=False)
    if conformance.interrupted:
        ended = transitions.interrupted(conformance, ending.kept) if tours else report.interrupted(conformance, plan)
        for line in ended:
            out.print(line, markup=False, soft_wrap=True)
        out.print(f"to continue, and to shrink all failures: {again}", markup=False, soft_wrap=True)
        raise KeyboardInterrupt
    for line in transitions.summary(conformance, plan, ending.kept) if tours else report.summary(conformance, plan):
        out.print(line, markup=False, soft_wrap=tours)
    out.print(f"reproduce: {again}", markup=False, soft_wrap=True)
    if ending.json:
        document = report.document(conformance, plan, saved, proven)
        if tours:
            played = transitions.document(conformance, plan)
            of_tours: documents.Exhaustive = {**document, "transitions": played, "reproduce": again}
            print_json(of_tours)
        else:
            of_schedules: documents.Conform = {**document, "reproduce": again}
            print_json(of_schedules)
    if conformance.ended_by is not None:
        raise _unusable(conformance.ended_by)
    if not conformance.conforms:
        return Exit.BROKEN
    if conformance.vacuous:
        out.print("This run checked nothing: no event was ever applied, or no field was ever shown.")
        return Exit.GOAL_UNMET
    return Exit.AS_EXPECTED


def _unusable(error: "SubjectUnable | CommandError") -> BadInput:
    """Return the error of a system under test that cannot run the request, or cannot start."""
    from epochfuzz.harness.conform.protocol.discrepancy import SubjectUnable

    if isinstance(error, SubjectUnable):
        return BadInput(f"the system under test cannot run this protocol and configuration: {error}")
    return BadInput(str(error))


def _campaign(
    plan: "Plan", directory: str, master: str | None, remote: str | None, exhaustive: bool, refused: bool
) -> "Conformance":
    with spark_session(master, remote, works_in=directory) as spark:
        from epochfuzz.harness.campaign.conformance.conformance_job import Trials
        from epochfuzz.harness.campaign.conformance.tours_job import Tours
        from epochfuzz.harness.campaign.run.campaign import Campaign
        from epochfuzz.harness.campaign.run.progress import CampaignProgress

        work: Trials = Tours(plan, refused) if exhaustive else Trials(plan)
        campaign = Campaign.start_or_load(spark, directory, work)
        with CampaignProgress.on(console(json_wanted=True), campaign.work) as progress:
            return campaign.run(progress)


def _load(paths: list[Path] | None) -> list["Case"]:
    from epochfuzz.harness.cases.case import CaseError
    from epochfuzz.harness.cases.corpus import load_corpus

    if paths is None:
        paths = [_CORPUS] if any(_CORPUS.rglob("*.yaml")) else []
    try:
        return load_corpus(paths)
    except CaseError as error:
        raise BadInput(f"--corpus: {error}") from None


def _load_known(path: Path | None) -> tuple["Known", ...]:
    from epochfuzz.harness.conform.oracle.known import KnownError, load_known

    try:
        return load_known(path) if path is not None else ()
    except OSError as error:
        raise BadInput(f"--known: {error.filename}: {error.strerror}") from None
    except KnownError as error:
        raise BadInput(f"--known: {error}") from None


def _save(nonconformity: "ConformanceFinding", seed: int, directory: Path) -> Path:
    from epochfuzz.harness.conform.run.cases import save_case

    try:
        return save_case(nonconformity, seed, directory)
    except OSError as error:
        raise BadInput(f"--out: {error.filename}: {error.strerror}") from None


def _command_line(plan: "Plan", corpus: list[Path] | None, known: Path | None, campaign: str | None) -> str:
    words = _words(plan, known, options.words_of(plan.settings), _PROCESSES_FOR)
    if plan.selection is not Selection.RANDOM:
        words += ["--selection", plan.selection]
    for path in corpus or []:
        words += ["--corpus", str(path)]
    if campaign is not None:
        words += ["--campaign", campaign]
    return shlex.join([*words, "--schedules", str(plan.schedules), "--seed", str(plan.seed), "--", *plan.command])


def _tours_line(
    plan: "Plan", known: Path | None, refused: bool, seconds: str | None, out: Path, campaign: str | None
) -> str:
    settings = options.words_of(plan.settings)
    for name in SMALL:
        if f"--{name}" not in settings:
            settings += [f"--{name}", str(getattr(plan.settings, name))]
    words = [*_words(plan, known, settings, _TOURS_FOR), "--exhaustive"]
    words += ["--refused"] if refused else []
    words += ["--for", seconds] if seconds else []
    words += ["--out", str(out)] if out != _OUT else []
    words += ["--campaign", campaign] if campaign is not None else []
    return shlex.join([*words, "--", *plan.command])


def _words(plan: "Plan", known: Path | None, settings: list[str], processes_for: int) -> list[str]:
    """Return the words that the command lines of schedules and of test sequences share, including `settings`."""
    from epochfuzz.harness.conform.protocol.subject import PATIENCE

    words = ["epochfuzz", "conform"]
    for protocol in plan.protocols:
        words += ["--protocol", protocol.name]
    words += settings
    if plan.judged_by is not JudgedBy.LOCKSTEP:
        words += ["--judge", plan.judged_by]
    if plan.max_failures is not None:
        words += ["--max-failures", str(plan.max_failures)]
    if plan.processes_for != processes_for:
        words += ["--processes-for", str(plan.processes_for)]
    if plan.patience != PATIENCE:
        words += ["--timeout", f"{plan.patience:g}"]
    if known is not None:
        words += ["--known", str(known)]
    return words
