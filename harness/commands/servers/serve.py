"""`epochfuzz serve`: a Kafka-compatible endpoint whose partition is the model."""

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epochfuzz.harness.cases.case import load_case
from epochfuzz.harness.cli import options
from epochfuzz.harness.cli.cases import mistakes_as_bad_input
from epochfuzz.harness.cli.output import BadInput, Exit, console, print_json
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.events import EventError, event_text, parse_event, verb_of

if TYPE_CHECKING:
    from epochfuzz.harness.documents import cases as documents
    from epochfuzz.harness.serve.listeners import Listeners

DEFAULT_PORT = 9092

Played = Annotated[
    Path | None,
    typer.Argument(help="The case to run (optional): a file, an id, or - for standard input."),
]
ServedProtocol = Annotated[str, options.protocol_option("--protocol", "-p", help="The protocol of the brokers.")]
Port = Annotated[
    int,
    typer.Option(
        "--port",
        min=0,
        max=65531,
        help="The port of replica A. The other replicas use the next ports. 0 means any free ports.",
    ),
]
Topic = Annotated[str, typer.Option("--topic", help="The name of the topic, which has one partition.")]


@options.configured()
def serve(
    *,
    settings: Configuration,
    case: Played = None,
    protocol: ServedProtocol = "kip-320",
    port: Port = DEFAULT_PORT,
    topic: Topic = "epochfuzz",
    json: options.Json = False,
) -> int:
    """Simulate Kafka brokers on 127.0.0.1 for Kafka clients.

    Each replica of the model is a broker. Any Kafka client can produce to the topic and consume from it. The partition
    has room for --records records, and producers must use the --acks of the configuration.

    Without a case, followers replicate by themselves, and each line of standard input is an event, such as `crash A` or
    `elect B`. With a case, its events happen one by one. At the event of a client, such as `produce A`, epochfuzz waits
    for the client's request. After the last event, followers replicate by themselves. Ctrl-C stops the brokers.

    Examples:

    - `epochfuzz serve --replicas 3`
    - `epochfuzz serve consumer-over-unclean-election --protocol kafka-2.6.1 --port 0`
    - `epochfuzz serve --protocol kafka-2.6.1 --acks 1 < events.txt`
    """
    (served,) = options.parse_protocols([protocol])
    events = b""
    if case is not None:
        if settings != Configuration():
            raise BadInput("the case sets the configuration; leave the case or the options of the configuration out")
        with mistakes_as_bad_input():
            opened = load_case(case)
        events, settings = opened.events, opened.settings

    from epochfuzz.harness.serve.listeners import Listeners
    from epochfuzz.harness.serve.served_cluster import ServedCluster
    from epochfuzz.harness.serve.served_partition import ServedPartition
    from epochfuzz.harness.serve.settings import settings_for_clients

    if settings.transactions:
        raise BadInput("transactions can't be served yet; leave --transactions out")
    partition = ServedPartition(served, settings_for_clients(settings))
    cluster = ServedCluster.healthy(partition, topic) if case is None else ServedCluster.of_schedule(partition, topic)
    listeners = Listeners(cluster, _complain)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(listeners, port, events if case is not None else None, _Output(protocol, json)))
    return Exit.AS_EXPECTED


def _complain(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")


class _Output:
    """The output of the command: lines about events, and with --json a JSON document."""

    def __init__(self, protocol: str, json: bool) -> None:
        self._protocol = protocol
        self._json = json
        self._out = console(json)

    def report(self, line: str) -> None:
        """Print a line."""
        self._out.print(line, markup=False, soft_wrap=True)

    def begin(self, bootstrap: str, topic: str) -> None:
        """Print the bootstrap address and the topic as text, and with --json also as JSON."""
        self.report(f"serving {topic} at {bootstrap} (Ctrl-C ends it)")
        if self._json:
            document: documents.Serve = {"bootstrap": bootstrap, "topic": topic, "protocol": self._protocol}
            print_json(document)
        sys.stdout.flush()


async def _serve(listeners: "Listeners", port: int, events: bytes | None, output: _Output) -> None:
    """Listen, play the events, and serve until Ctrl-C. Raises BadInput.

    `events` are the events of a case. If `events` is None, read the events from standard input.
    """
    from epochfuzz.harness.serve.schedule import keep_healthy, play

    try:
        await listeners.start(port)
    except OSError as error:
        raise BadInput(
            f"--port: {port} or a port after it is not available ({os.strerror(error.errno or 0)}); name another, or 0"
            " for any free ports"
        ) from None
    output.begin(listeners.cluster.bootstrap, listeners.cluster.topic)
    async with asyncio.TaskGroup() as group:
        group.create_task(keep_healthy(listeners))
        if events is None:
            group.create_task(_apply_lines(listeners, output.report))
        else:
            group.create_task(play(listeners, events, output.report))


async def _apply_lines(listeners: "Listeners", report: Callable[[str], None]) -> None:
    """Apply each line of standard input as an event of a broker or of the controller. Never returns."""
    from epochfuzz.harness.serve.client_events import ROLES
    from epochfuzz.harness.serve.schedule import apply, reported

    lines: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            for line in sys.stdin:
                loop.call_soon_threadsafe(lines.put_nowait, line.strip())

    threading.Thread(target=read, daemon=True).start()  # a thread that waits for a line must not delay the end
    while True:
        line = await lines.get()
        if not line:
            continue
        try:
            event = parse_event(line)
        except EventError as error:
            report(str(error))
            continue
        if verb_of(event) in ROLES:
            report(f"{event_text(event)}: a client causes this event; connect one")
            continue
        report(reported(event, await apply(listeners, event)))
