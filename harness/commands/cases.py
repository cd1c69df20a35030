"""`epochfuzz cases`: list the cases that are installed with epochfuzz, or search them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from epochfuzz.harness.cases.bundled import bundled_cases
from epochfuzz.harness.cases.case import Case
from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.cases import protocols_for
from epochfuzz.harness.cli.output import BadInput, Exit, console, print_json, print_table
from epochfuzz.harness.reference import explain as explaining
from epochfuzz.harness.views import play_links
from epochfuzz.model.kafka.contract.properties import NAMES

if TYPE_CHECKING:
    from epochfuzz.harness.documents import cases as documents


def cases(
    text: Annotated[
        list[str] | None,
        typer.Argument(
            help="Words to search for in the ids, the descriptions, the protocols and the properties that break, in"
            " upper or lower case. Lists all cases if left out.",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """List the cases that are installed with epochfuzz, with their ids, broken properties and first sentences.

    Examples:

    - `epochfuzz cases`
    - `epochfuzz cases divergence`
    - `epochfuzz cases KAFKA-7128`
    - `epochfuzz cases hw no-divergence --json`
    """
    found = _search(bundled_cases(), " ".join(text or ()))
    if not found:
        raise BadInput(f"no case mentions {' '.join(text or ())!r}; `epochfuzz cases` lists all cases")
    out = console(json)
    table = Table("case", "events", "breaks", "under", "description")
    for case in found:
        table.add_row(case.id, str(len(case.events)), *_breaks(case), explaining.first_sentence(case.why))
    print_table(out, table)
    shown = "1 case" if len(found) == 1 else f"{len(found)} cases"
    first = found[0].id
    out.print(f"{shown}; `epochfuzz explain {first}` tells the story of {first}", markup=False, soft_wrap=True)
    out.print(_how_to_open(found), markup=False, soft_wrap=True)
    if json:
        document: documents.Cases = {"cases": [_json(case) for case in found]}
        print_json(document)
    return Exit.AS_EXPECTED


def _search(known: Sequence[Case], text: str) -> list[Case]:
    """Return the cases that mention all words of a text, or of the glossary's name for the text."""
    sought = (text, explaining.synonym(text) or text)
    return [case for case in known if any(_mentions(case, each) for each in sought)]


def _mentions(case: Case, text: str) -> bool:
    systems = [f"{name} {each.issue or ''}" for name, each in case.systems.items()]
    broken = [name for each in (*case.expect.values(), *case.systems.values()) for name in each.broken]
    searched = " ".join([case.id, case.why, *case.expect, *systems, *broken]).lower()
    return all(word in searched for word in text.lower().split())


def _breaks(case: Case) -> tuple[str, str]:
    """Return two texts: the properties that a case breaks, most severe first, and the protocols that break them."""
    by_name = {name: each.broken for name, each in (*case.expect.items(), *case.systems.items()) if each.broken}
    broken = {name for each in by_name.values() for name in each}
    return ", ".join(name for name in NAMES if name in broken) or "nothing", ", ".join(by_name)


def _how_to_open(found: Sequence[Case]) -> str:
    """Return the line with the link to the only case, or with the command that opens the first of several."""
    first, *others = found
    if others:
        return f"`epochfuzz play {first.id}` opens {first.id} in your browser"
    return play_links.line(play_links.to_case(first, protocols_for(first, None)))


def _json(case: Case) -> "documents.BundledCase":
    return {
        "id": case.id,
        "summary": explaining.first_sentence(case.why),
        "why": case.why.strip(),
        "configuration": case.settings.changed(),
        "events": len(case.events),
        "protocols": {name: each.plain() for name, each in case.expect.items()},
        "systems": {name: each.plain() for name, each in case.systems.items()},
        "play": play_links.to_case(case, protocols_for(case, None)),
    }
