"""Work: what a campaign consists of. A kind of work says what differs from kind to kind, and campaign.py does the rest.

The work of a campaign is blocks, numbered from 0. What comes of a block depends on the work and on its number alone, so
that workers may do blocks in any order, anywhere, and twice.
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
    from epochfuzz.harness.campaign.store.checks import Checked
    from epochfuzz.harness.campaign.store.kept import Kept

Outcome = TypeVar("Outcome")

Counts = Counter[str]  # by name, as in Work.counted


@dataclass(frozen=True)
class Stage:
    """Blocks from number `first` up to `end`, which is not among them; None where time says when to stop."""

    first: int
    end: int | None


def text_of(row: Mapping[str, Any], engine: str) -> str:
    """Return a row of parameters as text."""
    return json.dumps(dict(row) | {"engine": engine}, sort_keys=True)


class Work(ABC, Generic[Outcome]):
    """A kind of work; an object of it is the work of one campaign.

    `model` is the digest of the rules that it began with, `version` the epochfuzz; `seconds` is for how long to work at
    the most, None where something else says when to stop; `module` is a module of the user's own that workers need.
    """

    NAME: ClassVar[str]  # the value of `engine` in the table of parameters
    PARAMETERS: ClassVar[pa.Schema]  # of the table of parameters, which has one row
    BLOCKS: ClassVar[pa.Schema]  # of the table of blocks, which has the columns of campaign/blocks.py as well
    TWICE: ClassVar[bool] = True  # whether one block in so many is done twice, to be compared
    LONGEST_WAVE: ClassVar[float] = pace.LONGEST
    TASK: ClassVar[float] = pace.TASK

    model: str
    version: str
    seconds: float | None = None
    module: str | None = None
    certify: float | None = None  # seconds for proofs of what it finds, None for no end; of this process alone
    as_written: str | None = None  # its text where it was read: one of another version may have had other parameters

    # What it is

    @property
    def heading(self) -> str:
        """What it runs, in a line: the seed and the configuration."""
        return f"seed {self.seed} · {self.settings.text()}"

    @property
    @abstractmethod
    def seed(self) -> int:
        """Together with its number, it says what a block is."""

    @property
    @abstractmethod
    def settings(self) -> Configuration:
        """The configuration."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The protocols that it is about; of a state machine of the user's own, that."""

    @abstractmethod
    def row(self) -> dict[str, Any]:
        """Return this as a row of PARAMETERS."""

    @classmethod
    @abstractmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the work of a row of PARAMETERS. Raises ValueError with what is wrong with it."""

    def differing(self, other: "Work[Any]") -> list[str]:
        """Return the parameters in which another work differs from this, as messages call them."""
        mine, theirs = self.row(), other.row()
        return [name for name in mine if theirs.get(name) != mine[name]]

    @property
    def text(self) -> str:
        """The parameters as text, the same for equal parameters."""
        return text_of(self.row(), self.NAME)

    @property
    def campaign(self) -> str:
        """Sixteen hexadecimal digits that blocks carry, to tell which campaign they are of."""
        return hashlib.sha256((self.as_written or self.text).encode()).hexdigest()[:16]

    # What is asked of workers

    @property
    def told(self) -> str:
        """What workers are told, from which they have the same work: the parameters, and for some more than that."""
        return self.text

    def get_ready(self) -> None:
        """Do what every worker has to do once, before time counts. Nothing, for most."""

    @contextmanager
    def equipped(self) -> Iterator[None]:
        """Have what blocks are done with for as long as a task lasts. Nothing, for most."""
        yield

    @abstractmethod
    def block(self, number: int) -> dict[str, Any]:
        """Do a block; what came of it, as a row of BLOCKS."""

    # What is asked of the rows of blocks

    @abstractmethod
    def number(self) -> Column:
        """Return the number of a block, by the columns of its row."""

    @abstractmethod
    def counted(self) -> dict[str, Column]:
        """Return what of a row to add up for progress, by name. `schedules` is always among them."""

    @abstractmethod
    def compared(self) -> list[Column]:
        """Return what of a row has to be the same when a block is done again."""

    def kept_checked(self, kept: "Kept") -> "Checked | None":
        """Compare the blocks that were done twice without Spark; None for a kind that leaves that to Spark.

        Raises NonDeterminismError.
        """
        return None

    def refuse(self, number: int) -> None:
        """Say that a block came out otherwise when it was done again. Raises NonDeterminismError."""
        raise NonDeterminismError(
            f"{self.named(number)} was walked more than once, with different results: some worker cannot be trusted, or"
            " epochfuzz cannot"
        )

    def named(self, number: int) -> str:
        """Return a block as messages call it."""
        return f"block {number}"

    # Where it goes

    @abstractmethod
    def stages(self, campaign: "Campaign[Outcome]") -> Iterator[Stage]:
        """Return what to do one after another. The campaign asks for the next stage when it is done with one."""

    def command_to_resume(self, uri: str) -> str:
        """Return the command that goes on with it."""
        return f"epochfuzz campaign resume {shlex.quote(uri)}"

    def how_to_resume(self, uri: str) -> str:
        """Return what to do to go on with it, for messages."""
        return f"go on with `{self.command_to_resume(uri)}`"

    def is_enough(self, stage: Stage, counts: Counts) -> bool:
        """Whether a stage may stop before its end. Not where it does not depend on what blocks came to."""
        return False

    @abstractmethod
    def progress(self, counts: Counts, seconds: float) -> str:
        """How far it is after some seconds, in a line."""

    def seconds_remaining(self, counts: Counts, seconds: float) -> float | None:
        """How long it will take from now on; None where nobody knows."""
        return None if self.seconds is None else max(0.0, self.seconds - seconds)

    # What it comes to

    def require(self) -> None:
        """Find here what workers will look for. Raises CampaignError."""

    @abstractmethod
    def finish(self, campaign: "Campaign[Outcome]", progress: "Progress") -> dict[str, int]:
        """From finished blocks to findings, shrunk and written; returns `schedules`, `events` and `findings`."""

    @abstractmethod
    def outcome(self, campaign: "Campaign[Outcome]") -> Outcome:
        """Return what a finished campaign has shown, from what is written."""

    @abstractmethod
    def so_far(self, kept: "Kept") -> "SoFar":
        """Return what the finished blocks of a campaign come to, and its findings once it has them; without Spark.

        Raises NonDeterminismError.
        """
