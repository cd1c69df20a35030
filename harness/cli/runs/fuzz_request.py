"""The options of `epochfuzz fuzz` as a request. Importing this module compiles nothing."""

from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from epochfuzz.harness.cli.saving import Saving
from epochfuzz.harness.environment.seeds import random_seed
from epochfuzz.model.kafka.vocabulary.configuration import Configuration


@dataclass(frozen=True, kw_only=True)
class FuzzRequest:
    """The options of `epochfuzz fuzz`. `certify` is the time for proofs in seconds; None: no limit.

    `schedules` and `seconds` limit the run; None: no limit. Without --seed, `given_seed` is None, and `with_seed`
    returns a copy that has a seed.
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
        """The seed of the run. Requires that `given_seed` is set."""
        assert self.given_seed is not None, "with_seed sets it"
        return self.given_seed

    def with_seed(self, seed: int) -> "FuzzRequest":
        """Return a copy of the request with this seed."""
        return replace(self, given_seed=seed)

    def seeded(self) -> "FuzzRequest":
        """Return the request, with a random seed if it has none."""
        return self if self.given_seed is not None else self.with_seed(random_seed())

    def within(self, schedules: int | None = None, seconds: float | None = None) -> "FuzzRequest":
        """Return a copy of the request with these limits, or the request itself if it has a limit already."""
        is_bounded = self.schedules is not None or self.seconds is not None
        return self if is_bounded else replace(self, schedules=schedules, seconds=seconds)
