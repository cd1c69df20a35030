"""`epochfuzz play`: build a schedule in a browser."""

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epochfuzz.harness.cases.case import Case, load_case
from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.cases import mistakes_as_bad_input
from epochfuzz.harness.cli.drawing import refuse_too_long
from epochfuzz.harness.cli.output import BadInput, Exit, console, print_json
from epochfuzz.harness.links.play_link import HOST, PORT
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import GENERATIONS

if TYPE_CHECKING:
    from epochfuzz.harness.documents import cases as documents


Opened = Annotated[Path | None, typer.Argument(help="A case to start from, if any: a file, or an id such as m1-loss.")]
Shown = Annotated[
    list[str] | None,
    options.protocol_option(
        "--protocol",
        "-p",
        help="A protocol to show; repeat it for several. If left out, the protocols of the case, or all designs.",
    ),
]
Out = Annotated[Path, typer.Option("--out", help="The directory for saved cases.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="The port of the page; 0 for any free port.")]


@options.configured()
def play(
    *,
    settings: Configuration,
    case: Opened = None,
    protocol: Shown = None,
    directory: Out = Path(),
    port: Port = PORT,
    json: options.Json = False,
) -> int:
    """Try a schedule in a browser: click an event, and see its effect on every protocol, side by side.

    epochfuzz serves the page to this machine only, and the page needs no network. On the page you can see why other
    events are not enabled, go back, branch, change the protocols and the configuration, search for the shortest way to
    a broken property, and save a case. The address contains the schedule, so you can reload, keep or share the page.
    Ctrl-C stops the server.

    Examples:

    - `epochfuzz play`
    - `epochfuzz play m1-loss`
    - `epochfuzz play --protocol kafka-2.6.1 --protocol kip-320 --replicas 3 --min-insync-replicas 2`
    - `epochfuzz play lost.yaml --protocol kip-320 --protocol kip-320:fencing=none --out corpus/found --port 0`
    """
    if case is not None and settings != Configuration():
        raise BadInput("the case sets the configuration; change it on the page, or leave the case out")
    if not directory.is_dir():
        raise BadInput(f"{directory}: the directory for saved cases does not exist; create it first")
    opened = None if case is None else _opened(case)
    named = protocol or (list(opened.protocols) if opened is not None else [])

    from epochfuzz.harness.links.position import MOST_PROTOCOLS, Position
    from epochfuzz.harness.play.server import Application, listen

    protocols = tuple(options.parse_protocols(named or list(GENERATIONS)))
    if len(protocols) > MOST_PROTOCOLS:
        raise BadInput(f"{len(protocols)} protocols are too many to see side by side; name at most {MOST_PROTOCOLS}")
    start = Position(protocols=protocols, settings=settings)
    if opened is not None:
        start = Position(protocols=protocols, settings=opened.settings, events=opened.events, case=opened.id)
    application = Application(start, directory.resolve(), story="" if opened is None else opened.why.strip())
    try:
        server = listen(application, port)
    except OSError as error:
        raise BadInput(
            f"--port: {port} is not available ({os.strerror(error.errno or 0)}); name another, or 0 for any free port"
        ) from None
    address = f"http://{HOST}:{server.port}/"
    with contextlib.suppress(KeyboardInterrupt):
        console(json).print(f"play at {address} (Ctrl-C ends it)", markup=False, soft_wrap=True)
        if json:
            document: documents.Play = {"address": address, "protocols": [each.name for each in protocols]}
            print_json(document)
            sys.stdout.flush()
        server.serve_forever()
    application.searches.cancel()
    return Exit.AS_EXPECTED


def _opened(file: Path) -> Case:
    with mistakes_as_bad_input():
        opened = load_case(file)
    refuse_too_long(opened)
    return opened
