"""`epochfuzz corpus`: keep the findings of a run as cases."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from epochfuzz.harness.cases.case import Case, dump_case, load_case
from epochfuzz.harness.cases.corpus import find_cases, load_corpus
from epochfuzz.harness.cases.folder import twin_of, under_a_free_id
from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.cases import mistakes_as_bad_input
from epochfuzz.harness.cli.files import write_new_file
from epochfuzz.harness.cli.help import Command, Group
from epochfuzz.harness.cli.output import BadInput, Exit, console, print_json

if TYPE_CHECKING:
    from epochfuzz.harness.documents import cases as documents

FOUND = "found"

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""Add findings to a corpus of cases.

Example: `epochfuzz corpus add build/campaign/cases`
""",
)


@app.command("add", cls=Command)
def add(
    case: Annotated[
        list[Path], typer.Argument(help="Case files, such as the cases of a campaign, or directories of them.")
    ],
    corpus: options.Corpus = Path("corpus"),
    yes: Annotated[bool, typer.Option("--yes", help="Add without asking.")] = False,
    json: options.Json = False,
) -> int:
    """Show each case, ask for confirmation, and save the case in the corpus under found/.

    Examples:

    - `epochfuzz corpus add build/campaign/cases/kip-101-no-divergence.yaml`
    - `epochfuzz corpus add build/campaign/cases --corpus tests/corpus --yes`
    - `epochfuzz corpus add build/campaign/cases --yes --json`
    """
    with mistakes_as_bad_input():
        kept = load_corpus([corpus]) if corpus.is_dir() and any(corpus.rglob("*.yaml")) else []
        offered = [load_case(path) for path in find_cases(case)]
    out = console(json)
    added, known = [], {}
    for each in offered:
        twin = twin_of(each, kept)
        if twin is not None:
            out.print(f"{each.id}: already kept as {twin.path}", markup=False)
            known[each.id] = str(twin.path)
            continue
        _show(out, each)
        if yes or _confirmed(f"keep {each.id} in {corpus / FOUND}?", json):
            named = under_a_free_id(each, kept)
            kept.append(named)
            path = corpus / FOUND / f"{named.id}.yaml"
            write_new_file(path, dump_case(named))
            added.append(str(path))
            out.print(f"added {added[-1]}", markup=False)
    if json:
        document: documents.CorpusAdd = {"added": added, "known": known}
        print_json(document)
    return Exit.AS_EXPECTED


def _confirmed(question: str, json: bool) -> bool:
    try:
        return typer.confirm(question, default=False, err=json)
    except typer.Abort as abort:
        if isinstance(abort.__context__, EOFError):
            raise BadInput("standard input ended before an answer; add without a question with --yes") from None
        raise


def _show(out: Console, case: Case) -> None:
    from epochfuzz.harness.trace.replay import replay
    from epochfuzz.harness.views.terminal import timeline
    from epochfuzz.model.kafka.vocabulary.protocols import parse_protocol

    out.print(f"\n{case.id}\n{case.why.strip()}", markup=False)
    name = (case.provenance or {}).get("protocol") or next(iter(case.expect), None)
    if name is not None:
        out.print(timeline(replay(case.events, parse_protocol(name), case.settings)))
