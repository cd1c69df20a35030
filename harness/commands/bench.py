"""`epochfuzz bench`: measure how fast strategies detect mutants, and compare epochfuzz's speed with alternatives."""

from pathlib import Path
from typing import Annotated

import typer

from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.files import FileKind, write_file
from epochfuzz.harness.cli.output import Exit, console, print_json


def bench(
    full: Annotated[bool, typer.Option("--full", help="All mutants, with more seeds. Takes some hours.")] = False,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            callback=options.writes(FileKind.BENCHMARK),
            help="Write the tables to this file, as Markdown.",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Measure the throughput of epochfuzz and of alternatives, and each strategy's speed in detecting mutants.

    Use an otherwise idle machine. On two cores, the command takes about 20 minutes. The command fails if the default
    strategy misses a mutant that exhaustive search has proven to be detectable, or if a reproducer is longer than the
    shortest schedule.

    Examples:

    - `epochfuzz bench`
    - `epochfuzz bench --full --json`
    - `epochfuzz bench --write docs/benchmark/results.md`
    """
    from rich.markdown import Markdown

    from epochfuzz.harness.lab.bench import results as benchmark
    from epochfuzz.harness.lab.bench.detection import detectable

    out = console(json)
    scale = benchmark.FULL if full else benchmark.STANDARD
    with out.status("compiling") as status:

        def doing(what: str) -> None:
            status.update(what)
            if not out.is_terminal:
                out.print(what)

        results = benchmark.measure(scale, detectable()[:: scale.step], doing)
    tables = "\n".join(
        [benchmark.summary(results), benchmark.search_table(results), benchmark.detection_table(results)]
    )
    out.print(Markdown(tables))
    if write is not None:
        write_file(write, f"# Benchmark results\n\nWritten by `epochfuzz bench`.\n\n{tables}", FileKind.BENCHMARK)
    for missed in results.missed:
        out.print(f"missed: {missed.defect.name}, with the seeds {', '.join(map(str, missed.missed))}")
    for longer in results.not_minimal:
        out.print(f"not minimal: {longer.defect.name}, {longer.length} events where {longer.proven} are enough")
    if json:
        print_json(benchmark.to_json(results))
    return Exit.BROKEN if results.missed or results.not_minimal else Exit.AS_EXPECTED
