"""The request of `epochfuzz fuzz`, as its options give it. Importing this module compiles nothing."""

from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from epochfuzz.harness.cli.saving import Saving
from epochfuzz.harness.environment.seeds import random_seed
from epochfuzz.model.kafka.vocabulary.configuration import Configuration


@dataclass(frozen=True, kw_only=True)
class FuzzRequest:
    """A request for random runs: their limits, the seconds for proofs (None: no limit), and the requested outputs.

    `given_seed` is None without --seed, until `with_seed` sets it.
    """

    out: Console
    settings: Configuration
    schedules: int | None
    seconds: float | None
    given_seed: int | None
    threads: int
    trace: bool
    report: Path | None
    sarif: Path | None
    json: bool
    certify: float | None
    saving: Saving | None = None

    @property
    def seed(self) -> int:
        """The seed."""
        assert self.given_seed is not None, "with_seed sets it"
        return self.given_seed

    def with_seed(self, seed: int) -> "FuzzRequest":
        """Return the request with a seed."""
        return replace(self, given_seed=seed)

    def seeded(self) -> "FuzzRequest":
        """Return the request with its own seed, or else with a random one."""
        return self if self.given_seed is not None else self.with_seed(random_seed())

    def saved_by(self, saving: Saving | None) -> "FuzzRequest":
        """Return the request with the options of --out and --new for saving findings."""
        return replace(self, saving=saving)

    def within(self, schedules: int | None = None, seconds: float | None = None) -> "FuzzRequest":
        """Return the request with these limits, or unchanged if it already has a limit."""
        is_bounded = self.schedules is not None or self.seconds is not None
        return self if is_bounded else replace(self, schedules=schedules, seconds=seconds)
