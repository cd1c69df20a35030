"""`epochfuzz report`: write case files into one HTML file, with steps to view in a browser."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epochfuzz.harness.cases.corpus import load_corpus
from epochfuzz.harness.cases.verdict import judge
from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.cases import exit_code, mistakes_as_bad_input, protocols_for
from epochfuzz.harness.cli.drawing import refuse_too_long
from epochfuzz.harness.cli.files import FileKind, write_file
from epochfuzz.harness.cli.output import BadInput, console, print_json

if TYPE_CHECKING:
    from epochfuzz.harness.documents import cases as documents


def report(
    case: Annotated[list[Path], typer.Argument(help="Case files, directories of them, or ids such as m1-loss.")],
    file: Annotated[
        Path, typer.Option("--out", callback=options.writes(FileKind.HTML), help="The HTML file to write.")
    ],
    protocol: Annotated[
        list[str] | None,
        options.protocol_option(
            "--protocol",
            "-p",
            help="Report on these protocols instead of the protocols in the cases.",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Replay case files, and write one HTML file that shows each case step by step.

    You can open, mail and print the file without a network and without a server.

    Examples:

    - `epochfuzz report m1-loss --out m1-loss.html`
    - `epochfuzz report corpus --out corpus.html`
    - `epochfuzz report lost.yaml --protocol kip-101 --protocol kip-320 --out lost.html`
    """
    with mistakes_as_bad_input():
        cases = load_corpus(case)
        for each in cases:
            refuse_too_long(each)
        judged_cases = [judge(each, protocols_for(each, protocol)) for each in cases]
    for judged in judged_cases:
        if not judged.verdicts:
            raise BadInput(f"{judged.case.path}: the case names no protocol; name one with --protocol")

    from epochfuzz.harness.views.report import from_cases, html

    out = console(json)
    with out.status(f"drawing {len(judged_cases)} cases"):
        page = from_cases.page(judged_cases)
        write_file(file, html.render(page), FileKind.HTML)
    out.print(f"{page.summary}; written to {file}", markup=False, soft_wrap=True)
    if json:
        document: documents.Report = {
            "report": str(file),
            "cases": [{"id": each.case.id, "as_expected": each.as_expected} for each in judged_cases],
        }
        print_json(document)
    return exit_code(judged_cases)
