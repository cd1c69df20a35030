"""The request of `epochfuzz fuzz`, as its options give it. Importing this module compiles nothing."""

import secrets
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from epochfuzz.harness.cli.saving import Saving
from epochfuzz.model.kafka.vocabulary.configuration import Configuration


@dataclass(frozen=True, kw_only=True)
class FuzzRequest:
    """A request for random runs: their limits, the seconds for proofs (None: no limit), and the requested outputs.

    `drawn_seed` is None until `seeded` draws a seed.
    """

    out: Console
    settings: Configuration
    schedules: int | None
    seconds: float | None
    drawn_seed: int | None
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
        assert self.drawn_seed is not None, "seeded draws it"
        return self.drawn_seed

    def seeded(self, seed: int | None = None) -> "FuzzRequest":
        """Return the request with a seed: its own seed if it has one, or else `seed`, or else a random seed."""
        if self.drawn_seed is not None:
            return self
        return replace(self, drawn_seed=secrets.randbelow(1 << 32) if seed is None else seed)

    def saved_by(self, saving: Saving | None) -> "FuzzRequest":
        """Return the request with the options of --out and --new for saving findings."""
        return replace(self, saving=saving)

    def within(self, schedules: int | None = None, seconds: float | None = None) -> "FuzzRequest":
        """Return the request with these limits, or unchanged if it already has a limit."""
        is_bounded = self.schedules is not None or self.seconds is not None
        return self if is_bounded else replace(self, schedules=schedules, seconds=seconds)
