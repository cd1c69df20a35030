"""Campaigns that play schedules on real Kafka clusters.

The seed and the number of a block decide the schedules of the block. The results of these schedules also depend on the
threads of real brokers, so no block runs twice for comparison. If a killed driver causes a second run of a block, the
first result counts.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from epochfuzz.harness.campaign.clusters import plays
from epochfuzz.harness.campaign.clusters.cluster_parameters import SCHEMA, ClusterParameters
from epochfuzz.harness.campaign.run.job import Counts, Job
from epochfuzz.harness.campaign.run.status import SoFar
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.campaign.store.tables import Tables
from epochfuzz.harness.cluster.broker import installation, tools
from epochfuzz.harness.cluster.errors import ClusterError
from epochfuzz.harness.cluster.schedules.ends import FINDINGS
from epochfuzz.harness.cluster.schedules.fuzzed import ClusterFinding, Fuzzed
from epochfuzz.harness.environment import extras
from epochfuzz.model.kafka.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.clusters.play_blocks import BlockPlayer
    from epochfuzz.harness.campaign.run.campaign import Campaign, Progress

_SHRINK = "epochfuzz.harness.campaign.clusters.cluster_tasks:shrink_sightings"


@dataclass(frozen=True)
class ClusterOutcome:
    """The results of a finished campaign on clusters.

    `seen` has the number of schedules that showed each finding, in the order of `fuzzed.findings`.
    """

    parameters: ClusterParameters
    begun: datetime | None
    fuzzed: Fuzzed
    seen: tuple[int, ...]


class Clusters(Job[ClusterOutcome]):
    """The job of playing schedules on Kafka clusters.

    The model chooses the schedules, and each task has its own cluster.
    """

    NAME = "cluster"
    PARAMETERS = SCHEMA
    BLOCKS = plays.BLOCKS
    LONGEST_WAVE = TASK = 120.0  # seconds; a task is long, because its cluster takes about ten seconds to start

    block_player: "BlockPlayer"  # set while a task runs

    def __init__(self, asked: ClusterParameters) -> None:
        self.parameters = asked
        self.model = asked.model
        self.version = asked.version
        self.seconds = asked.seconds

    @property
    def heading(self) -> str:
        """A line for the user: the release, the seed and the configuration."""
        return f"Kafka {self.parameters.release} · {super().heading}"

    @property
    def is_repeatable(self) -> bool:
        """False, because the results depend on Kafka's timing."""
        return False

    @property
    def seed(self) -> int:
        """The seed of the schedules."""
        return self.parameters.seed

    @property
    def settings(self) -> Configuration:
        """The configuration of the partition on the clusters."""
        return self.parameters.settings

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the protocol that models the release, as the only element."""
        return (self.parameters.protocol,)

    def row(self) -> dict[str, Any]:
        """Return the parameters of the job as a row of PARAMETERS."""
        return {"engine": self.NAME, **self.parameters.row()}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the job that a row of PARAMETERS describes. Raises ValueError."""
        return cls(ClusterParameters.from_row(row))

    def require(self) -> None:
        """Raise CampaignError if Kafka's client library is not installed on this machine."""
        try:
            extras.require("cluster")
        except extras.MissingExtra as error:
            raise CampaignError(str(error)) from None

    def get_ready(self) -> None:
        """Check that this worker can start a cluster, and download the release with Maven. Raises ClusterError."""
        from epochfuzz.harness.campaign.clusters import play_blocks  # noqa: F401 - fails without Kafka's clients

        try:
            tools.java()
            tools.tool("setpriv")
            installation.from_maven(self.parameters.release)
        except ClusterError as error:
            raise ClusterError(f"a worker cannot start Kafka: {error}") from None

    @contextmanager
    def equipped(self) -> Iterator[None]:
        """Provide a cluster for this task. The cluster starts at the first schedule, and stops with the task."""
        from epochfuzz.harness.campaign.clusters.play_blocks import BlockPlayer
        from epochfuzz.harness.cluster.schedules.player import Player

        with Player(installation.from_maven(self.parameters.release), None) as player:
            self.block_player = BlockPlayer(player, self.parameters)
            yield

    def block(self, number: int) -> dict[str, Any]:
        """Play the schedules of a block on the task's cluster, and return the block's row. Raises ClusterError."""
        return self.block_player.block(number)

    @property
    def counted(self) -> tuple[str, ...]:
        """The names of the numbers for the progress: schedules, events, and schedules with a finding."""
        return "schedules", "events", "found"

    def counts(self, row: Mapping[str, Any]) -> dict[str, int]:
        """Return the numbers in a row of BLOCKS."""
        found = sum(played["ended"] in FINDINGS for played in row["played"])
        return {"schedules": row["schedules"], "events": row["events"], "found": found}

    def compared(self, row: Mapping[str, Any]) -> Any:
        """Return the schedules of a block without their results, which depend on Kafka's timing."""
        return row["number"], row["drawn"], [(played["schedule"], played["events"]) for played in row["played"]]

    @property
    def blocks(self) -> int | None:
        """The number of blocks. None if a time limit ends the campaign."""
        return self.parameters.blocks

    def progress(self, counts: Counts, seconds: float) -> str:
        """Return the progress in one line."""
        return (
            f"{counts['schedules']:,} schedules · {counts['events'] / seconds:.1f} events/s"
            f" · {counts['found']:,} of them found something"
        )

    def seconds_remaining(self, counts: Counts, seconds: float) -> float | None:
        """Return the estimated seconds until the end. None if the time of the finished blocks is unknown."""
        if self.parameters.schedules is not None:
            if not seconds:
                return None
            return max(0.0, self.parameters.schedules / counts["schedules"] - 1) * seconds
        return super().seconds_remaining(counts, seconds)

    def finish(self, campaign: "Campaign[ClusterOutcome]", progress: "Progress") -> dict[str, int]:
        """Shrink the findings of all blocks, and write them as rows and as cases.

        Returns the row of the table `outcome`.
        """
        from epochfuzz.harness.campaign.walks import cases  # cases are YAML, which workers don't need
        from epochfuzz.harness.cases.case import dump_case
        from epochfuzz.harness.cluster.schedules.fuzzed_case import case_of

        blocks = self._blocks(campaign.tables)
        rows = self._shrunk(campaign, plays.sightings(blocks), progress)
        made = [case_of(plays.finding(row), self.parameters.parsed_protocol, self.settings, self.seed) for row in rows]
        rows = [row | {"case": dump_case(case)} for row, case in zip(rows, made, strict=True)]
        campaign.directory.write_rows(rows, plays.TABLE, "findings")
        cases.write(made, campaign.directory)
        whole = plays.summed(blocks)
        return {"schedules": whole.schedules, "events": whole.events, "findings": len(rows)}

    def _shrunk(
        self, campaign: "Campaign[ClusterOutcome]", found: list[plays.ClusterSighting], progress: "Progress"
    ) -> list[dict[str, Any]]:
        """Shrink each finding in a task with its own cluster. Returns a row of plays.SHRUNK for each finding."""
        if not found:
            return []
        progress.doing(f"shrinking {len(found)} findings by replay")
        argument = {"work": self.text, "sightings": [(each.played, each.seen) for each in found]}
        shrunk = campaign.map(_SHRINK, argument, len(found), plays.SHRUNK)
        return sorted(shrunk, key=lambda row: int(row["schedule"]))

    def _blocks(self, tables: Tables) -> list[dict[str, Any]]:
        return list(tables.blocks(self.BLOCKS))

    def outcome(self, campaign: "Campaign[ClusterOutcome]") -> ClusterOutcome:
        """Return the results of a finished campaign."""
        return self.outcome_of(campaign.tables)

    def outcome_of(self, tables: Tables) -> ClusterOutcome:
        """Return the results of a finished campaign from its tables."""
        whole = plays.summed(self._blocks(tables))
        rows = tables.read_rows("findings", plays.TABLE)
        return self._outcome(tables.begun, whole, tables.seconds(whole.schedules), rows)

    def _outcome(
        self, begun: datetime | None, whole: Fuzzed, seconds: float, rows: list[dict[str, Any]]
    ) -> ClusterOutcome:
        findings: list[ClusterFinding] = list(map(plays.finding, rows))
        whole.seconds, whole.findings = seconds, findings
        whole.replays = sum(row["replays"] for row in rows)
        return ClusterOutcome(self.parameters, begun, whole, tuple(row["seen"] for row in rows))

    def so_far(self, tables: Tables) -> SoFar:
        """Return the results of the finished blocks."""
        protocol = self.parameters.protocol
        if tables.is_finished:
            findings = plays.found(protocol, tables.read_rows("findings", plays.TABLE))
        else:
            findings = plays.sighted(protocol, self._blocks(tables))
        return SoFar(tables.counts(self.counted), tuple(findings), {}, None)
