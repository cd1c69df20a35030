"""An audit for people: findings with their lines and a timeline, in a terminal and as one HTML file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from epochfuzz.harness.audit.audit import Audit, counted
from epochfuzz.harness.audit.judgement.findings import Finding, What
from epochfuzz.harness.audit.judgement.told_case import ToldCase
from epochfuzz.harness.audit.lines.events import Event, Kind
from epochfuzz.harness.cli.output import print_table
from epochfuzz.harness.version import epochfuzz_version

LEGEND = "e1 is a leader epoch, HW a high watermark. Rows are in the order of epochs; times are each broker's own."
Cases = Mapping[Finding, ToldCase]

_SHOWN = 10  # findings that a terminal shows whole
_LISTED = 40  # gaps
_STYLES = {True: "bold red", False: "bold green"}


@dataclass(frozen=True)
class Row:
    """A moment of a timeline: when, by whose clock, and what that broker did."""

    at: str
    cells: tuple[str, ...]
    is_evidence: bool


def print_audit(out: Console, audit: Audit, cases: Cases) -> None:
    """Print what was found, what shows it, what could not be known, and what comes of it."""
    told = accidents(audit)
    for accident in told[:_SHOWN]:
        _print_accident(out, accident, cases)
    if len(told) > _SHOWN:
        out.print(f"... and {len(told) - _SHOWN:,} more partitions; --json and --out have them all\n")
    if audit.passed:
        out.print(Text("Dangers of which nothing came", "bold"))
        for finding in audit.passed[:_SHOWN]:
            out.print(
                Text(f"{finding.what} in {finding.name}, offsets {finding.offsets}: {finding.told}"), soft_wrap=True
            )
        out.print()
    if audit.gaps:
        out.print(Text("What these lines leave open", "bold"))
        for gap in audit.gaps[:_LISTED]:
            out.print(Text(f"- {gap}"), soft_wrap=True)
        if len(audit.gaps) > _LISTED:
            out.print(f"- and {len(audit.gaps) - _LISTED:,} more")
        out.print()
    out.print(read_line(audit), markup=False, soft_wrap=True)
    out.print(Text(conclusion(audit), _STYLES[bool(audit.findings)]), soft_wrap=True)


@dataclass(frozen=True)
class Accident:
    """What was found in one partition, with one timeline, and every line that shows it once."""

    findings: tuple[Finding, ...]

    @property
    def around(self) -> list[Event]:
        """The timeline of each finding; those that begin earliest come first."""
        longest = sorted(self.findings, key=lambda finding: -len(finding.around))
        return list(dict.fromkeys(event for finding in longest for event in finding.around))

    @property
    def evidence(self) -> list[Event]:
        """The lines that show it, in the order of the timeline."""
        lines = dict.fromkeys(event for finding in self.findings for event in finding.evidence)
        around = self.around
        return sorted(lines, key=lambda event: around.index(event) if event in around else -1)

    @property
    def brokers(self) -> list[int]:
        """The columns of its timeline."""
        return sorted({event.broker for event in self.around if event.broker is not None})

    def rows(self) -> Iterator[Row]:
        """Yield the rows of its timeline."""
        columns, shown = self.brokers, set(self.evidence)
        for event in self.around:
            cells = tuple(cell(event) if event.broker == broker else "" for broker in columns)
            yield Row(moment(event.time), cells, event in shown)


def accidents(audit: Audit) -> list[Accident]:
    """Return what was found, partition by partition, losses first."""
    by_partition: dict[str, list[Finding]] = {}
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


def title(finding: Finding) -> str:
    """Return a finding in a line."""
    where = "" if finding.first_offset is None else f", offsets {finding.offsets}"
    epoch = "" if finding.leader_epoch is None else f", epoch {finding.leader_epoch}"
    return f"{finding.what}: {finding.name}{where}{epoch}"


def read_line(audit: Audit) -> str:
    """Return what was read, in a line."""
    brokers = ", ".join(map(str, audit.brokers)) or "unknown"
    releases = f" of Kafka {', '.join(audit.releases)}" if audit.releases else ""
    took = f", in {audit.seconds:.1f} s" if audit.seconds else ""
    disks = "" if audit.disks is None else f"{audit.disks.sentence}; "
    return disks + (
        f"{counted(audit.lines, 'line')} of {counted(audit.files, 'file')}, {audit.events:,} of them of"
        f" {counted(audit.partitions, 'partition')}; brokers {brokers}{releases}{took}"
    )


def conclusion(audit: Audit) -> str:
    """Return the last line."""
    if not audit.findings and audit.disks is not None and audit.gaps:
        return "inconclusive: nothing shows that a committed record was lost, and the gaps above could hide a loss"
    if not audit.findings and audit.disks is not None:
        return "nothing found: these disks show that no committed record was lost"
    if not audit.findings:
        return "nothing found: no line shows that a committed record was lost"
    told = f"{counted(len(audit.findings), 'finding')} in {counted(len(accidents(audit)), 'partition')}"
    lost = {finding.name for finding in audit.findings if finding.what == What.COMMITTED_LOSS}
    return f"{told}; committed records of {counted(len(lost), 'partition')} are gone" if lost else told


def moment(time: int) -> str:
    """Return a time of a broker's clock, to the millisecond."""
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def cell(event: Event) -> str:
    """Return an event in a few words."""
    epoch = "" if event.leader_epoch is None else f" e{event.leader_epoch}"
    known = "" if event.high_watermark is None else f", HW {event.high_watermark:,}"
    isr = "" if event.isr is None else f", ISR {_members(event.isr)}"
    at = "?" if event.offset is None else f"{event.offset:,}"
    match event.kind:
        case Kind.LEADER:
            return f"leads{epoch} from {at}{known}{isr}"
        case Kind.FOLLOWER:
            whom = "nobody" if event.leader == -1 else "" if event.leader is None else f"{event.leader}"
            return f"follows {whom}{epoch} from {at}{known}".replace("  ", " ")
        case Kind.STATE | Kind.TOLD:
            return f"controller: {event.leader} leads{epoch}{isr}"
        case Kind.ISR | Kind.SHRINK:
            word = "ISR" if event.kind == Kind.ISR else "wants ISR"
            return f"{word} {_members(event.isr or ())}{known}"
        case Kind.TRUNCATION | Kind.CORRUPTION:
            return f"truncates its log to {at}"
        case Kind.BELOW_HIGH_WATERMARK:
            return f"truncates its log to {at}, below its HW {event.high_watermark:,}"
        case Kind.RESET:
            return f"leader's log ends at {at}, its own at {event.end_offset:,}"
        case Kind.LOADED:
            return f"starts with{known.removeprefix(',')}"
        case Kind.RECOVERY:
            return "recovers its log"
        case Kind.CREATED:
            return "new log"
        case Kind.DELETED:
            return "deletes its log"
        case Kind.ON_DISK:
            return event.text
        case Kind.UNCLEAN:
            return f"unclean election of {event.leader}{epoch}"
    return str(event.kind)


def _members(isr: Sequence[int]) -> str:
    return ",".join(map(str, isr)) or "empty"


def html(audit: Audit, cases: Cases, command: str) -> str:
    """Return the text of the HTML file."""
    from epochfuzz.harness.views.report.html import environment

    templates = environment("epochfuzz.harness.audit")
    templates.globals |= {f.__name__: f for f in (title, accidents, read_line, conclusion)}
    page = templates.get_template("audit.html")
    return page.render(audit=audit, cases=cases, command=command, legend=LEGEND, version=epochfuzz_version())
