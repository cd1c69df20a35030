"""Show a run of a scenario: its timeline in a terminal, and as an HTML file in the style of the reports."""

from collections.abc import Callable
from dataclasses import dataclass

from jinja2 import Environment
from rich.console import Console
from rich.table import Table
from rich.text import Text

from epochfuzz.harness.cluster.timeline import ScenarioRun, ScenarioVerdict
from epochfuzz.harness.documents.cluster_records import Loss, ReachedStep, ReplicaView

LEGEND = (
    "[m] is below the leader's high watermark, (m) above it; e1 is a leader epoch. A role is the last one that the"
    " broker has logged, and may be out of date. A high watermark is the highest one that the leader has logged or"
    " served."
)
_STYLES = {
    ScenarioVerdict.LOST: "bold red",
    ScenarioVerdict.KEPT: "bold green",
    ScenarioVerdict.NOT_REACHED: "bold yellow",
}


_SHOWN = 5  # losses that are printed; run.json lists all


@dataclass(frozen=True, kw_only=True)
class TimelinePage:
    """The content of the HTML file about a run."""

    title: str
    summary: str
    run: ScenarioRun
    facts: tuple[tuple[str, str], ...]
    command: str
    legend: str = LEGEND
    shown: int = _SHOWN


def print_run(out: Console, run: ScenarioRun, print_table: Callable[[Console, Table], None]) -> None:
    """Print a run: its timeline, the brokers' own log lines as evidence, and the verdict."""
    if run.moments:
        print_table(out, timeline(run))
        if run.moments[0].replicas:
            out.print(Text(LEGEND, "dim"))
    if run.evidence:
        out.print(Text("\nThe brokers' own logs", "bold"))
        for broker, line in run.evidence:
            out.print(Text(f"{broker}  {line}"), soft_wrap=True)
    if run.clients:
        out.print(Text("\nOther responses to clients", "bold"))
        for told in run.clients:
            out.print(Text(told), soft_wrap=True)
    out.print()
    for loss in run.lost[:_SHOWN]:
        out.print(Text(told_of_loss(loss)), soft_wrap=True)
    if len(run.lost) > _SHOWN:
        out.print(f"... and {len(run.lost) - _SHOWN:,} more")
    out.print(Text(conclusion(run), _STYLES[run.verdict]), soft_wrap=True)


def timeline(run: ScenarioRun) -> Table:
    """Return the timeline as a table with a row for each step."""
    table = Table(show_lines=True)
    table.add_column("", no_wrap=True)
    for column in ("what happens", *run.moments[0].replicas, "clients"):
        table.add_column(column)
    for moment in run.moments:
        cells = [replica_told(view) for view in moment.replicas.values()]
        words = (f"{moment.step}\n{moment.after:.1f} s", moment.what, *cells, clients_told(moment))
        table.add_row(*(Text(each) for each in words))
    return table


def replica_told(view: ReplicaView) -> str:
    """Return the state of a replica as three lines: its role, its log, and its log end offset and high watermark."""
    known = "" if view.high_watermark is None else f" HW {view.high_watermark}"
    state = "" if view.state == "running" else f" ({view.state})"
    return f"{view.role}{state}\n{view.log_text()}\nLEO {view.end}{known}"


def clients_told(moment: ReachedStep) -> str:
    """Return a text about the records that were acknowledged or read since the previous step."""
    acknowledged = " ".join(f"{each.value}@{each.offset}" for each in moment.acknowledged)
    read = " ".join(f"{each.value}@{each.offset}" for each in moment.read)
    said = (f"acknowledged {acknowledged}" if acknowledged else "", f"read {read}" if read else "")
    return "\n".join(filter(None, said))


def told_of_loss(loss: Loss) -> str:
    """Return a sentence about a lost record."""
    was_read = "acknowledged, and read by a consumer" if loss.was_read else "acknowledged"
    now = "nothing is there now" if loss.instead is None else f"{loss.instead} is there now"
    return f"{loss.value} was {was_read} at offset {loss.offset} of partition {loss.partition}: {now}"


def conclusion(run: ScenarioRun) -> str:
    """Return the verdict of a run in one line."""
    if run.verdict is ScenarioVerdict.NOT_REACHED:
        return f"{run.verdict}: {run.why}"
    within = f", in {run.seconds:.0f} s"
    if run.verdict is ScenarioVerdict.LOST:
        partitions = len({loss.partition for loss in run.lost})
        where = f", in {partitions} partitions" if partitions > 1 else ""
        return f"{run.verdict}: {len(run.lost):,} of {run.acknowledged:,} acknowledged records{where}{within}"
    return f"{run.verdict}: all {run.acknowledged:,} acknowledged records{within}"


def html(page: TimelinePage, templates: Environment) -> str:
    """Return the text of the HTML file about a run."""
    templates.globals |= {f.__name__: f for f in (replica_told, clients_told, told_of_loss, conclusion)}
    return templates.get_template("cluster.html").render(page=page)
