"""`epochfuzz explore`: search a protocol exhaustively within bounds, in memory or on Spark."""

from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.console import Console

from epochfuzz.harness.cli import campaigns, options
from epochfuzz.harness.cli.environment.signals import as_ctrl_c
from epochfuzz.harness.cli.output import BadInput, Exit, as_bad_input, console, files_as_bad_input, print_json
from epochfuzz.harness.environment import extras
from epochfuzz.harness.trace.causes import causes
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import VERBS

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.search.kept_search import KeptSearch
    from epochfuzz.harness.documents import searches
    from epochfuzz.harness.engine.explore.explore import Exploration
    from epochfuzz.harness.findings.search_request import SearchRequest
    from epochfuzz.model.kafka.vocabulary.protocols import Protocol

    _End = Callable[[Console, SearchRequest, Exploration, float, bool], int]

_OF_SEARCHES = ("property_", "depth", "jobs", "symmetry", "out", "resume", "master", "remote")
_GOING_ON = ("resume", "memory", "jobs", "master", "remote", "json")  # options that a resumed search accepts


class ToursAs(Enum):
    """The file formats of test sequences."""

    JSONL = "jsonl"
    ITF = "itf"


Depth = Annotated[int | None, typer.Option("--depth", min=1, help="Largest number of events in a schedule.")]
Memory = Annotated[float, typer.Option("--memory", min=0.1, help="Memory for states, or for the Spark driver, in GiB.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Threads, all cores if left out. With --out: no Spark.")
]
Symmetry = Annotated[
    bool,
    typer.Option("--symmetry/--no-symmetry", help="Merge states that differ only in the names of replicas."),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        help="Keep the search in this directory, to resume it. Runs on Spark, or with --jobs in this process.",
    ),
]
Resume = Annotated[str | None, typer.Option("--resume", help="Resume the search in this directory.")]
Tests = Annotated[
    Path | None,
    typer.Option(
        "--tests", help="Only write test sequences for every transition, with expected observations, to this directory."
    ),
]
Format = Annotated[
    ToursAs, typer.Option("--format", help="With --tests: lines of JSON, or one ITF trace in each file.")
]


@options.configured(records=3, epochs=3)
def explore(
    *,
    settings: Configuration,
    context: typer.Context,
    protocol: Annotated[str, options.protocol_option("--protocol", "-p", help="The protocol to search.")] = "",
    property_: options.Property = "no-committed-loss",
    depth: Depth = None,
    memory: Memory = 4.0,
    jobs: Jobs = None,
    model: options.OwnModel = None,
    symmetry: Symmetry = True,
    out: Out = None,
    resume: Resume = None,
    master: campaigns.Master = None,
    remote: campaigns.Remote = None,
    tests: Tests = None,
    format_: Format = ToursAs.JSONL,
    json: options.Json = False,
) -> int:
    """Visit every state within bounds, to find a shortest counterexample or to prove that there is none.

    Examples:

    - `epochfuzz explore --protocol hw`
    - `epochfuzz explore --protocol kip-320 --property no-divergence --records 3 --epochs 3`
    - `epochfuzz explore --protocol kip-320:isr_expansion=high_watermark --replicas 3`
    - `epochfuzz explore --protocol kip-101 --jobs 1 --no-symmetry`
    - `epochfuzz explore --protocol kip-320 --replicas 3 --epochs 5 --out build/search --jobs 2`
    - `epochfuzz explore --resume build/search`
    - `epochfuzz explore --protocol kip-320 --replicas 3 --epochs 5 --out build/on-spark --memory 1`
    - `epochfuzz explore --protocol kip-320 --records 1 --epochs 2 --tests build/tours`
    - `epochfuzz explore --model counter:COUNTER --protocol at-once`
    """
    if model is not None:
        return _own(context, model)
    _refuse_what_is_not_used(context)
    if resume is not None:
        return _resumed(context, resume)
    if not protocol:
        raise BadInput("give --protocol for a new search, or --resume DIR to continue one")
    (parsed,) = options.parse_protocols([protocol])
    options.parse_property(property_)

    if tests is not None:
        return _write_tests(parsed, settings, tests, format_, memory, json)

    from epochfuzz.harness.findings.search_request import SearchRequest

    asked = SearchRequest(protocol=parsed, settings=settings, sought=property_, depth=depth, symmetric=symmetry)
    options.say_what_versions_stand_for(console(json), [parsed])
    if out is None:
        return _in_memory(asked, memory, jobs, json, _end)
    if jobs is None:
        return _on_spark(asked, out, memory, master, remote, json)
    return _in_directory(asked, out, memory, jobs, json)


def _own(context: typer.Context, model: str) -> int:
    """Search a user's own model. Returns the exit code."""
    from epochfuzz.harness.own import loading

    options.refuse_for_own_model(context, "protocol", "property_", "depth", "memory", "jobs", "symmetry", "json")
    given = context.params
    property_ = given["property_"] if "property_" in options.given(context) else None
    loaded = loading.load(model)
    parsed, sought = loading.protocol_of(loaded, given["protocol"]), loading.property_of(loaded, property_)
    settings = loading.settings_of(loaded, options.given_settings(context))

    from epochfuzz.harness.findings.search_request import SearchRequest

    asked = SearchRequest(
        protocol=parsed, settings=settings, sought=sought, depth=given["depth"], symmetric=given["symmetry"]
    )
    with loading.mistakes_as_bad_input():
        return _in_memory(asked, given["memory"], given["jobs"], given["json"], _end_own)


def _refuse_what_is_not_used(context: typer.Context) -> None:
    """Raise BadInput for an option that the command would otherwise ignore silently."""
    if context.params["tests"] is not None:
        options.refuse_with(context, _OF_SEARCHES, "--tests")
    elif context.params["resume"] is not None:
        dropped = [name for name in context.params if name not in _GOING_ON]
        options.refuse_with(context, dropped, "--resume")
    elif context.params["out"] is not None:
        options.refuse_with(context, ["master", "remote"] if "jobs" in options.given(context) else [], "--jobs")
    else:
        options.refuse_without(context, ["master", "remote"], "--out")
    if context.params["tests"] is None:
        options.refuse_without(context, ["format_"], "--tests")


def _write_tests(
    protocol: "Protocol", settings: Configuration, directory: Path, as_: ToursAs, memory: float, json: bool
) -> int:
    """Write test sequences through every transition within bounds into a new directory. Returns the exit code."""
    _refuse_what_is_there(directory)

    from epochfuzz.harness.conform.exhaustive.graph import graph
    from epochfuzz.harness.conform.exhaustive.tour_files import TourFiles
    from epochfuzz.harness.engine.explore.explore import GIBIBYTE, MemoryEnded
    from epochfuzz.harness.engine.explore.transitions import Ambiguous
    from epochfuzz.harness.views import transitions
    from epochfuzz.harness.views.progress import show_search

    out = console(json)
    out.print(f"{protocol.name} · {settings.text()}", markup=False)
    with as_ctrl_c(), as_bad_input(Ambiguous):
        try:
            with show_search(out) as progress:
                found = graph(protocol, settings, VERBS, False, progress.searched, int(memory * GIBIBYTE))
                files = (TourFiles if as_ is ToursAs.JSONL else transitions.ItfFiles)(found, protocol, settings)
                size = files.size(progress.doing)
                for line in transitions.to_be_written(size):
                    out.print(line, soft_wrap=True)
                try:
                    files.write(directory, size, progress.doing)
                except KeyboardInterrupt:
                    campaigns.note(f"interrupted; complete in {directory}: {transitions.written(files.written)}")
                    raise
        except MemoryEnded as error:
            raise BadInput(f"{error}; raise --memory, or lower --records or --epochs") from None
        except OSError as error:
            raise BadInput(f"--tests: {error.filename or directory}: {error.strerror}") from None
    out.print(f"{transitions.written(files.written)} in {directory}", markup=False, soft_wrap=True)
    if json:
        print_json(files.manifest())
    return Exit.AS_EXPECTED


def _refuse_what_is_there(directory: Path) -> None:
    """Raise BadInput for a directory that is not empty, and for a path that is not a directory."""
    with files_as_bad_input("--tests"), suppress(FileNotFoundError):
        if any(directory.iterdir()):
            raise BadInput(f"--tests: {directory} is not empty; name a new or empty directory")


def _resumed(context: typer.Context, directory: str) -> int:
    """Resume the search in a directory, in memory or on Spark as it began. Returns the exit code."""
    from epochfuzz.harness.campaign.search import kept_search
    from epochfuzz.harness.campaign.store.location import on_this_machine

    given = context.params
    here = on_this_machine(directory)
    if here is not None and kept_search.is_in(here):
        options.refuse_with(context, ["master", "remote"], f"--resume {directory}, which holds a search in memory")
        return _in_directory(None, directory, given["memory"], given["jobs"], given["json"])
    _require_search(directory, given["remote"])
    options.refuse_with(context, ["jobs"], f"--resume {directory}, which holds a search on Spark")
    return _on_spark(None, directory, given["memory"], given["master"], given["remote"], given["json"])


def _in_directory(asked: "SearchRequest | None", directory: str, memory: float, jobs: int | None, json: bool) -> int:
    """Run the requested search in memory, and keep its progress in a directory. Returns the exit code.

    If `asked` is None, resume the search that the directory holds.
    """
    from epochfuzz.harness.campaign.search.kept_search import KeptSearch, is_in
    from epochfuzz.harness.campaign.store.location import held, on_this_machine
    from epochfuzz.harness.engine.explore.explore import MemoryEnded
    from epochfuzz.harness.findings.search_request import command_to_resume
    from epochfuzz.harness.jobs.unfinished import ProgressError

    here = on_this_machine(directory)
    if here is None:
        raise BadInput(f"{directory} is not on this machine, and only Spark can write it; leave out --jobs")
    with campaigns.mistakes(), as_ctrl_c(), as_bad_input(ProgressError), as_bad_input(MemoryEnded, "--memory"):
        kept = KeptSearch.load(here) if asked is None else KeptSearch.start(here, asked)
        with held(here):
            try:
                code = _in_memory(kept.asked, memory, jobs, json, _end, kept)
            except (KeyboardInterrupt, ProgressError):
                if is_in(here):
                    campaigns.note(f"not finished; resume with: {command_to_resume(directory)}")
                raise
    if code == Exit.GOAL_UNMET:
        campaigns.note(f"resume with more memory: {command_to_resume(directory)} --memory {2 * memory:g}")
    return code


def _in_memory(
    asked: "SearchRequest", memory: float, jobs: int | None, json: bool, end: "_End", kept: "KeptSearch | None" = None
) -> int:
    """Run the requested search in memory, and show its result with the function `end`. Returns the exit code."""
    from epochfuzz.harness.engine.explore import explore as engine
    from epochfuzz.harness.views.progress import show_search

    out = console(json)
    limit = int(memory * engine.GIBIBYTE)
    out.print(f"{asked.heading}\nmemory for states: at most {memory:g} GiB", markup=False)
    if kept is not None:
        out.print(f"kept in {kept.path}", markup=False, soft_wrap=True)
    with show_search(out) as progress:
        searched = engine.timed(
            asked.protocol, asked.settings, asked.wanted, asked.depth, limit, progress.searched,
            jobs=jobs, symmetric=asked.symmetric, keeper=kept,
        )  # fmt: skip
    return end(out, asked, searched.exploration, searched.seconds if kept is None else kept.seconds, json)


def _on_spark(
    asked: "SearchRequest | None", directory: str, memory: float, master: str | None, remote: str | None, json: bool
) -> int:
    """Run the requested search on Spark, with its tables in a directory. Returns the exit code.

    If `asked` is None, resume the search that the directory holds.
    """
    extras.require("spark")
    from epochfuzz.harness.findings.search_request import command_to_resume
    from epochfuzz.harness.views.progress import show_search

    out = console(json)
    with campaigns.spark_session(master, remote, directory, memory) as spark:
        from epochfuzz.harness.campaign.search.search import SearchCampaign

        search = (
            SearchCampaign.load(spark, directory) if asked is None else SearchCampaign.start(spark, directory, asked)
        )
        out.print(f"{search.asked.heading}\nkept in {directory}", markup=False, soft_wrap=True)
        try:
            with show_search(out) as progress:
                exploration = search.run(progress.searched)
        except BaseException:
            campaigns.note(f"not finished; resume with: {command_to_resume(directory)}")
            raise
    return _end(out, search.asked, exploration, search.seconds, json)


def _require_search(directory: str, remote: str | None) -> None:
    """Raise BadInput if a local directory holds no search. Call this function before Spark starts."""
    with campaigns.mistakes():
        kept = campaigns.kept(directory, remote)
        if kept is not None and not kept.has("search"):
            raise BadInput(f"--resume: {directory} holds no search; `epochfuzz explore --out {directory}` starts one")


def _end(out: Console, asked: "SearchRequest", result: "Exploration", seconds: float, json: bool) -> int:
    """Show the result of a search of Kafka's model. Returns the exit code."""
    from epochfuzz.harness.trace.replay import replay
    from epochfuzz.harness.views import play_links
    from epochfuzz.harness.views.terminal import timeline

    protocol = cast("Protocol", asked.protocol)
    why = run = link = None
    if result.shortest is not None:
        why = causes(result.shortest, protocol, asked.settings, asked.sought)
        run = replay(result.shortest, protocol, asked.settings)
        out.print(timeline(run))
    out.print(_conclusion(asked, result))
    if why is not None and run is not None:
        out.print(why.sentence, markup=False)
        link = play_links.to_break([run], asked.sought)
        play_links.show(out, link)
    out.print(_pace(result, seconds))
    if json:
        document = _document(asked, result, seconds, link)
        print_json(document if why is None else {**document, **why.plain()})
    if why is not None and (why.reason is None or not protocol.is_named):
        return Exit.BROKEN
    return Exit.GOAL_UNMET if result.memory_exhausted else Exit.AS_EXPECTED


def _end_own(out: Console, asked: "SearchRequest", result: "Exploration", seconds: float, json: bool) -> int:
    """Show the result of a search of a user's own model. Returns the exit code."""
    from epochfuzz.harness.documents import searches
    from epochfuzz.harness.own.timeline import describe, print_lines

    if result.shortest is not None:
        print_lines(out, describe(result.shortest, asked.protocol, asked.settings))
    out.print(_conclusion(asked, result), _pace(result, seconds), sep="\n", markup=False)
    if json:
        document = {"model": asked.protocol.model.name, **_document(asked, result, seconds, None)}
        print_json({key: value for key, value in document.items() if key in searches.OwnExplore.__annotations__})
    if result.broken:
        return Exit.BROKEN
    return Exit.GOAL_UNMET if result.memory_exhausted else Exit.AS_EXPECTED


def _conclusion(asked: "SearchRequest", result: "Exploration") -> str:
    """Return a sentence about the result of a search."""
    name, sought = asked.protocol.name, asked.sought
    if result.shortest is not None:
        return f"{name} breaks {sought}: {len(result.shortest)} events, and no schedule is shorter"
    if result.complete:
        return f"{name} holds {sought}: every state within the bounds was visited"
    reason = "memory ended the search; raise --memory" if result.memory_exhausted else "--depth"
    return f"no schedule of up to {result.depth} events breaks {sought} ({reason})"


def _pace(result: "Exploration", seconds: float) -> str:
    """Return a line about the size and the speed of a search."""
    return (
        f"{result.states:,} states of {result.memory / result.states:.0f} bytes, {result.transitions:,} transitions,"
        f" depth {result.depth} in {seconds:.1f} s ({result.transitions / seconds / 1e6:.1f} million transitions/s)"
    )


def _document(asked: "SearchRequest", result: "Exploration", seconds: float, link: str | None) -> "searches.Explore":
    shortest = None if result.shortest is None else asked.protocol.model.events.texts(result.shortest)
    return {
        "protocol": asked.protocol.name,
        "property": asked.sought,
        "configuration": asked.settings.changed(),
        "states": result.states,
        "symmetry": result.symmetry,
        "bytes_per_state": round(result.memory / result.states, 1),
        "transitions": result.transitions,
        "transitions_per_second": round(result.transitions / seconds),
        "depth": result.depth,
        "complete": result.complete,
        "broken": result.broken,
        "length": None if shortest is None else len(shortest),
        "shortest": shortest,
        "play": link,
    }
