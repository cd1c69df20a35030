"""Work: the interface of a kind of work. A kind defines its differences, and campaign.py does the rest.

The work of a campaign is divided into blocks, numbered from 0. The result of a block depends only on the work and on
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

Counts = Counter[str]  # by the names of Work.counted


@dataclass(frozen=True)
class BlockRange:
    """The blocks from number `first` up to, but not including, `end`. If `end` is None, a time limit ends the stage."""

    first: int
    end: int | None


def text_of(row: Mapping[str, Any], engine: str) -> str:
    """Return a row of parameters as text."""
    return json.dumps(dict(row) | {"engine": engine}, sort_keys=True)


class Job(ABC, Generic[Outcome]):
    """A kind of work. An instance is the work of one campaign.

    `model` is the digest of the model's rules at the start of the campaign, and `version` the version of epochfuzz.
    `seconds` is the time limit, None if another limit ends the campaign. `module` is a module of the user's own that
    workers import.
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
    certify: float | None = None  # seconds for proofs of shortest lengths, None: no limit; not stored
    as_written: str | None = None  # the stored text, which a version with other parameters may have written

    # Description

    @property
    def heading(self) -> str:
        """One line that describes the work: the seed and the configuration."""
        return f"seed {self.seed} · {self.settings.text()}"

    @property
    @abstractmethod
    def seed(self) -> int:
        """The seed. The seed and the number of a block determine the block."""

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
        """Return the work as a row of PARAMETERS."""

    @classmethod
    @abstractmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the work of a row of PARAMETERS. Raises ValueError, which names the wrong parameter."""

    def differing(self, other: "Job[Any]") -> list[str]:
        """Return the names of the parameters that differ in another work, for messages."""
        mine, theirs = self.row(), other.row()
        return [name for name in mine if theirs.get(name) != mine[name]]

    @property
    def text(self) -> str:
        """The parameters as text, which is equal for equal parameters."""
        return text_of(self.row(), self.NAME)

    @property
    def campaign(self) -> str:
        """Sixteen hexadecimal digits that identify the campaign. Each block stores them."""
        return hashlib.sha256((self.as_written or self.text).encode()).hexdigest()[:16]

    # Methods that workers call

    @property
    def text_for_workers(self) -> str:
        """The text that workers build the same work from: the parameters, and more for some kinds."""
        return self.text

    def get_ready(self) -> None:
        """Prepare a worker once, before its time is measured. Most kinds need no preparation."""

    @contextmanager
    def equipped(self) -> Iterator[None]:
        """Open the resources of blocks for the length of a task. Most kinds need none."""
        yield

    @abstractmethod
    def block(self, number: int) -> dict[str, Any]:
        """Run a block, and return its result as a row of BLOCKS."""

    # Methods about the rows of blocks

    @abstractmethod
    def number(self) -> Column:
        """Return the number of a block as an expression of the columns of its row."""

    @abstractmethod
    def counted(self) -> dict[str, Column]:
        """Return the columns to add up for progress, by name. `schedules` is always among them."""

    @abstractmethod
    def compared(self) -> list[Column]:
        """Return the columns that must be equal when a block runs again."""

    def kept_checked(self, kept: "LocalTables") -> "Checked | None":
        """Compare the blocks that ran twice, without Spark. Returns None for a kind that leaves this to Spark.

        Raises NonDeterminismError.
        """
        return None

    def refuse(self, number: int) -> None:
        """Raise NonDeterminismError for a block whose second run had another result."""
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
        """Yield the stages in order. The campaign requests the next stage when it has finished one."""

    def command_to_resume(self, uri: str) -> str:
        """Return the command that resumes the campaign."""
        return f"epochfuzz campaign resume {shlex.quote(uri)}"

    def how_to_resume(self, uri: str) -> str:
        """Return the advice to resume the campaign, for messages."""
        return f"resume with `{self.command_to_resume(uri)}`"

    def is_enough(self, stage: BlockRange, counts: Counts) -> bool:
        """Return whether a stage may stop before its end. False for kinds whose stages don't depend on results."""
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
        """Turn finished blocks into findings, shrink and write them. Returns `schedules`, `events` and `findings`."""

    @abstractmethod
    def outcome(self, campaign: "Campaign[Outcome]") -> Outcome:
        """Return the results of a finished campaign, read from its directory."""

    @abstractmethod
    def so_far(self, kept: "LocalTables") -> "SoFar":
        """Return the results of the finished blocks, and the findings if they exist, without Spark.

        Raises NonDeterminismError.
        """
