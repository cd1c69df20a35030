"""`epochfuzz shrink`: make the schedule of a case as short as possible, and prove that no schedule is shorter."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from epochfuzz.harness.cases.case import Case, Expectation, dump_case, load_case
from epochfuzz.harness.cases.verdict import rewritten
from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.cases import mistakes_as_bad_input
from epochfuzz.harness.cli.environment import completion
from epochfuzz.harness.cli.output import BadInput, Exit, console, print_json
from epochfuzz.harness.trace.replay import replay
from epochfuzz.model.kafka.contract.properties import NAMES
from epochfuzz.model.kafka.vocabulary.events import schedule_texts

if TYPE_CHECKING:
    from epochfuzz.harness.documents import cases as documents
    from epochfuzz.harness.documents import searches
    from epochfuzz.harness.engine.explore.certificates import Reproducer
    from epochfuzz.harness.engine.runtime.interruption import Interruption
    from epochfuzz.harness.trace.causes import Causes
    from epochfuzz.harness.trace.replay import Run


CaseArgument = Annotated[Path, typer.Argument(help="The case: a file, or an id such as m1-loss.")]
Broken = Annotated[
    str,
    options.protocol_option("--protocol", "-p", help="The protocol that the schedule breaks."),
]
KeptProperty = Annotated[
    str | None,
    typer.Option(
        "--property",
        autocompletion=completion.property_names,
        help="The property to break; the most severe broken one if left out.",
    ),
]
Memory = Annotated[float, typer.Option("--memory", min=0.1, help="Memory for the proof, in GiB.")]


def shrink(
    context: typer.Context,
    case: CaseArgument,
    protocol: Broken,
    property_: KeptProperty = None,
    model: options.OwnModel = None,
    certify: options.Certify = options.CERTIFY,
    memory: Memory = 4.0,
    json: options.Json = False,
) -> int:
    """Shrink the schedule of a case, and print the shorter case as a file.

    Examples:

    - `epochfuzz shrink m1-loss --protocol hw`
    - `epochfuzz shrink long.yaml --protocol kip-101 --property no-divergence > short.yaml`
    - `epochfuzz shrink long.yaml --protocol kafka-4.1 --certify all > short.yaml`
    - `epochfuzz shrink long.yaml --model counter:COUNTER --protocol at-once > short.yaml`
    """
    if model is not None:
        return _own(context, model)
    asked = _request(case, protocol, property_, certify, memory)
    options.say_what_versions_stand_for(asked.out, [asked.protocol])
    result, interruption = _shrunk(asked)
    run, why = _show(asked, result)
    if json:
        print_json(_document(asked, result, run, why))
    else:
        typer.echo(dump_case(rewritten(_shorter(asked, result, run))), nl=False)
    return _ended(interruption)


@dataclass(frozen=True, kw_only=True)
class _Request:
    """A schedule to shrink under a protocol of Kafka's or a user's own model, and the property to keep broken.

    A complete search then tries to prove that no shorter schedule breaks the property. The search ends after `seconds`
    (None: no limit), or when the search needs more memory than `memory`, in GiB.
    """

    case: Case
    protocol: Any
    property: str
    seconds: float | None
    memory: float
    # Standard output is for the shrunk case, or for JSON.
    out: Console = field(default_factory=lambda: console(json_wanted=True))


def _request(file: Path, protocol: str, property_: str | None, certify: str, memory: float) -> _Request:
    """Return the request that the options describe. Raises BadInput."""
    seconds = options.parse_certify(certify)
    (parsed,) = options.parse_protocols([protocol])
    with mistakes_as_bad_input():
        loaded = load_case(file)
    if property_ is not None:
        options.parse_property(property_)
    broken = replay(loaded.events, parsed, loaded.settings).first_broken
    name = _kept(file, parsed.name, property_, [each for each in NAMES if each in broken])
    return _Request(case=loaded, protocol=parsed, property=name, seconds=seconds, memory=memory)


def _kept(file: Path, protocol: str, property_: str | None, broken: Sequence[str]) -> str:
    """Return the property to keep broken: `property_`, or the first of the `broken` properties. Raises BadInput."""
    name = property_ or next(iter(broken), "any property")
    if name not in broken:
        raise BadInput(f"{file}: the schedule does not break {name} under {protocol}: nothing to shrink")
    return name


def _shrunk(asked: _Request) -> "tuple[Reproducer, Interruption]":
    """Return the shortest schedule found, with its proof, and a record of whether Ctrl-C ended the search."""
    from epochfuzz.harness.engine.explore import certificates
    from epochfuzz.harness.engine.explore.explore import GIBIBYTE
    from epochfuzz.harness.engine.runtime.deadline import Deadline
    from epochfuzz.harness.engine.runtime.interruption import Interruption
    from epochfuzz.harness.views.progress import show_search

    case = asked.case
    with show_search(asked.out) as progress, Interruption() as interruption:
        progress.doing(f"shrinking {len(case.events)} events")
        if asked.seconds != 0:
            certificates.compile_search(asked.protocol, case.settings)
        result = certificates.reproduce(
            case.events,
            asked.protocol,
            case.settings,
            asked.protocol.model.judgement.set_of(asked.property),
            int(asked.memory * GIBIBYTE),
            progress.searched,
            Deadline(asked.seconds, interruption),
        )
    return result, interruption


def _show(asked: _Request, result: "Reproducer") -> "tuple[Run, Causes]":
    """Print the run of the shortest schedule, and the causes of the violation. Returns both."""
    from epochfuzz.harness.trace.causes import causes
    from epochfuzz.harness.views import play_links
    from epochfuzz.harness.views.terminal import timeline

    protocol, settings = asked.protocol, asked.case.settings
    run = replay(result.schedule, protocol, settings)
    asked.out.print(timeline(run))
    why = causes(result.schedule, protocol, settings, asked.property)
    asked.out.print(f"{_sentence(asked, result)}\n{why.sentence}", markup=False)
    play_links.show(asked.out, _link(asked, run))
    return run, why


def _sentence(asked: _Request, result: "Reproducer") -> str:
    """Return the length of the shortest schedule, before and after shrinking, and the state of its proof."""
    lengths = f"{len(result.schedule)} events, shrunk from {len(asked.case.events)}"
    return f"{asked.protocol.name} breaks {asked.property} in {lengths}: {result.proven}"


def _document(asked: _Request, result: "Reproducer", run: "Run", why: "Causes") -> "documents.Shrink":
    return {
        "protocol": asked.protocol.name,
        "property": asked.property,
        "events": schedule_texts(result.schedule),
        "length": len(result.schedule),
        "shrunk_from": len(asked.case.events),
        **result.plain(),
        "fingerprint": run.fingerprint,
        **why.plain(),
        "play": _link(asked, run),
    }


def _link(asked: _Request, run: "Run") -> str | None:
    from epochfuzz.harness.views import play_links

    return play_links.to_break([run], asked.property)


def _shorter(asked: _Request, result: "Reproducer", run: "Run") -> Case:
    """Return the case of the shortest schedule."""
    case, protocol = asked.case, asked.protocol
    provenance = {
        "shrunk_from": len(case.events),
        "certified_minimal": result.certified_minimal,
        "protocol": protocol.name,
        "property": asked.property,
        "fingerprint": {protocol.name: run.fingerprint},
    }
    return replace(
        case,
        id=f"{case.id}-shrunk",
        why=f"Shrunk from {case.id}: {protocol.name} breaks {asked.property}. {run.description}",
        events=result.schedule,
        expect={each: Expectation(()) for each in dict.fromkeys([protocol.name, *case.expect])},
        states=(),
        provenance=provenance,
    )


def _own(context: typer.Context, model: str) -> int:
    """Shrink the schedule of a user's own model. Returns the exit code."""
    from epochfuzz.harness.own import loading

    given = context.params
    loaded = loading.load(model)
    parsed = loading.protocol_of(loaded, given["protocol"])
    loading.property_of(loaded, given["property_"])
    seconds = options.parse_certify(given["certify"])

    from epochfuzz.harness.engine.shrink.canonical import canonical
    from epochfuzz.harness.own.case import load_case as load_own_case
    from epochfuzz.harness.own.timeline import describe

    with mistakes_as_bad_input():
        case = load_own_case(given["case"], loaded)
    name = _kept(given["case"], parsed.name, given["property_"], describe(case.events, parsed, case.settings).broken)
    asked = _Request(case=case, protocol=parsed, property=name, seconds=seconds, memory=given["memory"])
    with loading.mistakes_as_bad_input():
        result, interruption = _shrunk(asked)
    schedule = canonical(result.schedule, parsed, case.settings, loaded.judgement.set_of(name))
    _end_own(asked, replace(result, schedule=schedule), given["json"])
    return _ended(interruption)


def _end_own(asked: _Request, result: "Reproducer", json: bool) -> None:
    """Print the run of the shortest schedule of a user's own model, and its JSON document or its case."""
    from epochfuzz.harness.own.timeline import describe, print_lines

    case, name, texts = asked.case, asked.protocol.name, asked.protocol.model.events.texts
    run = describe(result.schedule, asked.protocol, case.settings)
    print_lines(asked.out, run)
    asked.out.print(_sentence(asked, result), markup=False)
    if json:
        document: searches.OwnShrink = {
            "protocol": name,
            "property": asked.property,
            "events": texts(result.schedule),
            "length": len(result.schedule),
            **result.plain(),
            "seen": 1,
            "shrunk_from": len(case.events),
        }
        print_json(document)
        return
    why, expected = f"Shrunk from {case.id}: {name} breaks {asked.property}.", Expectation(run.broken, run.at)
    shorter = Case(f"{case.id}-shrunk", why, case.settings, result.schedule, expect={name: expected})
    typer.echo(dump_case(shorter, texts), nl=False)


def _ended(interruption: "Interruption") -> int:
    """Return AS_EXPECTED as the exit code. Raises KeyboardInterrupt if Ctrl-C ended the shrinking or the proof."""
    if interruption.happened:
        raise KeyboardInterrupt
    return Exit.AS_EXPECTED
