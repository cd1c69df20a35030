"""Tables on a terminal: long cells, and the names of verdicts."""

import io

from rich.table import Table

from epochfuzz.harness.documents.records import CampaignFinding
from epochfuzz.harness.views.campaigns import _verdict
from epochfuzz.harness.views.console import PrintableConsole


def test_a_table_wraps_ids_that_are_longer_than_their_column() -> None:
    table = Table("case", "protocol")
    ids = ["kip-320-difference-replicas-a-leo-e37fd7", "kip-320-difference-replicas-a-leo-0c12aa"]
    for each in ids:
        table.add_row(each, "kafka-4.0.0:isr_expansion=high_watermark")
    printed = io.StringIO()
    PrintableConsole(file=printed, width=40).print(table)
    cells = "".join(line.split("│")[1].strip() for line in printed.getvalue().splitlines() if "│" in line)
    assert all(each in cells for each in ids)
    assert "…" not in printed.getvalue()


def finding(name: str, flaw: str | None) -> CampaignFinding:
    return CampaignFinding(protocol="kip-320", property=name, seen=1, length=3, is_shrunk=True, known_flaw=flaw)


def test_a_campaign_distinguishes_known_bugs_from_known_differences() -> None:
    assert str(_verdict(finding("no-committed-loss", "KAFKA-1"))) == "known bug"
    assert str(_verdict(finding("difference replicas.leo", "by design"))) == "known difference"
    assert str(_verdict(finding("difference replicas.leo", None))) == "UNEXPECTED"
