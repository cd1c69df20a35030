"""Status: how far a campaign is and what it has found until then, of one that runs, was interrupted, or is finished."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from epochfuzz.harness.engine.explore.estimate import Estimate, estimate_json
from epochfuzz.harness.plain import fields_of

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.work import Counts, Work
    from epochfuzz.harness.campaign.store.kept import Kept
    from epochfuzz.harness.documents import walks


class State(StrEnum):
    """Where a campaign is."""

    RUNNING = "running"
    UNFINISHED = "unfinished"
    FINISHED = "finished"


@dataclass(frozen=True)
class Found:
    """A finding, or what will be one: what broke, how often, and after how few events; `is_shrunk` once it was.

    `property` is the class of an exception where a state machine of one's own raised it, and the kind of difference
    where a subject did not conform. `known_flaw` says why it was to be expected, None where it was not.
    """

    protocol: str
    property: str
    seen: int
    length: int
    is_shrunk: bool
    known_flaw: str | None


@dataclass(frozen=True)
class SoFar:
    """What the blocks that are finished come to. `met`: numbers of situations by protocol, where they are counted."""

    counts: "Counts"
    found: tuple[Found, ...]
    met: Mapping[str, frozenset[int]]
    estimate: Estimate | None


@dataclass(frozen=True)
class Status:
    """A campaign at a moment. `seconds` is for how long it has worked."""

    directory: str
    state: State
    begun: datetime
    written: datetime
    work: "Work[Any]"
    so_far: SoFar
    seconds: float

    @property
    def seconds_remaining(self) -> float | None:
        """How long it will take from now on; None where nobody knows yet, or where it is over."""
        if self.state is State.FINISHED or not self.so_far.counts["schedules"]:
            return None
        return self.work.seconds_remaining(self.so_far.counts, self.seconds)

    @property
    def unexpected(self) -> list[Found]:
        """What was found that is no known bug."""
        return [found for found in self.so_far.found if found.known_flaw is None]


def status_of(kept: "Kept") -> Status:
    """Return the status of what is kept in a directory. Raises CampaignError and NonDeterminismError."""
    work = kept.work
    is_running = kept.is_running  # first: a campaign that ends meanwhile is finished by then
    state = State.FINISHED if kept.is_finished else State.RUNNING if is_running else State.UNFINISHED
    so_far = work.so_far(kept)
    seconds = kept.seconds(so_far.counts["schedules"])
    return Status(kept.path(), state, kept.begun, kept.written, work, so_far, seconds)


def about(begun: datetime | None, version: str, model: str) -> "walks.Facts":
    """When a campaign was begun, and with which rules."""
    facts: walks.Facts = {"epochfuzz": version, "model": model}
    return facts if begun is None else {"begun": f"{begun:%Y-%m-%d %H:%M:%S} UTC", **facts}


def status_json(status: Status) -> "walks.Status":
    """Return the JSON form."""
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
