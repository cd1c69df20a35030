"""The report: findings with their lines and a timeline, in a terminal and as a single HTML file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from epochfuzz.harness.audit.audit import Audit, AuditVerdict
from epochfuzz.harness.audit.judgement.findings import PartitionFinding
from epochfuzz.harness.audit.judgement.told_case import ToldCase
from epochfuzz.harness.audit.lines.events import Event, MessageKind
from epochfuzz.harness.audit.sentences import conclusion, context_lines, partition_line, read_line, title
from epochfuzz.harness.audit.summary import affected, moment
from epochfuzz.harness.cli.output import print_table
from epochfuzz.harness.environment.version import epochfuzz_version

LEGEND = "e1 is a leader epoch, HW a high watermark. Rows are in the order of epochs; times are each broker's own."
Cases = Mapping[PartitionFinding, ToldCase]

_SHOWN = 10  # number of findings that a terminal shows with all details
_LISTED = 40  # number of partitions, and of gaps, that a terminal lists
_STYLES = {
    AuditVerdict.LOST: "bold red",
    AuditVerdict.FOUND: "bold red",
    AuditVerdict.INCONCLUSIVE: "bold yellow",
    AuditVerdict.NOTHING: "bold green",
}


@dataclass(frozen=True)
class TimelineRow:
    """A row of a timeline: the time by the broker's own clock, and one cell for each broker.

    `is_evidence` is true if the row's line shows a finding.
    """

    at: str
    cells: tuple[str, ...]
    is_evidence: bool


def print_audit(out: Console, audit: Audit, cases: Cases, accepts_gaps: bool = False) -> None:
    """Print the verdict, a line for each partition, the findings with their lines, the gaps, and the verdict again."""
    _print_verdict(out, audit, accepts_gaps)
    told = accidents(audit)
    for each in affected(audit.findings)[:_LISTED]:
        out.print(Text(partition_line(each)), soft_wrap=True)
    _print_rest(out, len(told) - _LISTED, "partitions")
    out.print()
    for accident in told[:_SHOWN]:
        _print_accident(out, accident, cases)
    if len(told) > _SHOWN:
        out.print(f"... and {len(told) - _SHOWN:,} more partitions; --json and --out have them all\n")
    if audit.passed:
        out.print(Text("Dangers that passed without a loss", "bold"))
        for finding in audit.passed[:_SHOWN]:
            out.print(Text(f"{title(finding)}: {finding.told}"), soft_wrap=True)
        _print_rest(out, len(audit.passed) - _SHOWN, "dangers")
        out.print()
    _print_list(out, "Gaps that could hide a loss", audit.gaps)
    _print_list(out, "Notes", audit.notes)
    out.print(read_line(audit), markup=False, soft_wrap=True)
    for layout in context_lines(audit):
        out.print(layout, markup=False, soft_wrap=True)
    _print_verdict(out, audit, accepts_gaps)


def _print_verdict(out: Console, audit: Audit, accepts_gaps: bool) -> None:
    out.print(Text(conclusion(audit, accepts_gaps), _STYLES[audit.verdict]), soft_wrap=True)


def _print_list(out: Console, heading: str, told: Sequence[str]) -> None:
    if told:
        out.print(Text(heading, "bold"))
        for each in told[:_LISTED]:
            out.print(Text(f"- {each}"), soft_wrap=True)
        _print_rest(out, len(told) - _LISTED, "more")
        out.print()


def _print_rest(out: Console, number: int, what: str) -> None:
    if number > 0:
        out.print(f"... and {number:,} {what if what == 'more' else f'more {what}'}; --json and --out have them all")


@dataclass(frozen=True)
class Accident:
    """All findings of one partition, with a common timeline and without repeated lines of evidence."""

    findings: tuple[PartitionFinding, ...]

    @property
    def around(self) -> list[Event]:
        """Return the rows of the timelines of all findings, each row once.

        A row is inserted after the row that precedes it in the timeline of its finding.
        """
        rows: list[Event] = []
        for finding in sorted(self.findings, key=lambda finding: finding.around[0].time if finding.around else 0):
            place = 0
            for event in finding.around:
                if event not in rows:
                    rows.insert(place, event)
                place = rows.index(event) + 1
        return rows

    @property
    def evidence(self) -> list[Event]:
        """Return the lines of evidence, in the order of the timeline."""
        lines = dict.fromkeys(event for finding in self.findings for event in finding.evidence)
        around = self.around
        return sorted(lines, key=lambda event: around.index(event) if event in around else -1)

    @property
    def brokers(self) -> list[int]:
        """Return the brokers that have a column in the timeline."""
        return sorted({event.broker for event in self.around if event.broker is not None})

    def rows(self) -> Iterator[TimelineRow]:
        """Yield the rows of the common timeline."""
        columns, shown = self.brokers, set(self.evidence)
        for event in self.around:
            cells = tuple(cell(event) if event.broker == broker else "" for broker in columns)
            yield TimelineRow(moment(event.time), cells, event in shown)


def accidents(audit: Audit) -> list[Accident]:
    """Return the findings grouped by partition. Partitions with a finding of kind `committed-loss` are first."""
    by_partition: dict[str, list[PartitionFinding]] = {}
    for finding in audit.findings:
        by_partition.setdefault(finding.name, []).append(finding)
    return [Accident(tuple(findings)) for findings in by_partition.values()]


def _print_accident(out: Console, accident: Accident, cases: Cases) -> None:
    for finding in accident.findings:
        out.print(Text(title(finding), "bold red"), soft_wrap=True)
        out.print(Text(finding.told), soft_wrap=True)
        if finding in cases:
            out.print(Text(cases[finding].sentence), soft_wrap=True)
    table = Table()
    table.add_column("", no_wrap=True)
    for broker in accident.brokers:
        table.add_column(f"broker {broker}")
    for row in accident.rows():
        table.add_row(Text(row.at), *(Text(cell, "bold" if row.is_evidence else "") for cell in row.cells))
    print_table(out, table)
    out.print(Text(LEGEND, "dim"), soft_wrap=True)
    for event in accident.evidence:
        out.print(Text(f"broker {event.broker}  {event.file}:{event.line}", "bold"), soft_wrap=True)
        out.print(Text(f"  {event.text}"), soft_wrap=True)
    out.print()


def cell(event: Event) -> str:
    """Return a few words that describe an event in a cell of the timeline."""
    epoch = "" if event.leader_epoch is None else f" e{event.leader_epoch}"
    known = "" if event.high_watermark is None else f", HW {event.high_watermark:,}"
    isr = "" if event.isr is None else f", ISR {_members(event.isr)}"
    at = "?" if event.offset is None else f"{event.offset:,}"
    match event.kind:
        case MessageKind.LEADER:
            return f"leads{epoch} from {at}{known}{isr}"
        case MessageKind.FOLLOWER:
            whom = "nobody" if event.leader == -1 else "" if event.leader is None else f"{event.leader}"
            return f"follows {whom}{epoch} from {at}{known}".replace("  ", " ")
        case MessageKind.STATE | MessageKind.TOLD:
            return f"controller: {event.leader} leads{epoch}{isr}"
        case MessageKind.ISR | MessageKind.SHRINK:
            word = "ISR" if event.kind == MessageKind.ISR else "wants ISR"
            return f"{word} {_members(event.isr or ())}{known}"
        case MessageKind.TRUNCATION | MessageKind.CORRUPTION:
            return f"truncates its log to {at}"
        case MessageKind.BELOW_HIGH_WATERMARK:
            return f"truncates its log to {at}, below its HW {event.high_watermark:,}"
        case MessageKind.NON_MONOTONIC:
            return f"its HW goes back from {event.high_watermark or 0:,} to {at}"
        case MessageKind.RESET:
            return f"leader's log ends at {at}, its own at {event.end_offset:,}"
        case MessageKind.LOADED:
            return f"starts with{known.removeprefix(',')}"
        case MessageKind.RECOVERY:
            return "recovers its log"
        case MessageKind.CREATED:
            return "new log"
        case MessageKind.DELETED:
            return "deletes its log"
        case MessageKind.ON_DISK:
            return event.text
        case MessageKind.UNCLEAN:
            return f"unclean election of {event.leader}{epoch}"
    return str(event.kind)


def _members(isr: Sequence[int]) -> str:
    return ",".join(map(str, isr)) or "empty"


def html(audit: Audit, cases: Cases, command: str) -> str:
    """Return the report as the text of an HTML file. `command` is the command line that the page shows."""
    from epochfuzz.harness.views.report.html import environment

    templates = environment("epochfuzz.harness.audit")
    templates.globals |= {f.__name__: f for f in (title, accidents, read_line, context_lines, conclusion, affected)}
    templates.globals["partition_line"] = partition_line
    page = templates.get_template("audit.html")
    return page.render(audit=audit, cases=cases, command=command, legend=LEGEND, version=epochfuzz_version())
