"""Job: the interface of a kind of work. A subclass defines what is special to its kind; campaign.py does the rest.

A job is divided into blocks, numbered from 0. The result of a block depends only on the job and on
the block's number. Workers can therefore run blocks in any order, on any machine, and twice.
"""

import hashlib
import json
import shlex
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import pyarrow as pa
from pyspark.sql import Column

from epochfuzz.harness.campaign.run import pace
from epochfuzz.harness.campaign.store.errors import NonDeterminismError
from epochfuzz.model.kafka.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.campaign import Campaign, Progress
    from epochfuzz.harness.campaign.run.status import SoFar
    from epochfuzz.harness.campaign.store.local_tables import LocalTables
    from epochfuzz.harness.documents.records import Checked

Outcome = TypeVar("Outcome")

Counts = Counter[str]  # the keys are the names in Job.counted


@dataclass(frozen=True)
class BlockRange:
    """The blocks from number `first` up to, but not including, `end`. If `end` is None, a time limit ends the stage."""

    first: int
    end: int | None


def text_of(row: Mapping[str, Any], engine: str) -> str:
    """Return a row of parameters as text, which includes the name of the engine."""
    return json.dumps(dict(row) | {"engine": engine}, sort_keys=True)


class Job(ABC, Generic[Outcome]):
    """A kind of work. An instance is the job of one campaign.

    `model` is the digest of the model's rules at the start of the campaign, and `version` the version of epochfuzz.
    `seconds` is the time limit, None if another limit ends the campaign. `module` names a user's module for workers to
    import, if there is one.
    """

    NAME: ClassVar[str]  # the value of `engine` in the table of parameters
    PARAMETERS: ClassVar[pa.Schema]  # schema of the table of parameters, which has one row
    BLOCKS: ClassVar[pa.Schema]  # schema of the table of blocks, without the columns that store/blocks.py adds
    TWICE: ClassVar[bool] = True  # whether a sample of the blocks runs twice, to compare the results
    LONGEST_WAVE: ClassVar[float] = pace.LONGEST
    TASK: ClassVar[float] = pace.TASK

    model: str
    version: str
    seconds: float | None = None
    module: str | None = None
    certify: float | None = None  # time limit for proofs of shortest lengths, in seconds; None: no limit; not stored
    as_written: str | None = None  # the parameters as stored, perhaps by a version that had other parameters

    # Description

    @property
    def heading(self) -> str:
        """One line that describes the job: the seed and the configuration."""
        return f"seed {self.seed} · {self.settings.text()}"

    @property
    @abstractmethod
    def seed(self) -> int:
        """The seed. Together with the number of a block, it determines the schedules of the block."""

    @property
    @abstractmethod
    def settings(self) -> Configuration:
        """The configuration."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The protocols that run, or the user's own state machine."""

    @abstractmethod
    def row(self) -> dict[str, Any]:
        """Return the parameters of the job as a row of PARAMETERS."""

    @classmethod
    @abstractmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the job that a row of PARAMETERS describes. Raises ValueError, which names the wrong parameter."""

    def differing(self, other: "Job[Any]") -> list[str]:
        """Return the names of the parameters in which another job differs from this one, for messages."""
        mine, theirs = self.row(), other.row()
        return [name for name in mine if theirs.get(name) != mine[name]]

    @property
    def text(self) -> str:
        """The parameters as text. Equal parameters have equal texts."""
        return text_of(self.row(), self.NAME)

    @property
    def campaign(self) -> str:
        """Sixteen hexadecimal digits that identify the campaign. Each block stores them."""
        return hashlib.sha256((self.as_written or self.text).encode()).hexdigest()[:16]

    # Methods that workers call

    @property
    def text_for_workers(self) -> str:
        """The text from which workers build the same job. It holds the parameters, and more for some kinds."""
        return self.text

    def get_ready(self) -> None:
        """Prepare a worker once, before its time is measured. Most kinds need no preparation."""

    @contextmanager
    def equipped(self) -> Iterator[None]:
        """Open the resources that blocks need, and close them when the task ends. Most kinds need none."""
        yield

    @abstractmethod
    def block(self, number: int) -> dict[str, Any]:
        """Run a block, and return its result as a row of BLOCKS."""

    # Methods about the rows of blocks

    @abstractmethod
    def number(self) -> Column:
        """Return an expression that computes the number of a block from the columns of its row."""

    @abstractmethod
    def counted(self) -> dict[str, Column]:
        """Return the columns that are added up to show progress, by name. The names include `schedules`."""

    @abstractmethod
    def compared(self) -> list[Column]:
        """Return the columns that must be equal when a block runs again."""

    def kept_checked(self, kept: "LocalTables") -> "Checked | None":
        """Without Spark, compare the two runs of each block that ran twice. Returns None for a kind that needs Spark.

        Raises NonDeterminismError.
        """
        return None

    def refuse(self, number: int) -> None:
        """Raise NonDeterminismError for a block whose two runs had different results."""
        raise NonDeterminismError(
            f"{self.named(number)} gave different results on two workers; run the campaign again, and report it if that"
            " recurs"
        )

    def named(self, number: int) -> str:
        """Return the name of a block for messages."""
        return f"block {number}"

    # Methods about the course of a campaign

    @abstractmethod
    def stages(self, campaign: "Campaign[Outcome]") -> Iterator[BlockRange]:
        """Yield the stages in order. The campaign requests the next stage when the current one is finished."""

    def command_to_resume(self, uri: str) -> str:
        """Return the command that resumes the campaign."""
        return f"epochfuzz campaign resume {shlex.quote(uri)}"

    def how_to_resume(self, uri: str) -> str:
        """Return the advice to resume the campaign, for messages."""
        return f"resume with `{self.command_to_resume(uri)}`"

    def is_enough(self, stage: BlockRange, counts: Counts) -> bool:
        """Return whether a stage may stop early, judging from the counts. False for kinds whose stages never do."""
        return False

    @abstractmethod
    def progress(self, counts: Counts, seconds: float) -> str:
        """Return one line about the progress. `seconds` is the time that the campaign has worked."""

    def seconds_remaining(self, counts: Counts, seconds: float) -> float | None:
        """Return the estimated seconds until the end; None if there is no estimate."""
        return None if self.seconds is None else max(0.0, self.seconds - seconds)

    # Methods about results

    def require(self) -> None:
        """Check on this machine that the workers' dependencies are present. Raises CampaignError."""

    @abstractmethod
    def finish(self, campaign: "Campaign[Outcome]", progress: "Progress") -> dict[str, int]:
        """Shrink the failures of finished blocks, and write the findings. Returns the row of the outcome."""

    @abstractmethod
    def outcome(self, campaign: "Campaign[Outcome]") -> Outcome:
        """Return the results of a finished campaign, read from its directory."""

    @abstractmethod
    def so_far(self, kept: "LocalTables") -> "SoFar":
        """Return the results so far, read without Spark: those of finished blocks, and the findings if they exist.

        Raises NonDeterminismError.
        """
