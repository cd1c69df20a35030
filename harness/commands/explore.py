"""`epochfuzz explore`: complete search of a protocol within bounds."""

from typing import Annotated

import typer

from epochfuzz.harness.commands import options
from epochfuzz.harness.commands.output import Exit, console, print_json
from epochfuzz.harness.search.expectations import known_flaw
from epochfuzz.model.configuration import Configuration
from epochfuzz.model.events import schedule_texts


@options.configured(records=3, epochs=3)
def explore(
    *,
    settings: Configuration,
    protocol: Annotated[str, options.protocol_option("--protocol", "-p", help="The protocol to search.")],
    property_: options.Property = "no-committed-loss",
    depth: Annotated[int | None, typer.Option("--depth", min=1, help="The longest schedule to look at.")] = None,
    memory: Annotated[float, typer.Option("--memory", min=0.1, help="Memory for states, in GiB.")] = 4.0,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Threads; all cores if left out.")] = None,
    symmetry: Annotated[
        bool, typer.Option("--symmetry/--no-symmetry", help="One state for all that differ in names of replicas.")
    ] = True,
    json: options.Json = False,
) -> int:
    """Visit every state within bounds, nearest first: a shortest counterexample, or the proof that there is none.

    Examples:

    - `epochfuzz explore --protocol hw`
    - `epochfuzz explore --protocol kip-320 --property no-divergence --records 3 --epochs 3`
    - `epochfuzz explore --protocol kip-320:isr_expansion=high_watermark --replicas 3`
    - `epochfuzz explore --protocol kip-101 --jobs 1 --no-symmetry`
    """
    (parsed,) = options.parse_protocols([protocol])
    wanted = options.parse_property(property_)

    from epochfuzz.harness.search import explore as engine
    from epochfuzz.harness.views.progress import show_search
    from epochfuzz.harness.views.terminal import timeline
    from epochfuzz.harness.witness.replay import replay

    out = console(json)
    limit = int(memory * engine.GIBIBYTE)
    states = engine.most_states(parsed, settings, limit)
    out.print(f"{parsed.name} · {property_} · {settings.text()}\nat most {memory:g} GiB: {states:,} states")
    with show_search(out) as progress:
        searched = engine.timed(
            parsed, settings, wanted, depth, limit, progress.searched, jobs=jobs, symmetric=symmetry
        )
    result = searched.exploration
    if result.shortest is not None:
        run = replay(result.shortest, parsed, settings)
        out.print(timeline(run))
        out.print(f"{parsed.name} breaks {property_}: {len(result.shortest)} events, and no schedule is shorter")
    elif result.complete:
        out.print(f"{parsed.name} holds {property_}: every state within the bounds was visited")
    else:
        reason = "memory ended the search; --memory gives it more" if result.memory_exhausted else "as asked"
        out.print(f"no schedule of up to {result.depth} events breaks {property_} ({reason})")
    out.print(
        f"{result.states:,} states of {result.memory / result.states:.0f} bytes, {result.transitions:,} transitions,"
        f" depth {result.depth} in {searched.seconds:.1f} s"
        f" ({result.transitions / searched.seconds / 1e6:.1f} million transitions/s)"
    )
    if json:
        print_json(
            {
                "protocol": parsed.name,
                "property": property_,
                "configuration": settings.changed(),
                "states": result.states,
                "bytes_per_state": round(result.memory / result.states, 1),
                "transitions": result.transitions,
                "transitions_per_second": round(result.transitions / searched.seconds),
                "depth": result.depth,
                "complete": result.complete,
                "broken": result.broken,
                "length": len(result.shortest) if result.shortest is not None else None,
                "shortest": schedule_texts(result.shortest) if result.shortest is not None else None,
            }
        )
    if result.broken and known_flaw(parsed, settings, property_) is None:
        return Exit.BROKEN
    return Exit.GOAL_UNMET if result.memory_exhausted else Exit.AS_EXPECTED
