"""docs/reference/audit-tables.md documents the columns of the tables and the kinds of events."""

import re

from epochfuzz.harness.audit.judgement.findings import What
from epochfuzz.harness.audit.lines.events import MessageKind
from epochfuzz.harness.audit.tables import EVENTS, FINDINGS, JUDGED, SEGMENTS
from tests.documents.pages import named

PAGE = named("reference/audit-tables.md").read_text(encoding="utf-8")
NO_EVENTS = {MessageKind.RELEASE, MessageKind.CLUSTER}


def documented(table):
    section = PAGE.partition(f"\n## {table}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \| ([\w<>]+) \|", section, re.MULTILINE)


def columns(schema):
    rows = []
    for field in schema:
        before, item, rest = str(field.type).partition("<item: ")
        inner = "struct" if rest.startswith("struct") else rest.rstrip(">")
        rows.append((field.name, f"{before}<{inner}>" if item else before))
    return rows


def test_the_columns_of_events_are_documented_in_their_order():
    assert documented("events") == columns(EVENTS)


def test_the_columns_of_findings_are_documented_in_their_order():
    assert documented("findings") == columns(FINDINGS)


def test_the_columns_of_segments_are_documented_in_their_order():
    assert documented("segments") == columns(SEGMENTS)


def test_the_page_names_the_columns_of_the_table_judged():
    section = PAGE.partition("\n## judged\n")[2].partition("\n## ")[0]

    assert set(re.findall(r"`(\w+)`", section)) == set(JUDGED.names)


def test_the_page_names_every_kind_of_event():
    row = next(line for line in PAGE.splitlines() if line.startswith("| `kind`"))

    assert set(re.findall(r"`([\w-]+)`", row)) - {"kind"} == {str(kind) for kind in MessageKind} - NO_EVENTS


def test_the_audit_page_lists_every_kind_of_finding():
    rows = re.findall(r"^\| `([\w-]+)` \|", named("how-to/audit.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert rows == [
        What.COMMITTED_LOSS,
        What.RE_ELECTED_LEADER,
        What.UNCLEAN_ELECTION,
        What.TRUNCATED_BELOW_HIGH_WATERMARK,
        What.DIVERGED,
    ]
