"""The results of random schedules on a cluster. Importing this module needs no cluster."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from epochfuzz.harness.cluster.schedules.ends import unlike
from epochfuzz.harness.documents.cluster_records import Ended
from epochfuzz.model.kafka.vocabulary.events import parse_schedule, schedule_texts

if TYPE_CHECKING:
    from epochfuzz.harness.documents import evidence

DRAWN_FOR_ONE = 100  # schedules drawn for each one that is played


@dataclass(frozen=True, kw_only=True)
class ClusterFinding:
    """A shrunk schedule that lost a record, diverged or got stuck on a cluster.

    A schedule gets stuck if consumers cannot read the leader's whole log. `ended` is the result of the schedule on the
    cluster, and `model` the result in the model.
    """

    number: int
    events: bytes
    shrunk_from: int
    ended: Ended
    why: str
    model: Ended

    def plain(self) -> "evidence.ShortenedPlay":
        """Return this finding as plain data, for JSON."""
        return {
            "schedule": self.number,
            "ended": self.ended,
            "why": self.why,
            "events": schedule_texts(self.events),
            "shrunk_from": self.shrunk_from,
            "model": self.model,
        }


@dataclass(kw_only=True)
class Fuzzed:
    """The results of a run of random schedules: counts, and findings."""

    drawn: int = 0  # schedules drawn, some of them played
    schedules: int = 0
    events: int = 0
    seconds: float = 0.0
    replays: int = 0  # replays for shrinking
    ends: Counter[Ended] = field(default_factory=Counter)
    unlike: Counter[str] = field(default_factory=Counter)  # differing outcomes of the cluster and the model
    findings: list[ClusterFinding] = field(default_factory=list)
    not_reached: list[str] = field(default_factory=list)

    def numbers(self) -> "evidence.PlayedNumbers":
        """Return the counts as plain data, for JSON."""
        return {
            "drawn": self.drawn,
            "schedules": self.schedules,
            "events": self.events,
            "seconds": round(self.seconds, 1),
            "events_per_second": round(self.events / self.seconds, 2) if self.seconds else None,
            "replays_to_shrink": self.replays,
            "ends": {ended.value: self.ends[ended] for ended in Ended},
            "unlike_the_model": dict(self.unlike),
            "not_reached": self.not_reached,
        }

    def add(self, number: int, steps: int, ended: Ended, why: str, model: Ended) -> None:
        """Count a played schedule with its number of events, its result on the cluster, and its result in the model."""
        self.schedules += 1
        self.events += steps
        self.ends[ended] += 1
        if ended is Ended.NOT_REACHED:
            self.not_reached.append(f"schedule {number}: {why}")
        elif ended is not model:
            self.unlike[unlike(ended, model)] += 1


def as_json(result: Fuzzed) -> dict[str, Any]:
    """Return the results so far as plain data for `from_json`."""
    return vars(result) | {"findings": [each.plain() for each in result.findings]}


def from_json(document: dict[str, Any]) -> Fuzzed:
    """Return the results from the plain data of `as_json`."""
    findings = [
        ClusterFinding(
            number=row["schedule"],
            events=parse_schedule(row["events"]),
            shrunk_from=row["shrunk_from"],
            ended=Ended(row["ended"]),
            why=row["why"],
            model=Ended(row["model"]),
        )
        for row in document["findings"]
    ]
    ends = Counter({Ended(name): count for name, count in document["ends"].items()})
    return Fuzzed(**document | {"ends": ends, "unlike": Counter(document["unlike"]), "findings": findings})


def describe(result: Fuzzed) -> str:
    """Return a summary of the results in one line."""
    ends = ", ".join(f"{count} {ended}" for ended, count in sorted(result.ends.items()) if count)
    speed = result.events / result.seconds if result.seconds else 0
    return (
        f"{result.schedules} schedules, {result.events} events in {result.seconds:.0f} s ({speed:.1f} a second, with"
        f" {result.replays} replays to shrink): {ends}"
    )
