"""`epochfuzz new-adapter`: write a first adapter, which the user then connects to their own code."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.files import write_new_file
from epochfuzz.harness.cli.output import BadInput, Exit, as_bad_input, console, print_json
from epochfuzz.harness.starters.starter import Language, Starter, UnknownEvent, parse_events

if TYPE_CHECKING:
    from epochfuzz.harness.documents import cases as documents


def new_adapter(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The directory for the files of the adapter.")],
    language: Annotated[Language, typer.Option("--language", help="The language of your code.")],
    events: Annotated[
        str | None,
        typer.Option(
            "--events",
            help="The events that the adapter supports in addition to produce, fetch and receive, separated by commas."
            " all: every event of kip-320 that needs no setting.",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Write a starter adapter, which conforms at once because it has stand-ins for your log and replica.

    The command writes a build file, the adapter, a test, a CI workflow and a README with the next steps, and never
    overwrites an existing file.

    Examples:

    - `epochfuzz new-adapter --language go my-adapter`
    - `epochfuzz new-adapter --language java --events drop,crash,restart my-adapter`
    - `epochfuzz new-adapter --language rust --events all every-event`
    """
    with as_bad_input(UnknownEvent, "--events"):
        starter = Starter(language, parse_events(events or ""))
    files = {directory / path: text for path, text in starter.files().items()}
    if present := [str(path) for path in files if path.exists()]:
        names = ", ".join(present)
        raise BadInput(f"{names}: exists already, and new-adapter never replaces a file; name another directory")
    for path, text in files.items():
        write_new_file(path, text)
    out = console(json)
    for line in (
        f"{len(files)} files in {directory}, with the events {', '.join(starter.events)}. Run:",
        *(f"  {command}" for command in _first_commands(directory, starter)),
        "Then:",
        *(f"  {number}. {step.replace('`', '')}" for number, step in enumerate(starter.steps, 1)),
    ):
        out.print(line, markup=False, soft_wrap=True)
    if json:
        document: documents.NewAdapter = {
            "directory": str(directory),
            "language": str(language),
            "events": starter.events,
            "files": [str(path) for path in files],
            "build": starter.commands.build or None,
            "test": starter.commands.test,
            "conform": starter.commands.conform,
            "next_steps": starter.steps,
        }
        print_json(document)
    return Exit.AS_EXPECTED


def _first_commands(directory: Path, starter: Starter) -> list[str]:
    commands = [f"cd {quote(str(directory))}", starter.commands.build, starter.commands.conform]
    return [command for command in commands if command]
