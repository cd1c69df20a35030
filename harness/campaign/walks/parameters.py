"""The parameters of a campaign of random runs or state machines: everything that its results depend on."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import pyarrow as pa

from epochfuzz.harness.environment.version import epochfuzz_version, model_digest
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol

_FIRST_ROUND = 2  # blocks
BLOCK = 50_000  # schedules; about half a second on one core
MACHINES = 2  # runs of a state machine; about ten seconds on one core

_REQUIRED = ("protocols", "configuration", "seed", "engine", "block", "model", "version")
_ENGINES = ("walk", "hypothesis")

_ARROW_TYPES = {int: pa.int64(), str: pa.string(), bool: pa.bool_()}

SCHEMA = pa.schema(
    {
        "protocols": pa.list_(pa.string()),  # protocol texts, in the order given
        "configuration": pa.struct({each.name: _ARROW_TYPES[type(each.default)] for each in fields(Configuration)}),
        "seed": pa.int64(),
        "schedules": pa.int64(),  # limit on schedules; null if another limit ends the campaign
        "seconds": pa.float64(),  # time limit; null if another limit ends the campaign
        "stable": pa.float64(),  # the campaign stops below this probability of anything new; null without this limit
        "engine": pa.string(),  # walk: compiled random schedules; hypothesis: runs of a state machine
        "machine": pa.string(),  # module:Name of a user's own state machine; null for the replication machine
        "block": pa.int64(),  # schedules per block
        "model": pa.string(),  # digest of the model's rules and of the engine
        "version": pa.string(),  # version of epochfuzz
    }
)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of a campaign. The campaign ends at its first limit: `schedules`, `seconds` or `stable`.

    epochfuzz estimates the probability that one more schedule shows anything new. The campaign is stable if the upper
    end of this estimate's confidence interval is below `stable`. Raises ValueError for a parameter outside its range.
    """

    protocols: tuple[Protocol, ...]
    settings: Configuration
    seed: int
    schedules: int | None = None
    seconds: float | None = None
    stable: float | None = None
    engine: str = "walk"
    machine: str | None = None
    block: int = BLOCK
    model: str = field(default_factory=model_digest)
    version: str = field(default_factory=epochfuzz_version)

    def __post_init__(self) -> None:
        for name, value, is_valid, range_ in (
            ("schedules", self.schedules, lambda count: count >= 1, "at least 1"),
            ("seconds", self.seconds, lambda seconds: math.isfinite(seconds) and seconds > 0, "more than 0"),
            ("stable", self.stable, lambda probability: 0 < probability < 1, "between 0 and 1"),
            ("seed", self.seed, lambda seed: 0 <= seed < 1 << 63, "from 0 to 2**63 - 1"),
            ("block", self.block, lambda count: count >= 1, "at least 1"),
            ("engine", self.engine, lambda engine: engine in _ENGINES, " or ".join(_ENGINES)),
            ("machine", self.machine, lambda machine: self.engine == "hypothesis", "absent without engine hypothesis"),
        ):
            if value is not None and not is_valid(value):
                raise ValueError(f"{name} must be {range_}; got {value!r}")
        if self.machine is None and not self.protocols:
            raise ValueError("protocols is empty; name at least one protocol")
        if self.schedules is self.seconds is self.stable is None:
            raise ValueError(
                "schedules, seconds and stable are all missing; give one of them, so that the campaign ends"
            )

    @property
    def blocks(self) -> int | None:
        """The largest number of blocks, or None without a limit on schedules."""
        return None if self.schedules is None else -(-self.schedules // self.block)

    def rounds(self) -> Iterator[int | None]:
        """Yield the end of each round, as a number of blocks. The campaign tests the limit `stable` after each round.

        Each number is about one and a half times the number before. The numbers don't depend on the workers or on
        interruptions, so a campaign always ends after the same blocks. The last number is the limit on blocks, or None
        without a limit. Without the limit `stable`, there is a single round.
        """
        size = _FIRST_ROUND
        while self.stable is not None and (self.blocks is None or size < self.blocks):
            yield size
            size += size // 2
        yield self.blocks

    def range_of(self, block: int) -> tuple[int, int]:
        """Return the number of the first schedule of a block, and the block's number of schedules."""
        first = block * self.block
        return first, self.block if self.schedules is None else min(self.block, self.schedules - first)

    @property
    def module(self) -> str | None:
        """The module of a user's own state machine, or None without one."""
        return None if self.machine is None else self.machine.partition(":")[0]

    def row(self) -> dict[str, Any]:
        """Return the parameters as a row of SCHEMA."""
        row = {each.name: getattr(self, each.name) for each in fields(self)}
        configuration = asdict(row.pop("settings"))
        return row | {"protocols": [protocol.name for protocol in self.protocols], "configuration": configuration}

    @staticmethod
    def from_row(row: Mapping[str, Any]) -> "Parameters":
        """Return the parameters in a row of SCHEMA. Raises ValueError."""
        absent = [name for name in _REQUIRED if row[name] is None]
        if absent:
            raise ValueError(f"{', '.join(absent)} must have a value")
        known = {each.name for each in fields(Configuration)}
        unknown = sorted(row["configuration"].keys() - known)
        if unknown:
            raise ValueError(f"this version has no setting {' or '.join(unknown)}")
        protocols = tuple(parse_protocol(name) for name in row["protocols"])
        others = {key: value for key, value in row.items() if key not in ("protocols", "configuration")}
        # A setting that was added after the campaign was written has no value in its row.
        settings = {key: value for key, value in row["configuration"].items() if value is not None}
        return Parameters(protocols=protocols, settings=Configuration(**settings), **others)

    def text(self) -> str:
        """Return the parameters as JSON text. Equal parameters have equal texts."""
        return json.dumps(self.row(), sort_keys=True)

    @staticmethod
    def from_text(text: str) -> "Parameters":
        """Return the parameters from their text. Raises ValueError."""
        return Parameters.from_row(json.loads(text))
