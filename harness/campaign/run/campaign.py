"""Run a campaign from start to end. A resumed campaign skips the steps whose results are in its directory."""

from datetime import datetime
from shlex import quote
from typing import Any, Generic
from typing import Protocol as Interface

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.run import waves
from epochfuzz.harness.campaign.run.job import Counts, Job, Outcome
from epochfuzz.harness.campaign.run.waves import Waves
from epochfuzz.harness.campaign.store import blocks, determinism
from epochfuzz.harness.campaign.store.directory import CampaignDirectory
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.campaign.store.identity import Tables, work_found
from epochfuzz.harness.campaign.store.local_tables import LocalTables, wave_begun
from epochfuzz.harness.documents.records import Checked
from epochfuzz.harness.environment.version import model_digest

# Written last: a campaign is finished if it has this table.
OUTCOME = pa.schema(
    {
        "schedules": pa.int64(),  # number of schedules that ran
        "events": pa.int64(),  # number of applied events, summed over all protocols
        "findings": pa.int64(),  # number of rows in the table of findings
    }
)


class Progress(Interface):
    """An observer that shows the progress of a campaign to the user."""

    def doing(self, what: str) -> None:
        """Show the name of the current step, such as `shrinking 3 findings`."""

    def counted(self, counts: Counts, seconds: float) -> None:
        """Show the counts of the finished blocks, and the seconds that these blocks took."""


class Campaign(Generic[Outcome]):
    """A campaign and its directory. `work` is the job of the campaign, which defines the content of blocks.

    `taken_up` is the number of the first block after all blocks that earlier processes finished; 0 for a new campaign.
    """

    def __init__(self, directory: CampaignDirectory, work: Job[Outcome]) -> None:
        self.directory = directory
        self.work = work
        self.taken_up = 0
        self._checked: Checked | None = None

    @staticmethod
    def start(spark: SparkSession, uri: str, work: Job[Outcome]) -> "Campaign[Outcome]":
        """Start a campaign in a directory.

        Raises CampaignError if the directory already holds a campaign, or blocks without parameters.
        """
        directory = CampaignDirectory(spark, uri)
        found = work_found(_readable(directory))
        if found is not None:
            raise CampaignError(
                f"{uri} already holds a campaign; {found.how_to_resume(uri)}, or choose another directory"
            )
        work.require()
        directory.write_rows([work.row()], work.PARAMETERS, "parameters")
        return Campaign(directory, work)

    @staticmethod
    def load(spark: SparkSession, uri: str) -> "Campaign[Any]":
        """Return the campaign in a directory.

        Raises CampaignError if the directory holds no campaign, or a campaign that cannot be resumed.
        """
        directory = CampaignDirectory(spark, uri)
        found = work_found(_readable(directory))
        if found is None:
            raise CampaignError(f"{uri} holds no campaign; `epochfuzz campaign run --out {quote(uri)}` starts one")
        _refuse_foreign(directory, found)
        return Campaign(directory, found)

    @staticmethod
    def start_or_load(spark: SparkSession, uri: str, work: Job[Outcome]) -> "Campaign[Outcome]":
        """Return the campaign in a directory, or start one if there is none.

        Raises CampaignError if the directory holds a campaign with other parameters.
        """
        directory = CampaignDirectory(spark, uri)
        found = work_found(_readable(directory))
        if found is None:
            return Campaign.start(spark, uri, work)
        differing = work.differing(found)
        if differing:
            raise CampaignError(
                f"{uri} holds a campaign with another {', another '.join(differing)}; resume it with its own"
                " parameters, or choose another directory"
            )
        _refuse_foreign(directory, work)
        return Campaign(directory, work)

    def run(self, progress: Progress) -> Outcome:
        """Run the remaining steps of the campaign, and return its results.

        Raises CampaignError if the campaign was started with other rules of the model.
        """
        if not self._is_finished():
            if self.work.model != model_digest():
                raise CampaignError(
                    f"{self.directory.uri} was begun with model {self.work.model} (epochfuzz {self.work.version}), but"
                    f" this is model {model_digest()}; resume with that version, or start another campaign"
                )
            self.work.require()
            self.do_blocks(progress)
            self.directory.write_rows([self.work.finish(self, progress)], OUTCOME, "outcome")
        return self.outcome()

    def outcome(self) -> Outcome:
        """Return the results. Raises CampaignError if the campaign is not finished."""
        if not self._is_finished():
            uri = self.directory.uri
            raise CampaignError(f"{uri} is not finished; {self.work.how_to_resume(uri)}")
        return self.work.outcome(self)

    def do_blocks(self, progress: Progress) -> Checked:
        """Run the remaining blocks, and compare the blocks that ran twice.

        Raises NonDeterminismError if results differ.
        """
        in_waves = Waves(self.directory, self.work)
        self.taken_up = in_waves.next
        self._checked = None
        for stage in self.work.stages(self):
            if not in_waves.do(stage, progress.counted):
                break
        return self.checked()

    @property
    def kept(self) -> LocalTables | None:
        """A reader of the directory that works without Spark, and is therefore faster by seconds.

        None if the directory is not on this machine.
        """
        return None if self.directory.local is None else LocalTables(self.directory.local)

    def checked(self) -> Checked:
        """Compare the blocks that ran twice. Raises NonDeterminismError if results differ."""
        if self._checked is None and self.kept is not None:
            self._checked = self.work.kept_checked(self.kept)
        if self._checked is None:
            self._checked = determinism.compare(blocks.written(self.directory, self.work), self.work)
        return self._checked

    def finished(self) -> DataFrame | None:
        """Return the rows of finished blocks, each block once. None if no block was written yet."""
        return blocks.finished(self.directory, self.work)

    def begun(self) -> datetime | None:
        """Return the time when the first blocks were submitted. None if it is unknown."""
        if self.kept is not None:
            return self.kept.begun
        rows = blocks.written(self.directory, self.work)
        wave = None if rows is None else rows.agg(F.min("wave")).collect()[0][0]  # a column that Spark adds
        return None if wave is None else wave_begun(f"wave={wave}")

    def seconds(self, schedules: int) -> float:
        """Return the seconds that the campaign needed for its first `schedules` schedules, excluding start-up."""
        return waves.seconds_worked(self.directory, schedules)

    def _is_finished(self) -> bool:
        return _readable(self.directory).has("outcome")


def _readable(directory: CampaignDirectory) -> Tables:
    """Return a reader of the directory. A directory on this machine is read without Spark.

    Reading without Spark is faster by seconds, and its errors name the damaged file.
    """
    return directory if directory.local is None else LocalTables(directory.local)


def _refuse_foreign(directory: CampaignDirectory, work: Job[Any]) -> None:
    """Raise CampaignError if the directory has blocks of another campaign, or a damaged file.

    Damage is detected only if the directory is on this machine.
    """
    if directory.local is None:
        blocks.refuse_foreign(directory, work)
    else:
        kept = LocalTables(directory.local)
        kept.refuse_damage()
        kept.refuse_foreign(work)
