"""`epochfuzz explain`: print the meaning of a name, its reason, the reference designs that have it, and an example."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from epochfuzz.harness.cases import bundled
from epochfuzz.harness.cases.case import Case, Expectation, load_case
from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.cases import protocols_for
from epochfuzz.harness.cli.environment import completion
from epochfuzz.harness.cli.output import Exit, as_bad_input, console, print_json, print_table
from epochfuzz.harness.reference import explain as explaining
from epochfuzz.harness.reference import issues, releases
from epochfuzz.harness.reference.explain import Example, GlossaryEntry
from epochfuzz.harness.reference.releases import ReleaseVerdicts, surveyed
from epochfuzz.harness.testing import run_schedule
from epochfuzz.harness.views import play_links
from epochfuzz.model.kafka.vocabulary import versions
from epochfuzz.model.kafka.vocabulary.events import schedule_texts
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS, NAMED, RELEASES

if TYPE_CHECKING:
    from epochfuzz.harness.documents import explained as documents

_IN_TEXT = {"generation": "reference design", "generations": "reference designs"}  # other kinds keep their names
_VERSION = re.compile(r"(?:kafka[- ]?)?v?(\d+(?:\.\d+)+)", re.IGNORECASE)


def explain(
    name: Annotated[
        list[str] | None,
        typer.Argument(
            autocompletion=completion.subjects,
            help="A property, mechanism, choice of a mechanism, reference design, release or version, event, goal, word"
            " such as ISR, error such as NOT_ENOUGH_REPLICAS, case such as m1-loss, KIP or KAFKA number, in upper or"
            " lower case; or `releases`, for the properties that each release keeps and breaks. Without a name, the"
            " command lists all names except cases.",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Explain a name: its meaning, its reason, the reference designs that have it, and a schedule that shows it.

    Examples:

    - `epochfuzz explain`
    - `epochfuzz explain no-divergence`
    - `epochfuzz explain isr_expansion=epoch_start`
    - `epochfuzz explain high watermark went back`
    - `epochfuzz explain ISR`
    - `epochfuzz explain m1-loss`
    - `epochfuzz explain KIP-320`
    - `epochfuzz explain 4.3.1`
    - `epochfuzz explain releases`
    """
    out = console(json)
    if not name:
        entries = list(explaining.glossary().values())
        _print_list(out, entries)
        if json:
            names: documents.Names = {
                "names": [{"name": e.name, "kind": e.kind, "summary": e.summary} for e in entries]
            }
            print_json(names)
        return Exit.AS_EXPECTED
    if name == ["releases"]:
        return _explain_releases(out, json)
    wanted = _as_release(" ".join(name))
    if issues.is_issue(wanted) and wanted not in explaining.glossary():  # kip-101 is a design, KIP-101 a proposal
        return _explain_issue(out, wanted, json)
    cases = bundled.files()
    if wanted.lower() in cases and wanted.lower() not in explaining.glossary():
        return _explain_case(out, load_case(cases[wanted.lower()]), json)
    with as_bad_input((explaining.UnknownName, versions.UnknownVersion)):
        version = versions.meaning(wanted)
        entry = explaining.find(versions.release_of(wanted) if version else wanted, cases)
    if version:
        out.print(Text(f"{version}.\n"))
    _print_entry(out, entry)
    if json:
        print_json(_json(entry))
    return Exit.AS_EXPECTED


def _as_release(name: str) -> str:
    """Convert a version such as `4.3.1`, `v4.3` or `Kafka 4.3.1` to a name such as `kafka-4.3.1`; keep other names."""
    written = _VERSION.fullmatch(name)
    return f"{versions.PREFIX}{written[1]}" if written else name


def _explain_case(out: Console, case: Case, json: bool) -> int:
    """Print the description of a bundled case, its expected results, and the commands that show its steps."""
    out.print(Text.assemble((case.id, "bold"), ", a case"))
    out.print(Text(f"{case.why.strip()}\n"))
    expected = (*case.expect.items(), *case.systems.items())
    for name, each in expected:
        out.print(Text(f"  {name} {_expectation(each)}"))
    settings = ", ".join(f"{name}={value}" for name, value in case.settings.changed().items())
    out.print(Text(f"\n{len(case.events)} events, {settings}; to see each event:"))
    for command in (f"epochfuzz replay {case.id} --trace", f"epochfuzz play {case.id}"):
        out.print(Text(f"  {command}"))
    link = play_links.to_case(case, protocols_for(case, None))
    play_links.show(out, link)
    if json:
        document: documents.ExplainedCase = {
            "name": case.id,
            "kind": "case",
            "means": case.why.strip(),
            "configuration": case.settings.changed(),
            "events": schedule_texts(case.events),
            "protocols": {name: each.plain() for name, each in case.expect.items()},
            "systems": {name: each.plain() for name, each in case.systems.items()},
            "play": link,
        }
        print_json(document)
    return Exit.AS_EXPECTED


def _expectation(expected: Expectation) -> str:
    if not expected.broken:
        return "breaks nothing"
    at = "" if expected.at is None else f", first after event {expected.at}"
    return f"breaks {', '.join(expected.broken)}{at}"


def _explain_issue(out: Console, name: str, json: bool) -> int:
    """Print the description of a KIP or an issue of Kafka, and the names that refer to it. Returns the exit code."""
    with as_bad_input(explaining.UnknownName):
        issue = issues.issue(name)
    out.print(Text.assemble((issue.name, "bold"), f", {issue.link}"))
    out.print(Text(f"{issue.about}\n"))
    for heading, entries in (("reports the bugs of", issue.tells_of), ("is mentioned by", issue.mentioned_by)):
        if entries:
            out.print(Text(heading, "bold"))
            out.print(_rows((entry.name, entry.summary) for entry in entries))
    if json:
        document: documents.Issue = {
            "name": issue.name,
            "kind": "issue",
            "means": issue.about,
            "link": issue.link,
            "tells_of": [entry.name for entry in issue.tells_of],
            "mentioned_by": [entry.name for entry in issue.mentioned_by],
        }
        print_json(document)
    return Exit.AS_EXPECTED


def _explain_releases(out: Console, json: bool) -> int:
    """Print the release matrix: the properties that each release and each reference design keeps and breaks."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in releases.HEAD:
        narrowest = max(map(len, surveyed())) if column == releases.HEAD[0] else None
        table.add_column(column.replace("-", "-\n"), no_wrap=True, min_width=narrowest)
    for row in releases.rows():
        table.add_row(*row)
    print_table(out, table)
    out.print(Text(releases.LEGEND))
    out.print(Text(f"{releases.bounds()} Elections are clean, and no replica loses power."))
    if json:
        document: documents.Releases = {
            "releases": [_release_json(name, verdicts) for name, verdicts in surveyed().items()]
        }
        print_json(document)
    return Exit.AS_EXPECTED


def _release_json(name: str, verdicts: ReleaseVerdicts) -> "documents.Release":
    broken: dict[str, documents.Broken] = {
        property_: {
            "length": len(how.events),
            "certified_minimal": how.is_minimal,
            "searched": how.searched,
            "within": how.within,
            "configuration": how.settings.changed(),
            "events": list(how.events),
            **how.causes(NAMED[name], property_).plain(),
        }
        for property_, how in verdicts.broken.items()
    }
    holds = releases.holding(name, verdicts)
    return {
        "protocol": name,
        "versions": versions.released(name) if name in RELEASES else [],
        "broken": broken,
        "holds": holds,
        "judged": list(verdicts.judged),
        "complete": [settings.changed() | {"records": settings.records} for settings in verdicts.complete],
    }


def _print_list(out: Console, entries: list[GlossaryEntry]) -> None:
    for kind, several in explaining.KINDS.items():
        out.print(Text(_IN_TEXT.get(several, several), "bold"))
        out.print(_rows((entry.name, entry.summary) for entry in entries if entry.kind == kind))


def _print_entry(out: Console, entry: GlossaryEntry) -> None:
    kind = _IN_TEXT.get(entry.kind, entry.kind)
    out.print(Text.assemble((entry.name, "bold"), f", {'an' if kind == 'event' else 'a'} {kind}"))
    for text in filter(None, (entry.means, entry.why)):
        out.print(Text(f"{text}\n"))
    in_generations: dict[str, list[str]] = {}
    for generation, what in explaining.by_generation(entry).items():
        in_generations.setdefault(what, []).append(generation)
    if in_generations:
        out.print(_rows((_listed(names), what) for what, names in in_generations.items()))
    if entry.example is not None:
        _print_example(out, entry.example)


def _rows(rows: Iterable[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, meaning in rows:
        table.add_row(Text(f"  {name}"), Text(meaning))
    return table


def _listed(generations: list[str]) -> str:
    return "every reference design" if len(generations) == len(GENERATIONS) else ", ".join(generations)


def _print_example(out: Console, example: Example) -> None:
    if example.breaks is None:
        out.print(Text("\nAn example that needs all of its events:\n"))
    else:
        holding = f" and nothing under {example.beside}" if example.beside else ""
        out.print(Text(f"\nA shortest schedule that breaks {example.breaks} under {example.under}{holding}."))
        out.print(Text("To search for such a schedule, run"))
        out.print(Text(f"{_command_line(example)}\n"), soft_wrap=True)
    out.print(_drawing(example))


def _command_line(example: Example) -> str:
    """Return the command line of an exhaustive search that finds the example, or another schedule of equal length.

    A search of two protocols with three replicas doesn't fit into memory. With three replicas, the command therefore
    searches only the protocol that breaks a property (`example.under`), and the example is a shortest schedule for this
    protocol only.
    """
    search = f"fuzz --breaks {example.under} --holds {example.beside}"
    if example.beside is None or example.settings.replicas > 2:
        search = f"explore --protocol {example.under}"
    words = ["epochfuzz", search, f"--property {example.breaks}", *options.words_of(example.settings)]
    return " ".join(words)


def _drawing(example: Example) -> RenderableType:
    from epochfuzz.harness.views.terminal import side_by_side, timeline

    run = run_schedule(example.events, example.under, **example.settings.changed())
    if example.beside is None:
        return timeline(run)
    return side_by_side(run, run_schedule(example.events, example.beside, **example.settings.changed()))


def _json(entry: GlossaryEntry) -> "documents.Entry":
    example = entry.example
    return {
        "name": entry.name,
        "kind": entry.kind,
        "means": entry.means,
        "why": entry.why,
        "generations": explaining.by_generation(entry),
        "example": None if example is None else _example_json(example),
    }


def _example_json(example: Example) -> "documents.Example":
    return {
        "under": example.under,
        "beside": example.beside,
        "breaks": example.breaks,
        "configuration": example.settings.changed(),
        "events": list(example.events),
        "length": len(example.events),
        "shortest": example.breaks is not None,
    }
