"""Show campaigns, which are runs on Spark: the progress of one campaign, and the history of several."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from epochfuzz.harness.campaign.run.progress import duration
from epochfuzz.harness.campaign.run.status import CampaignState, CampaignStatus, about
from epochfuzz.harness.campaign.store.history import FindingHistory, History, configuration_text
from epochfuzz.harness.documents.records import CampaignFinding
from epochfuzz.model.kafka.contract.properties import BY_NAME

if TYPE_CHECKING:
    from epochfuzz.harness.documents.records import Checked

UNEXPECTED = "UNEXPECTED"


def about_line(facts: Mapping[str, object]) -> str:
    """Return facts about a campaign in one line, such as `epochfuzz 0.2.0, model 0f3a`."""
    return ", ".join(f"{name} {value}" for name, value in facts.items())


def checked_facts(checked: "Checked") -> dict[str, str]:
    """Return two facts about a campaign as text: how many blocks of schedules ran twice, and peak memory."""
    return {
        "blocks walked twice, and equal": f"{checked.blocks:,}",
        "most memory of a worker": f"{checked.memory >> 20:,} MiB",
    }


def status_lines(status: CampaignStatus) -> Iterator[str]:
    """Yield lines about a campaign: its progress, its speed, and the probability of a new situation or failure."""
    work, so_far = status.work, status.so_far
    yield about_line(about(status.begun, work.version, work.model))
    yield work.heading
    since = duration((datetime.now(UTC) - status.written).total_seconds())
    yield f"{status.state}; last written {since} ago"
    if not so_far.counts["schedules"]:
        yield "no block is finished yet"
        return
    pace = (
        work.progress(so_far.counts, status.seconds) if status.seconds else f"{so_far.counts['schedules']:,} schedules"
    )
    remaining = status.seconds_remaining
    yield pace if remaining is None else f"{pace} · {duration(remaining)} left"
    for name, met in so_far.met.items():
        yield f"{name}: {len(met):,} situations met"
    if so_far.estimate is not None:
        yield (
            f"One more such schedule shows a new situation or kind of failure with probability {so_far.estimate.text}"
        )


def findings_table(status: CampaignStatus) -> Table:
    """Return a table of a campaign's findings so far. The table has the length of each finding's shortest schedule."""
    table = Table("protocol", "property", "schedules", "events", "", title="Found so far")
    for found in status.so_far.found:
        table.add_row(Text(found.protocol), Text(found.property), f"{found.seen:,}", _events(found), _verdict(found))
    return table


def _events(found: CampaignFinding) -> str:
    return f"{found.length}" if found.is_shrunk else f"{found.length}, not shrunk yet"


def _verdict(found: CampaignFinding | FindingHistory) -> Text:
    if not found.known_flaw:
        return Text(UNEXPECTED, "bold reverse")
    name = found.property if isinstance(found, CampaignFinding) else found.name
    return Text("known bug" if name in BY_NAME else "known difference")


def history_tables(history: History) -> Iterator[Table]:
    """Yield tables about several campaigns: the campaigns, their findings, and (if counted) the growth of coverage."""
    yield _campaigns(history)
    yield _findings(history)
    if history.growth:
        yield _growth(history)


def date(campaign: CampaignStatus) -> str:
    """Return the start of a campaign as text, to the minute."""
    return f"{campaign.begun:%Y-%m-%d %H:%M}"


def sighting(campaign: CampaignStatus) -> str:
    """Return a text that identifies a campaign: its start, version and seed."""
    return f"{date(campaign)}, {campaign.work.version}, seed {campaign.work.seed}"


def state(campaign: CampaignStatus) -> str:
    """Return the state of a campaign as text. The text is empty for a finished campaign."""
    return "" if campaign.state is CampaignState.FINISHED else str(campaign.state)


def _campaigns(history: History) -> Table:
    names = ("begun (UTC)", "directory", "version", "model", "seed", "protocols", "configuration", "schedules", "time")
    table = Table(*names, "findings", "unexpected", "", title="Campaigns")
    for each in history.campaigns:
        work, so_far = each.work, each.so_far
        table.add_row(
            date(each), Text(each.directory), work.version, work.model, str(work.seed), Text(", ".join(work.names)),
            configuration_text(work.settings), f"{so_far.counts['schedules']:,}", duration(each.seconds),
            str(len(so_far.found)), str(len(each.unexpected)), state(each),
        )  # fmt: skip
    return table


def _findings(history: History) -> Table:
    columns = ("protocol", "property", "first seen", "last seen", "in", "events", "", "since the last")
    table = Table(*columns, title="Findings")
    new, gone = history.new, history.no_longer_seen
    for line in history.lines:
        table.add_row(
            Text(str(line.subject)), Text(line.name), sighting(line.seen[0][0]), sighting(line.seen[-1][0]),
            f"{len(line.seen)} of {len(line.found)}", _events(line.shortest), _verdict(line),
            "NEW" if line in new else "no longer seen" if line in gone else "",
        )  # fmt: skip
    return table


def _growth(history: History) -> Table:
    table = Table("begun (UTC)", "protocol", "situations", "new", "so far", title="Situations met")
    for each in history.growth:
        cells = (f"{each.met:,}", f"{each.new:,}", f"{each.so_far:,}")
        table.add_row(date(each.campaign), Text(str(each.subject)), *cells)
    return table
