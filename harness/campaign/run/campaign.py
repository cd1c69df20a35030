"""Run a campaign from start to end. A resumed campaign skips the steps whose results are in its directory."""

from shlex import quote
from typing import TYPE_CHECKING, Any, Generic, Union
from typing import Protocol as Interface

import pyarrow as pa

from epochfuzz.harness.campaign.run.job import Counts, Job, Outcome
from epochfuzz.harness.campaign.run.local_runner import LocalRunner
from epochfuzz.harness.campaign.run.runner import Directory, JobRunner
from epochfuzz.harness.campaign.store.checks import checked
from epochfuzz.harness.campaign.store.errors import CampaignError
from epochfuzz.harness.campaign.store.identity import work_found
from epochfuzz.harness.campaign.store.local_tables import LocalTables
from epochfuzz.harness.campaign.store.tables import Tables
from epochfuzz.harness.documents.records import Checked
from epochfuzz.harness.environment.version import model_digest
from epochfuzz.harness.jobs.processes import ProcessPool

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Platform = Union["SparkSession", ProcessPool]

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

    def __init__(self, runner: JobRunner, work: Job[Outcome]) -> None:
        self.work = work
        self.taken_up = 0
        self._runner = runner

    @staticmethod
    def start(platform: Platform, uri: str, work: Job[Outcome]) -> "Campaign[Outcome]":
        """Start a campaign in a directory. `platform` runs the blocks: processes of this machine, or Spark.

        Raises CampaignError if the directory already holds a campaign, or blocks without parameters.
        """
        runner = _runner(platform, uri)
        found = work_found(runner.tables)
        if found is not None:
            raise CampaignError(
                f"{uri} already holds a campaign; {found.how_to_resume(uri)}, or choose another directory"
            )
        work.require()
        runner.directory.write_rows([work.row()], work.PARAMETERS, "parameters")
        return Campaign(runner, work)

    @staticmethod
    def load(platform: Platform, uri: str) -> "Campaign[Any]":
        """Return the campaign in a directory.

        Raises CampaignError if the directory holds no campaign, or a campaign that cannot be resumed.
        """
        runner = _runner(platform, uri)
        found = work_found(runner.tables)
        if found is None:
            raise CampaignError(f"{uri} holds no campaign; `epochfuzz campaign run --out {quote(uri)}` starts one")
        _refuse_foreign(runner.tables, found)
        return Campaign(runner, found)

    @staticmethod
    def start_or_load(platform: Platform, uri: str, work: Job[Outcome]) -> "Campaign[Outcome]":
        """Return the campaign in a directory, or start one if there is none.

        Raises CampaignError if the directory holds a campaign with other parameters.
        """
        runner = _runner(platform, uri)
        found = work_found(runner.tables)
        if found is None:
            return Campaign.start(platform, uri, work)
        differing = work.differing(found)
        if differing:
            raise CampaignError(
                f"{uri} holds a campaign with another {', another '.join(differing)}; resume it with its own"
                " parameters, or choose another directory"
            )
        _refuse_foreign(runner.tables, work)
        return Campaign(runner, work)

    @property
    def directory(self) -> Directory:
        """The directory of the campaign, for writers."""
        return self._runner.directory

    @property
    def tables(self) -> Tables:
        """The tables of the campaign, for readers."""
        return self._runner.tables

    def map(self, task: str, argument: Any, count: int, schema: pa.Schema) -> list[dict[str, Any]]:
        """Apply a task to the numbers from 0 to `count` - 1 in workers, and return its rows (see JobRunner.map)."""
        return self._runner.map(task, argument, count, schema, self.work.module)

    def run(self, progress: Progress) -> Outcome:
        """Run the remaining steps of the campaign, and return its results.

        Raises CampaignError if the campaign was started with other rules of the model.
        """
        if not self.tables.is_finished:
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
        if not self.tables.is_finished:
            uri = self.directory.uri
            raise CampaignError(f"{uri} is not finished; {self.work.how_to_resume(uri)}")
        return self.work.outcome(self)

    def do_blocks(self, progress: Progress) -> Checked:
        """Run the remaining blocks, and compare the blocks that ran twice.

        Raises NonDeterminismError if results differ.
        """
        blocks = self._runner.blocks_of(self.work)
        self.taken_up = blocks.next
        for stage in self.work.stages(self):
            if not blocks.do(stage, progress.counted):
                break
        return checked(self.tables, self.work)


def _runner(platform: Platform, uri: str) -> JobRunner:
    if isinstance(platform, ProcessPool):
        return LocalRunner(platform, uri)
    from epochfuzz.harness.campaign.spark.spark_runner import SparkRunner

    return SparkRunner(platform, uri)


def _refuse_foreign(tables: Tables, work: Job[Any]) -> None:
    """Raise CampaignError if the directory has blocks of another campaign, or a damaged file.

    Damage is detected only if the directory is on this machine.
    """
    if isinstance(tables, LocalTables):
        tables.refuse_damage()
    tables.refuse_foreign(work)
