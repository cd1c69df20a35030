"""`epochfuzz campaign report`: show the progress or the findings of a campaign, and compare several campaigns.

A directory on this machine is read without Spark, even while the campaign runs. Only Spark can read other directories,
and their campaigns must be finished.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epochfuzz.harness.cli import campaigns, options
from epochfuzz.harness.cli.cases import known_cases
from epochfuzz.harness.cli.files import FileKind, write_file
from epochfuzz.harness.cli.output import BadInput, Exit, console, print_json, print_table

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.store.local_tables import LocalTables
    from epochfuzz.harness.cases.case import Case


def report(
    directory: Annotated[list[str], typer.Argument(metavar="DIR...", help="The campaign's directory.")],
    history: Annotated[
        bool, typer.Option("--history", help="Compare several campaigns over time: new findings, and coverage.")
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option(
            "--out",
            callback=options.writes(FileKind.HTML, "report"),
            help="Also write an HTML report to this file.",
        ),
    ] = None,
    sarif: options.Sarif = None,
    master: campaigns.Master = None,
    remote: campaigns.Remote = None,
    corpus: campaigns.Corpus = None,
    json: options.Json = False,
) -> int:
    """Show the progress or the findings of a campaign, or compare several campaigns with --history.

    The command reads a campaign on this machine without Spark, even while the campaign runs.

    Examples:

    - `epochfuzz campaign report build/campaign`
    - `epochfuzz campaign report build/campaign --out campaign.html`
    - `epochfuzz campaign report build/campaign --sarif campaign.sarif`
    - `epochfuzz campaign report --history build/monday build/tuesday --out week.html`
    """
    if history:
        for name, given in {"sarif": sarif, "master": master, "remote": remote, "corpus": corpus}.items():
            if given is not None:
                raise BadInput(f"--{name} can't be combined with --history")
        return _history(directory, file, json)
    if len(directory) > 1:
        raise BadInput(f"a report covers one campaign; got {', '.join(directory)}. Compare several with --history")
    (place,) = directory
    known = known_cases(corpus)
    with campaigns.mistakes():
        kept = campaigns.kept(place, remote)
        if kept is None:
            with campaigns.spark_session(master, remote) as spark:
                outcome = campaigns.load(spark, place).outcome()
            return campaigns.end(outcome, place, known, json, file, sarif)
        return _report_kept(kept, known, file, sarif, json)


# Imports are inside the functions, so that help and errors are printed before Numba is loaded.


def _report_kept(kept: "LocalTables", known: "list[Case]", file: Path | None, sarif: Path | None, json: bool) -> int:
    from epochfuzz.harness.campaign.clusters.cluster_job import Clusters
    from epochfuzz.harness.campaign.walks.schedules import Schedules

    if isinstance(kept.work, (Schedules, Clusters)) and kept.is_finished:
        return campaigns.end(kept.work.outcome_of(kept), kept.path(), known, json, file, sarif)
    if file is not None or sarif is not None:
        raise BadInput(f"--out and --sarif need a finished campaign of schedules, and {kept.path()} is not finished")
    return _status(kept, json)


def _status(kept: "LocalTables", json: bool) -> int:
    from epochfuzz.harness.campaign.run.status import CampaignState, status_json, status_of
    from epochfuzz.harness.views.campaigns import findings_table, status_lines

    status, out = status_of(kept), console(json)
    for line in status_lines(status):
        out.print(line, markup=False, soft_wrap=True)
    if status.so_far.found:
        print_table(out, findings_table(status))
    if status.state is CampaignState.UNFINISHED:
        out.print(f"not finished; {status.work.how_to_resume(kept.path())}", markup=False, soft_wrap=True)
    if json:
        print_json(status_json(status))
    return Exit.BROKEN if status.unexpected else Exit.AS_EXPECTED


def _history(directories: list[str], file: Path | None, json: bool) -> int:
    from epochfuzz.harness.campaign.run.status import status_of
    from epochfuzz.harness.campaign.store.history import history, history_json
    from epochfuzz.harness.views.campaigns import history_tables

    statuses = []
    with campaigns.mistakes():
        for place in dict.fromkeys(directories):
            kept = campaigns.kept(place, None)
            if kept is None:
                raise BadInput(f"{place}: --history compares campaigns on this machine; name a local directory")
            statuses.append(status_of(kept))
    of_all, out = history(statuses), console(json)
    for table in history_tables(of_all):
        print_table(out, table)
    if file is not None:
        from epochfuzz.harness.views.report import history as page

        write_file(file, page.render(of_all), FileKind.HTML)
        out.print(f"report: {file}", markup=False, soft_wrap=True)
    if json:
        print_json(history_json(of_all))
    return Exit.BROKEN if of_all.campaigns[-1].unexpected else Exit.AS_EXPECTED
