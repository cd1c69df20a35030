"""Find out which campaign a directory holds, from its parameters and its blocks."""

from collections.abc import Iterable
from typing import Any
from typing import Protocol as Interface

from epochfuzz.harness.campaign.run.job import Job, text_of
from epochfuzz.harness.campaign.run.kinds import work_of
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.environment.version import epochfuzz_version

ALONE = "no other file has the campaign's parameters; restore it, or choose another directory"


class SmallTables(Interface):
    """The interface of readers of small tables, such as the parameters of a campaign."""

    def path(self, *names: str) -> str:
        """Return the location of a file or table in the directory."""

    def has(self, table: str) -> bool:
        """Return whether a table exists and has at least one row."""

    def read_rows_as_they_are(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a small table."""


def work_found(tables: SmallTables) -> Job[Any] | None:
    """Return the job of the campaign in a directory, or None if the directory has neither parameters nor blocks.

    Raises CampaignError if the parameters cannot be used, or if there are blocks without parameters.
    """
    place = tables.path("parameters")
    rows = tables.read_rows_as_they_are("parameters")
    if not rows:
        if tables.has("blocks"):
            raise CampaignError(
                f"{place} is missing or empty, but {tables.path('blocks')} has the blocks of a campaign; restore the"
                " parameters to resume it, or choose another directory"
            )
        return None
    try:
        work = work_of(rows[0])
    except ValueError as error:
        raise CampaignError(_unusable(place, rows[0].get("version"), error)) from None
    work.as_written = text_of(rows[0], work.NAME)
    return work


def _unusable(place: str, version: Any, error: ValueError) -> str:
    """Return the message for parameters that cannot be used.

    Parquet does not detect damage to column names. If this version of epochfuzz wrote the parameters, the message
    reports damage.
    """
    said = f"{place} cannot be used: {error}; it was written by epochfuzz {version}"
    if version == epochfuzz_version():
        return f"{said}, this version, so it is damaged; {ALONE}"
    return f"{said}, but this is epochfuzz {epochfuzz_version()}; install that version"


def refuse_foreign_to(tables: SmallTables, work: Job[Any], campaigns: Iterable[str | None]) -> None:
    """Raise CampaignError if a block belongs to another campaign. `campaigns` has the digests stored in the blocks.

    None stands for a block without a number, which an older epochfuzz has written.
    """
    if None in campaigns:
        raise CampaignError(
            f"{tables.path('blocks')} has blocks without numbers, as an older epochfuzz wrote them; use the epochfuzz"
            " that began the campaign, or start another campaign"
        )
    for campaign in sorted({each for each in campaigns if each is not None} - {work.campaign}):
        raise CampaignError(
            f"{tables.path('blocks')} has blocks of campaign {campaign}, but {tables.path('parameters')}"
            f" belongs to campaign {work.campaign}; restore the files of one campaign, or choose another directory"
        )
