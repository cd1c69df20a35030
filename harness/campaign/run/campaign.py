"""A campaign from its start to its end; each step is taken where the directory says that it has not been yet."""

from datetime import datetime
from typing import Any, Generic
from typing import Protocol as Interface

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from epochfuzz.harness.campaign.run import waves
from epochfuzz.harness.campaign.run.waves import Waves
from epochfuzz.harness.campaign.run.work import Counts, Outcome, Work
from epochfuzz.harness.campaign.store import blocks, checks
from epochfuzz.harness.campaign.store.checks import Checked
from epochfuzz.harness.campaign.store.directory import Directory
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.campaign.store.found import Tables, work_found
from epochfuzz.harness.campaign.store.kept import Kept, wave_begun
from epochfuzz.harness.version import model_digest

# Written last: a campaign that has it is finished.
OUTCOME = pa.schema(
    {
        "schedules": pa.int64(),  # run
        "events": pa.int64(),  # applied, under all protocols together
        "findings": pa.int64(),  # rows of findings
    }
)


class Progress(Interface):
    """What is told how far a campaign is, to show it."""

    def doing(self, what: str) -> None:
        """Name what is being done."""

    def counted(self, counts: Counts, seconds: float) -> None:
        """Blocks are done: what they come to so far, and how long that took."""


class Campaign(Generic[Outcome]):
    """A campaign in its directory.

    `taken_up` is the number after the last block that was finished when it was taken up.
    """

    def __init__(self, directory: Directory, work: Work[Outcome]) -> None:
        self.directory = directory
        self.work = work
        self.taken_up = 0
        self._checked: Checked | None = None

    @staticmethod
    def start(spark: SparkSession, uri: str, work: Work[Outcome]) -> "Campaign[Outcome]":
        """Return a new campaign. Raises CampaignError where there is one already, or the blocks of one."""
        directory = Directory(spark, uri)
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
        """Return the campaign of a directory.

        Raises CampaignError where there is none, or none that can be gone on with.
        """
        directory = Directory(spark, uri)
        found = work_found(_readable(directory))
        if found is None:
            raise CampaignError(f"{uri} holds no campaign; `epochfuzz campaign run --out {uri}` starts one")
        _refuse_foreign(directory, found)
        return Campaign(directory, found)

    @staticmethod
    def start_or_load(spark: SparkSession, uri: str, work: Work[Outcome]) -> "Campaign[Outcome]":
        """Return the campaign of a directory if its work is that, a new one if there is none. Raises CampaignError."""
        directory = Directory(spark, uri)
        found = work_found(_readable(directory))
        if found is None:
            return Campaign.start(spark, uri, work)
        differing = work.differing(found)
        if differing:
            raise CampaignError(
                f"{uri} holds a campaign with another {', another '.join(differing)}: go on with what it was begun"
                " with, or choose another directory"
            )
        _refuse_foreign(directory, work)
        return Campaign(directory, work)

    def run(self, progress: Progress) -> Outcome:
        """Do what has not been done yet. Raises CampaignError where that began with other rules than these."""
        if not self._is_finished():
            if self.work.model != model_digest():
                raise CampaignError(
                    f"{self.directory.uri} was begun with model {self.work.model} (epochfuzz {self.work.version}), and"
                    f" this is model {model_digest()}: go on with that version, or start another campaign"
                )
            self.work.require()
            self.do_blocks(progress)
            self.directory.write_rows([self.work.finish(self, progress)], OUTCOME, "outcome")
        return self.outcome()

    def outcome(self) -> Outcome:
        """Return what the campaign has shown. Raises CampaignError while it is not finished."""
        if not self._is_finished():
            uri = self.directory.uri
            raise CampaignError(f"{uri} is not finished; {self.work.how_to_resume(uri)}")
        return self.work.outcome(self)

    def do_blocks(self, progress: Progress) -> Checked:
        """Do the blocks that are not done yet, and compare those that were done twice. Raises NonDeterminismError."""
        in_waves = Waves(self.directory, self.work)
        self.taken_up = in_waves.next
        self._checked = None
        for stage in self.work.stages(self):
            if not in_waves.do(stage, progress.counted):
                break
        return self.checked()

    @property
    def kept(self) -> Kept | None:
        """Its directory for reading without Spark, which takes seconds less; None for one elsewhere."""
        return None if self.directory.local is None else Kept(self.directory.local)

    def checked(self) -> Checked:
        """Compare the blocks that were done twice. Raises NonDeterminismError."""
        if self._checked is None and self.kept is not None:
            self._checked = self.work.kept_checked(self.kept)
        if self._checked is None:
            self._checked = checks.compare(blocks.written(self.directory, self.work), self.work)
        return self._checked

    def finished(self) -> DataFrame | None:
        """Return the finished blocks, each once; None before the first wave."""
        return blocks.finished(self.directory, self.work)

    def begun(self) -> datetime | None:
        """When its first wave was asked for, None if nobody can say."""
        if self.kept is not None:
            return self.kept.begun
        rows = blocks.written(self.directory, self.work)
        wave = None if rows is None else rows.agg(F.min("wave")).collect()[0][0]  # a part of the path, a column so
        return None if wave is None else wave_begun(f"wave={wave}")

    def seconds(self, schedules: int) -> float:
        """For how long it has worked on so many schedules."""
        return waves.seconds_worked(self.directory, schedules)

    def _is_finished(self) -> bool:
        return _readable(self.directory).has("outcome")


def _readable(directory: Directory) -> Tables:
    """Return what reads a directory: Spark only what is elsewhere, for without it that takes seconds less, and what is
    damaged is named.
    """
    return directory if directory.local is None else Kept(directory.local)


def _refuse_foreign(directory: Directory, work: Work[Any]) -> None:
    """Raise CampaignError for blocks of another campaign, and for any damaged file on this machine."""
    if directory.local is None:
        blocks.refuse_foreign(directory, work)
    else:
        kept = Kept(directory.local)
        kept.refuse_damage()
        kept.refuse_foreign(work)
