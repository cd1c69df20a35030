"""The status of a campaign that runs, was interrupted, or is finished: its progress and its findings so far."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from epochfuzz.harness.documents.records import CampaignFinding
from epochfuzz.harness.engine.explore.estimate import Estimate, estimate_json
from epochfuzz.harness.text.plain import fields_of

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.job import Counts, Job
    from epochfuzz.harness.campaign.store.local_tables import LocalTables
    from epochfuzz.harness.documents import walks


class CampaignState(StrEnum):
    """The state of a campaign. UNFINISHED means that no process runs the campaign, and that it can be resumed."""

    RUNNING = "running"
    UNFINISHED = "unfinished"
    FINISHED = "finished"


@dataclass(frozen=True)
class SoFar:
    """The results of the finished blocks.

    `met` has, for each protocol, the situations that its schedules met, as numbers (walks/coverage.py). `met` is empty
    and `estimate` is None if the job counts no situations. Only random runs count situations.
    """

    counts: "Counts"
    found: tuple[CampaignFinding, ...]
    met: Mapping[str, frozenset[int]]
    estimate: Estimate | None


@dataclass(frozen=True, kw_only=True)
class CampaignStatus:
    """The status of a campaign at one moment. `seconds` is the time that its blocks took so far.

    `written` is the time of the last write to its directory.
    """

    directory: str
    state: CampaignState
    begun: datetime
    written: datetime
    work: "Job[Any]"
    so_far: SoFar
    seconds: float

    @property
    def seconds_remaining(self) -> float | None:
        """The estimated seconds until the end. None without an estimate, or if the campaign is finished."""
        if self.state is CampaignState.FINISHED or not self.so_far.counts["schedules"]:
            return None
        return self.work.seconds_remaining(self.so_far.counts, self.seconds)

    @property
    def unexpected(self) -> list[CampaignFinding]:
        """The findings that are not known bugs."""
        return [found for found in self.so_far.found if found.known_flaw is None]


def status_of(kept: "LocalTables") -> CampaignStatus:
    """Return the status of the campaign in a directory. Raises CampaignError and NonDeterminismError."""
    work = kept.work
    is_running = kept.is_running  # read before the outcome: if the campaign ends now, its outcome is found below
    state = (
        CampaignState.FINISHED
        if kept.is_finished
        else CampaignState.RUNNING
        if is_running
        else CampaignState.UNFINISHED
    )
    so_far = work.so_far(kept)
    seconds = kept.seconds(so_far.counts["schedules"])
    return CampaignStatus(
        directory=kept.path(),
        state=state,
        begun=kept.begun,
        written=kept.written,
        work=work,
        so_far=so_far,
        seconds=seconds,
    )


def about(begun: datetime | None, version: str, model: str) -> "walks.Facts":
    """Return facts about a campaign: its start if known, the version of epochfuzz, and the digest of the model."""
    facts: walks.Facts = {"epochfuzz": version, "model": model}
    return facts if begun is None else {"begun": f"{begun:%Y-%m-%d %H:%M:%S} UTC", **facts}


def status_json(status: CampaignStatus) -> "walks.Status":
    """Return the status of a campaign as a JSON document."""
    work, so_far = status.work, status.so_far
    return {
        "directory": status.directory,
        "state": str(status.state),
        "begun": status.begun.isoformat(),
        "written": status.written.isoformat(),
        "version": work.version,
        "model": work.model,
        "engine": work.NAME,
        "seed": work.seed,
        "configuration": work.settings.changed(),
        "protocols": list(work.names),
        "schedules": so_far.counts["schedules"],
        "seconds": round(status.seconds, 3),
        "seconds_remaining": status.seconds_remaining,
        "findings": [fields_of(found) for found in so_far.found],
        "situations": {name: len(met) for name, met in so_far.met.items()},
        "estimate": None if so_far.estimate is None else estimate_json(so_far.estimate),
    }
