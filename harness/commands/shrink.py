"""`epochfuzz shrink`: make the schedule of a case as short as possible, and prove that no schedule is shorter."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from epochfuzz.model.kafka.vocabulary.protocols import Protocol

if TYPE_CHECKING:
    from epochfuzz.harness.documents import cases as documents
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
    """A schedule to shrink, and the property to keep broken.

    A complete search then tries to prove that no shorter schedule breaks the property. The search ends after `seconds`
    (None: no limit), or when the search needs more memory than `memory`, in GiB.
    """

    out: Console
    case: Case
    protocol: Protocol
    property: str
    seconds: float | None
    memory: float


def _request(file: Path, protocol: str, property_: str | None, certify: str, memory: float) -> _Request:
    """Return the request that the options describe. Raises BadInput."""
    seconds = options.parse_certify(certify)
    (parsed,) = options.parse_protocols([protocol])
    with mistakes_as_bad_input():
        loaded = load_case(file)
    broken = replay(loaded.events, parsed, loaded.settings).first_broken
    name = property_ or next((each for each in NAMES if each in broken), None)
    if name is None or (options.parse_property(name) and name not in broken):
        wanted_text = property_ or "any property"
        raise BadInput(f"{file}: the schedule does not break {wanted_text} under {parsed.name}: nothing to shrink")
    out = console(json_wanted=True)  # stdout is for the shrunk case, or for JSON
    return _Request(out=out, case=loaded, protocol=parsed, property=name, seconds=seconds, memory=memory)


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
            options.parse_property(asked.property),
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
    asked.out.print(
        f"{protocol.name} breaks {asked.property} in {len(result.schedule)} events, shrunk from"
        f" {len(asked.case.events)}: {result.proven}\n{why.sentence}",
        markup=False,
    )
    play_links.show(asked.out, _link(asked, run))
    return run, why


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

    asked = context.params
    loaded = loading.load(model)
    parsed = loading.protocol_of(loaded, asked["protocol"])
    loading.property_of(loaded, asked["property_"])

    from epochfuzz.harness.engine.explore.explore import GIBIBYTE
    from epochfuzz.harness.own import commands

    seconds, memory = options.parse_certify(asked["certify"]), int(asked["memory"] * GIBIBYTE)
    shrinking = commands.Shrinking(loaded, parsed, asked["case"], asked["property_"], seconds, memory)
    return commands.shrink(shrinking, json=asked["json"])


def _ended(interruption: "Interruption") -> int:
    """Return AS_EXPECTED as the exit code. Raises KeyboardInterrupt if Ctrl-C ended the shrinking or the proof."""
    if interruption.happened:
        raise KeyboardInterrupt
    return Exit.AS_EXPECTED
