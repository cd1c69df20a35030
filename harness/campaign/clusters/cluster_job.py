"""Campaigns of schedules on real Kafka clusters.

The schedules of a block depend only on the seed and on the block's number. Their results also depend on the threads of
real brokers. No block therefore runs twice for comparison. If a block ran twice because a driver was killed, its first
result counts.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from pyspark.sql import Column
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.clusters import plays
from epochfuzz.harness.campaign.clusters.cluster_parameters import SCHEMA, ClusterParameters
from epochfuzz.harness.campaign.run.job import BlockRange, Counts, Job
from epochfuzz.harness.campaign.run.status import SoFar
from epochfuzz.harness.campaign.spark import versions
from epochfuzz.harness.campaign.spark.workers import Workers
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.cluster.broker import installation, tools
from epochfuzz.harness.cluster.errors import ClusterError
from epochfuzz.harness.cluster.schedules.ends import FINDINGS
from epochfuzz.harness.cluster.schedules.fuzzed import ClusterFinding, Fuzzed
from epochfuzz.harness.environment import extras
from epochfuzz.model.kafka.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.clusters.play_blocks import Playground
    from epochfuzz.harness.campaign.run.campaign import Campaign, Progress

_SHRINK = "epochfuzz.harness.campaign.clusters.cluster_tasks:shrink_sightings"


@dataclass(frozen=True)
class ClusterOutcome:
    """The results of a finished campaign. `seen` holds the number of schedules for each finding, in order."""

    parameters: ClusterParameters
    begun: datetime | None
    fuzzed: Fuzzed
    seen: tuple[int, ...]


class Clusters(Job[ClusterOutcome]):
    """Schedules that the model chooses. Each task plays its schedules on a cluster of its own."""

    NAME = "cluster"
    PARAMETERS = SCHEMA
    BLOCKS = plays.BLOCKS
    TWICE = False
    LONGEST_WAVE = TASK = 120.0  # a cluster takes about ten seconds to start

    playground: "Playground"  # set while a task runs

    def __init__(self, asked: ClusterParameters) -> None:
        self.parameters = asked
        self.model = asked.model
        self.version = asked.version
        self.seconds = asked.seconds

    @property
    def heading(self) -> str:
        """One line that describes the job."""
        return f"Kafka {self.parameters.release} · {super().heading}"

    @property
    def seed(self) -> int:
        """The seed of the schedules."""
        return self.parameters.seed

    @property
    def settings(self) -> Configuration:
        """The configuration."""
        return self.parameters.settings

    @property
    def names(self) -> tuple[str, ...]:
        """The protocol of the model for the release."""
        return (self.parameters.protocol,)

    def row(self) -> dict[str, Any]:
        """Return the parameters of the job as a row of PARAMETERS."""
        return {"engine": self.NAME, **self.parameters.row()}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the job that a row of PARAMETERS describes. Raises ValueError."""
        return cls(ClusterParameters.from_row(row))

    def require(self) -> None:
        """Check on this machine that Kafka's clients are installed. Raises CampaignError."""
        try:
            extras.require("cluster")
        except extras.MissingExtra as error:
            raise CampaignError(str(error)) from None

    def get_ready(self) -> None:
        """Check that the worker can start a cluster, and fetch the release with Maven. Raises ClusterError."""
        from epochfuzz.harness.campaign.clusters import play_blocks  # noqa: F401 - fails without Kafka's clients

        try:
            tools.java()
            tools.tool("setpriv")
            installation.from_maven(self.parameters.release)
        except ClusterError as error:
            raise ClusterError(f"a worker cannot start Kafka: {error}") from None

    @contextmanager
    def equipped(self) -> Iterator[None]:
        """Provide a cluster until the task ends. The first schedule starts the cluster."""
        from epochfuzz.harness.campaign.clusters.play_blocks import Playground
        from epochfuzz.harness.cluster.schedules.player import Player

        with Player(installation.from_maven(self.parameters.release), None) as player:
            self.playground = Playground(player, self.parameters)
            yield

    def block(self, number: int) -> dict[str, Any]:
        """Play the schedules of a block. Raises ClusterError."""
        return self.playground.block(number)

    def number(self) -> Column:
        """Return the number of a block."""
        return F.col("number")

    def compared(self) -> list[Column]:
        """Return the columns that must be equal if a block runs again: the schedules, without their results."""
        chosen = F.transform("played", lambda played: F.struct(played["schedule"], played["events"]))
        return [F.col("number"), F.col("drawn"), chosen]

    def counted(self) -> dict[str, Column]:
        """Count the schedules, their events, and the schedules with a finding."""
        found = F.filter("played", lambda played: played["ended"].isin(*map(str, FINDINGS)))
        return {"schedules": F.col("schedules"), "events": F.col("events"), "found": F.size(found)}

    def stages(self, campaign: "Campaign[ClusterOutcome]") -> Iterator[BlockRange]:
        """Yield one stage with all blocks."""
        yield BlockRange(0, self.parameters.blocks)

    def progress(self, counts: Counts, seconds: float) -> str:
        """Return the progress in one line."""
        return (
            f"{counts['schedules']:,} schedules · {counts['events'] / seconds:.1f} events/s"
            f" · {counts['found']:,} of them found something"
        )

    def seconds_remaining(self, counts: Counts, seconds: float) -> float | None:
        """Return the estimated seconds until the end; None if a killed driver has recorded no time."""
        if self.parameters.schedules is not None:
            if not seconds:
                return None
            return max(0.0, self.parameters.schedules / counts["schedules"] - 1) * seconds
        return super().seconds_remaining(counts, seconds)

    def finish(self, campaign: "Campaign[ClusterOutcome]", progress: "Progress") -> dict[str, int]:
        """Turn the results of blocks into findings and cases."""
        from epochfuzz.harness.campaign.walks import cases  # cases are YAML, which workers don't need
        from epochfuzz.harness.cases.case import dump_case
        from epochfuzz.harness.cluster.schedules.fuzzed_case import case_of

        blocks = self._blocks(campaign)
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
        """Shrink each sighting in a task of its own. Returns one row of plays.SHRUNK for each."""
        if not found:
            return []
        progress.doing(f"shrinking {len(found)} findings by replay")
        spark = campaign.directory.spark
        argument = {"work": self.text, "sightings": [(each.played, each.seen) for each in found]}
        numbers = spark.range(0, len(found), 1, len(found))
        shrunk = versions.to_arrow(Workers(spark).map(numbers, _SHRINK, argument, plays.SHRUNK)).to_pylist()
        return sorted(shrunk, key=lambda row: int(row["schedule"]))

    def _blocks(self, campaign: "Campaign[ClusterOutcome]") -> list[dict[str, Any]]:
        if campaign.kept is not None:
            return plays.each_once(campaign.kept)
        finished = campaign.finished()
        return [] if finished is None else versions.to_arrow(finished.orderBy("number")).to_pylist()

    def outcome(self, campaign: "Campaign[ClusterOutcome]") -> ClusterOutcome:
        """Return the results of a finished campaign."""
        if campaign.kept is not None:
            return self.kept_outcome(campaign.kept)
        whole = plays.summed(self._blocks(campaign))
        rows = campaign.directory.read_rows("findings", plays.TABLE)
        return self._outcome(campaign.begun(), whole, campaign.seconds(whole.schedules), rows)

    def kept_outcome(self, kept: LocalTables) -> ClusterOutcome:
        """Return the results of a finished campaign on this machine, without Spark."""
        whole = plays.summed(plays.each_once(kept))
        rows = kept.read_rows("findings", plays.TABLE)
        return self._outcome(kept.begun, whole, kept.seconds(whole.schedules), rows)

    def _outcome(
        self, begun: datetime | None, whole: Fuzzed, seconds: float, rows: list[dict[str, Any]]
    ) -> ClusterOutcome:
        findings: list[ClusterFinding] = list(map(plays.finding, rows))
        whole.seconds, whole.findings = seconds, findings
        whole.replays = sum(row["replays"] for row in rows)
        return ClusterOutcome(self.parameters, begun, whole, tuple(row["seen"] for row in rows))

    def so_far(self, kept: LocalTables) -> SoFar:
        """Return the results of the finished blocks."""
        blocks, protocol = plays.each_once(kept), self.parameters.protocol
        whole = plays.summed(blocks)
        found = sum(whole.ends[ended] for ended in FINDINGS)
        counts = Counter({"schedules": whole.schedules, "events": whole.events, "found": found})
        if kept.is_finished:
            findings = plays.found(protocol, kept.read_rows("findings", plays.TABLE))
        else:
            findings = plays.sighted(protocol, blocks)
        return SoFar(counts, tuple(findings), {}, None)
