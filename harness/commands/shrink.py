"""`epochfuzz shrink`: make the schedule of a case as short as possible, and prove that no schedule is shorter."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epochfuzz.harness.cases.case import Expectation, dump_case, load_case
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
    from epochfuzz.harness.engine.runtime.interruption import Interruption


def shrink(
    context: typer.Context,
    case: Annotated[Path, typer.Argument(help="The case: a file, or an id such as m1-loss.")],
    protocol: Annotated[
        str,
        options.protocol_option("--protocol", "-p", help="The protocol that the schedule breaks."),
    ],
    property_: Annotated[
        str | None,
        typer.Option(
            "--property",
            autocompletion=completion.property_names,
            help="The property to keep broken; the most severe one if left out.",
        ),
    ] = None,
    model: options.OwnModel = None,
    certify: options.Certify = options.CERTIFY,
    memory: Annotated[float, typer.Option("--memory", min=0.1, help="Memory for the certificate, in GiB.")] = 4.0,
    json: options.Json = False,
) -> int:
    """Shrink a case's schedule to a minimal reproducer, and print it as a case file.

    Examples:

    - `epochfuzz shrink m1-loss --protocol hw`
    - `epochfuzz shrink long.yaml --protocol kip-101 --property no-divergence > short.yaml`
    - `epochfuzz shrink long.yaml --protocol kafka-4.1 --certify all > short.yaml`
    - `epochfuzz shrink long.yaml --model counter:COUNTER --protocol at-once > short.yaml`
    """
    seconds = options.parse_certify(certify)
    if model is not None:
        return _own(context, model)
    (parsed,) = options.parse_protocols([protocol])
    with mistakes_as_bad_input():
        loaded = load_case(case)
    broken = replay(loaded.events, parsed, loaded.settings).first_broken
    name = property_ or next((each for each in NAMES if each in broken), None)
    if name is None or (options.parse_property(name) and name not in broken):
        wanted_text = property_ or "any property"
        raise BadInput(f"{case}: the schedule does not break {wanted_text} under {parsed.name}: nothing to shrink")

    from epochfuzz.harness.engine.explore import certificates
    from epochfuzz.harness.engine.explore.explore import GIBIBYTE
    from epochfuzz.harness.engine.runtime.deadline import Deadline
    from epochfuzz.harness.engine.runtime.interruption import Interruption
    from epochfuzz.harness.trace.causes import causes
    from epochfuzz.harness.views.progress import show_search
    from epochfuzz.harness.views.terminal import timeline

    out = console(json_wanted=True)  # stdout is for the shrunk case, or for JSON
    options.say_what_versions_stand_for(out, [parsed])
    wanted = options.parse_property(name)
    with show_search(out) as progress, Interruption() as interruption:
        progress.doing(f"shrinking {len(loaded.events)} events")
        if seconds != 0:
            certificates.compile_search(parsed, loaded.settings)
        result = certificates.reproduce(
            loaded.events,
            parsed,
            loaded.settings,
            wanted,
            int(memory * GIBIBYTE),
            progress.searched,
            Deadline(seconds, interruption),
        )
    run = replay(result.schedule, parsed, loaded.settings)
    out.print(timeline(run))
    why = causes(result.schedule, parsed, loaded.settings, name)
    out.print(
        f"{parsed.name} breaks {name} in {len(result.schedule)} events, shrunk from {len(loaded.events)}: "
        f"{result.proven}\n{why.sentence}",
        markup=False,
    )
    if json:
        document: documents.Shrink = {
            "protocol": parsed.name,
            "property": name,
            "events": schedule_texts(result.schedule),
            "length": len(result.schedule),
            "shrunk_from": len(loaded.events),
            **result.plain(),
            "fingerprint": run.fingerprint,
            **why.plain(),
        }
        print_json(document)
        return _ended(interruption)
    provenance = {
        "shrunk_from": len(loaded.events),
        "certified_minimal": result.certified_minimal,
        "protocol": parsed.name,
        "property": name,
        "fingerprint": {parsed.name: run.fingerprint},
    }
    expect = {each: Expectation(()) for each in dict.fromkeys([parsed.name, *loaded.expect])}
    shorter = replace(
        loaded,
        id=f"{loaded.id}-shrunk",
        why=f"Shrunk from {loaded.id}: {parsed.name} breaks {name}. {run.description}",
        events=result.schedule,
        expect=expect,
        states=(),
        provenance=provenance,
    )
    typer.echo(dump_case(rewritten(shorter)), nl=False)
    return _ended(interruption)


def _own(context: typer.Context, model: str) -> int:
    """Shrink the schedule of a user's own model. Returns the exit code."""
    from epochfuzz.harness.own import loading

    asked = context.params
    loaded = loading.load(model)
    parsed = loading.protocol_of(loaded, asked["protocol"])
    loading.wanted_of(loaded, asked["property_"])

    from epochfuzz.harness.engine.explore.explore import GIBIBYTE
    from epochfuzz.harness.own import commands

    seconds, memory = options.parse_certify(asked["certify"]), int(asked["memory"] * GIBIBYTE)
    shrinking = commands.Shrinking(loaded, parsed, asked["case"], asked["property_"], seconds, memory)
    return commands.shrink(shrinking, json=asked["json"])


def _ended(interruption: "Interruption") -> int:
    """Return the exit code. Raises KeyboardInterrupt if Ctrl-C ended the shrinking or the proof."""
    if interruption.happened:
        raise KeyboardInterrupt
    return Exit.AS_EXPECTED
