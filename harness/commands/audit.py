"""`epochfuzz audit`: search broker logs for lost committed records."""

import json as json_text
import os
import shlex
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from epochfuzz.harness.audit.errors import AuditError
from epochfuzz.harness.cli import campaigns, options
from epochfuzz.harness.cli.environment.signals import as_ctrl_c
from epochfuzz.harness.cli.files import write_new_file
from epochfuzz.harness.cli.output import BadInput, Exit, as_bad_input, console, print_json
from epochfuzz.harness.environment import extras

if TYPE_CHECKING:
    from epochfuzz.harness.audit.audit import Audit, AuditRequest
    from epochfuzz.harness.audit.view import Cases
    from epochfuzz.harness.documents import evidence

PAGE = "audit.html"
DOCUMENT = "audit.json"
_CASES = "cases"
_LARGE = 1 << 30  # bytes; for less, Spark's start takes longer than it saves


Logs = Annotated[
    list[str],
    typer.Argument(metavar="LOGS", help="Broker logs and data directories: files, directories or URLs."),
]
Out = Annotated[
    Path | None, typer.Option("--out", help="The directory for audit.html, audit.json and, on Spark, tables.")
]
BrokerPattern = Annotated[
    str | None,
    typer.Option(
        "--broker",
        metavar="PATTERN",
        help="For lines that do not name their broker: a regular expression that finds its number in the file's path,"
        " or in the text before the message.",
    ),
]
Layout = Annotated[
    list[str] | None,
    typer.Option(
        "--layout",
        help="The layout of lines that audit does not recognize, as a log4j conversion pattern: %d is the time, %m is"
        " the message, and %x and other names match anything. Repeat it for several layouts.",
    ),
]
AcceptGaps = Annotated[
    bool, typer.Option("--accept-gaps", help="Exit with 0 if nothing was found, even if gaps could hide a loss.")
]
OnSpark = Annotated[
    bool | None,
    typer.Option(
        "--spark/--no-spark",
        help="Read the logs on Spark. If left out, audit uses Spark for logs of 1 GiB or more, if Spark is installed.",
    ),
]


def audit(
    logs: Logs,
    out: Out = None,
    broker: BrokerPattern = None,
    layout: Layout = None,
    accept_gaps: AcceptGaps = False,
    spark: OnSpark = None,
    master: campaigns.Master = None,
    remote: campaigns.Remote = None,
    json: options.Json = False,
) -> int:
    """Read the logs of Kafka brokers and report where committed records were lost.

    Name server.log, state-change.log and controller.log of all brokers of one cluster, including rotated and compressed
    files, or the output of kubectl, docker or journalctl. You can also name data directories, with or without logs.

    Exit codes: 0 for no finding and no gap, 1 for a finding, 2 for wrong input, and 4 if there is no finding but a gap
    could hide a loss.

    Examples:

    - `epochfuzz audit /var/log/kafka`
    - `epochfuzz audit disks/broker-1 disks/broker-2 disks/broker-3` reads copies of the brokers' data directories
    - `epochfuzz audit broker-1/ broker-2/ broker-3/ --out build/audit`
    - `epochfuzz audit logs.tar.gz --broker 'kafka-([0-9]+)'`
    - `epochfuzz audit s3://bucket/kafka-logs --out build/audit --master spark://host:7077`
    """
    from epochfuzz.harness.audit.audit import AuditRequest

    out_console = console(json)
    if out is not None:
        _refuse_another(out)
    with as_ctrl_c(), as_bad_input(AuditError):
        request = AuditRequest.of(logs, layout or (), broker)
        began = time.monotonic()
        if _on_spark(spark, master, remote, request):
            found = _on_a_session(request, out, master, remote)
        else:
            found = _here(out_console, request)
        found = replace(found, seconds=time.monotonic() - began)
    from epochfuzz.harness.audit.judgement.told_case import told_cases
    from epochfuzz.harness.audit.view import print_audit

    cases = told_cases(found.findings, found.releases)
    print_audit(out_console, found, cases, accept_gaps)
    if out is not None:
        _write(out, found, cases, _command(logs, broker, layout))
        out_console.print(f"written to {out / PAGE}", markup=False, soft_wrap=True)
    if json:
        print_json(_document(found, cases))
    return _exit(found, accept_gaps)


def _exit(found: "Audit", accept_gaps: bool) -> int:
    if found.findings:
        return Exit.BROKEN
    return Exit.GOAL_UNMET if found.gaps and not accept_gaps else Exit.AS_EXPECTED


def _refuse_another(out: Path) -> None:
    """Raise BadInput if a directory already has the files of an audit, or links with their names."""
    for name in (PAGE, DOCUMENT, _CASES):
        if os.path.lexists(out / name):
            raise BadInput(f"--out: {out / name} is already there; choose another directory")


def _on_spark(asked: bool | None, master: str | None, remote: str | None, request: "AuditRequest") -> bool:
    if asked is False and (master is not None or remote is not None):
        raise BadInput("--no-spark can't be combined with --master or --remote")
    if asked or master is not None or remote is not None:
        extras.require("spark")
        return True
    return asked is None and request.size >= _LARGE and extras.is_installed("spark")


def _here(out: Console, request: "AuditRequest") -> "Audit":
    from epochfuzz.harness.audit import one_process

    with _status(out) as report:
        return one_process.run(request, report)


@contextmanager
def _status(out: Console) -> Iterator[Callable[[str], None]]:
    with out.status("reading") as status:
        yield lambda text: status.update(text.replace("[", r"\["))


def _on_a_session(request: "AuditRequest", out: Path | None, master: str | None, remote: str | None) -> "Audit":
    with tempfile.TemporaryDirectory(prefix="epochfuzz-audit-") as temporary:
        directory = temporary if out is None else str(out)
        with campaigns.spark_session(master, remote, works_in=directory) as session:
            from epochfuzz.harness.audit import on_spark

            return on_spark.run(session, directory, request, campaigns.note)


def _write(out: Path, found: "Audit", cases: "Cases", command: str) -> None:
    from epochfuzz.harness.audit.view import html
    from epochfuzz.harness.cases.case import dump_case

    write_new_file(out / PAGE, html(found, cases, command))
    write_new_file(out / DOCUMENT, json_text.dumps(_document(found, cases), indent=2) + "\n")
    for told in cases.values():
        write_new_file(out / _CASES / f"{told.case.id}.yaml", dump_case(told.case))


def _document(found: "Audit", cases: "Cases") -> "evidence.Audit":
    """Return the audit as a JSON document. Each finding has the model's explanation under `explained`, or None."""
    findings: list[evidence.Explained] = [
        {**finding.plain(), "explained": cases[finding].plain() if finding in cases else None}
        for finding in found.findings
    ]
    from epochfuzz.harness.audit.summary import affected

    return {
        **found.plain(),
        "affected": [each.plain() for each in affected(found.findings)],
        "findings": findings,
    }


def _command(logs: list[str], broker: str | None, layouts: list[str] | None) -> str:
    """Return the command line that repeats the audit."""
    named = [] if broker is None else ["--broker", broker]
    return shlex.join(["epochfuzz", "audit", *logs, *named, *(w for each in layouts or () for w in ("--layout", each))])
