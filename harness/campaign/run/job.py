"""The interface of a job: a kind of work that a campaign runs, such as random runs. campaign.py runs any job.

A job is divided into blocks, numbered from 0. The result of a block depends only on the job and on the block's number.
Workers can therefore run blocks in any order, on any machine, and twice. A job yields its blocks in stages, so that the
results of one stage can decide the next.
"""

import hashlib
import json
import shlex
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import pyarrow as pa

from epochfuzz.harness.campaign.run import pace
from epochfuzz.harness.campaign.store.errors import NonDeterminismError
from epochfuzz.model.kafka.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    from epochfuzz.harness.campaign.run.campaign import Campaign, Progress
    from epochfuzz.harness.campaign.run.status import SoFar
    from epochfuzz.harness.campaign.store.tables import Tables

Outcome = TypeVar("Outcome")

Counts = Counter[str]  # sums over blocks, by name, see Job.counts


@dataclass(frozen=True)
class BlockRange:
    """A stage: the blocks from number `first` to `end` - 1. If `end` is None, a time limit ends the stage."""

    first: int
    end: int | None


def text_of(row: Mapping[str, Any], engine: str) -> str:
    """Return a row of parameters and the name of the engine as JSON text."""
    return json.dumps(dict(row) | {"engine": engine}, sort_keys=True)


class Job(ABC, Generic[Outcome]):
    """A kind of work. An instance is the job of one campaign, with its parameters.

    `model` is the digest of the model's rules at the start of the campaign, and `version` the version of epochfuzz.
    `seconds` is the time limit, or None. `module` is the name of a module outside of epochfuzz that workers import, or
    None.
    """

    NAME: ClassVar[str]  # the value of `engine` in the table of parameters; `module:Class` outside of epochfuzz
    PARAMETERS: ClassVar[pa.Schema]  # schema of the table of parameters, which has one row
    BLOCKS: ClassVar[pa.Schema]  # schema of the table of blocks, without the columns that store/blocks.py adds
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
        """A line for the user about the job: the seed and the configuration."""
        return f"seed {self.seed} · {self.settings.text()}"

    @property
    def is_repeatable(self) -> bool:
        """True if a block has the same results in each run. A sample of the blocks then runs twice, as a check."""
        return True

    @property
    @abstractmethod
    def seed(self) -> int:
        """The seed. The seed and the number of a block determine the schedules of the block."""

    @property
    @abstractmethod
    def settings(self) -> Configuration:
        """The configuration of the partition, such as the number of replicas."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the protocols, or the name of a user's own state machine."""

    @abstractmethod
    def row(self) -> dict[str, Any]:
        """Return the parameters of the job as a row of PARAMETERS."""

    @classmethod
    @abstractmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the job with the parameters in a row of PARAMETERS.

        Raises ValueError, which names the wrong parameter.
        """

    def differing(self, other: "Job[Any]") -> list[str]:
        """Return the names of the parameters that differ between this job and `other`, for messages."""
        mine, theirs = self.row(), other.row()
        return [name for name in mine if theirs.get(name) != mine[name]]

    @property
    def text(self) -> str:
        """The parameters as JSON text. Equal parameters have equal texts."""
        return text_of(self.row(), self.NAME)

    @property
    def campaign(self) -> str:
        """A digest of the parameters, in 16 hexadecimal digits.

        Every block stores this digest, so that epochfuzz detects blocks of another campaign.
        """
        return hashlib.sha256((self.as_written or self.text).encode()).hexdigest()[:16]

    # Methods that workers call

    @property
    def text_for_workers(self) -> str:
        """The text that workers build the job from: the parameters, and for some kinds of job more data."""
        return self.text

    def get_ready(self) -> None:
        """Prepare a worker once, before the time of the blocks is measured. The default does nothing."""

    @contextmanager
    def equipped(self) -> Iterator[None]:
        """Open the resources that blocks of a task need, and close them at the end. The default opens nothing."""
        yield

    @abstractmethod
    def block(self, number: int) -> dict[str, Any]:
        """Run a block, and return its result as a row of BLOCKS."""

    # Methods about the rows of blocks

    @property
    @abstractmethod
    def counted(self) -> Sequence[str]:
        """The names of the numbers that are added up over all blocks. One name is `schedules`."""

    @abstractmethod
    def counts(self, row: Mapping[str, Any]) -> dict[str, int]:
        """Return the numbers in a row of BLOCKS, by the names in `counted`. A name that is left out stands for 0."""

    def compared(self, row: Mapping[str, Any]) -> Any:
        """Return the part of a row of BLOCKS that must be equal in two runs of a block: the whole row by default."""
        return row

    def refuse(self, number: int) -> None:
        """Raise NonDeterminismError, because two runs of a block had different results."""
        raise NonDeterminismError(
            f"{self.named(number)} gave different results on two workers; run the campaign again, and report it if that"
            " recurs"
        )

    def named(self, number: int) -> str:
        """Return the name of a block for messages."""
        return f"block {number}"

    # Methods about the course of a campaign

    @property
    def blocks(self) -> int | None:
        """The number of blocks. None if a time limit ends the campaign."""
        return None

    def stages(self, campaign: "Campaign[Outcome]") -> Iterator[BlockRange]:
        """Yield the stages, first stage first. The campaign requests a stage when it has finished the stage before.

        The default is one stage with all blocks.
        """
        yield BlockRange(0, self.blocks)

    def command_to_resume(self, uri: str) -> str:
        """Return the command that resumes the campaign in the directory `uri`."""
        return f"epochfuzz campaign resume {shlex.quote(uri)}"

    def how_to_resume(self, uri: str) -> str:
        """Return a sentence that says how to resume the campaign in the directory `uri`."""
        return f"resume with `{self.command_to_resume(uri)}`"

    def is_enough(self, stage: BlockRange, counts: Counts) -> bool:
        """Return whether `counts` end the stage early. The default is False, so stages never end early."""
        return False

    def progress(self, counts: Counts, seconds: float) -> str:
        """Return one line about the progress. `seconds` is the time that the counted blocks took."""
        return f"{counts['schedules']:,} schedules"

    def seconds_remaining(self, counts: Counts, seconds: float) -> float | None:
        """Return the estimated seconds until the end, or None if there is no estimate."""
        return None if self.seconds is None else max(0.0, self.seconds - seconds)

    # Methods about results

    def require(self) -> None:
        """Raise CampaignError if this machine lacks a dependency of the workers."""

    @abstractmethod
    def finish(self, campaign: "Campaign[Outcome]", progress: "Progress") -> dict[str, int]:
        """Shrink the failures of all blocks, and write the findings. Returns the only row for the table `outcome`."""

    @abstractmethod
    def outcome(self, campaign: "Campaign[Outcome]") -> Outcome:
        """Return the results of a finished campaign, read from its tables."""

    def so_far(self, tables: "Tables") -> "SoFar":
        """Return the results so far: counts, and findings or failures. The default has no findings.

        Raises NonDeterminismError.
        """
        from epochfuzz.harness.campaign.run.status import SoFar

        return SoFar(tables.counts(self.counted), (), {}, None)
