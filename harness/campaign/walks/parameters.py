"""The parameters of walks and machines: everything that results depend on, and how much of it was asked for."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import pyarrow as pa

from epochfuzz.harness.version import epochfuzz_version, model_digest
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol

_FIRST_ROUND = 2  # blocks
BLOCK = 50_000  # schedules; about half a second on one core
MACHINES = 2  # runs of a state machine; some ten seconds on one core

_REQUIRED = ("protocols", "configuration", "seed", "engine", "block", "model", "version")
_ENGINES = ("walk", "hypothesis")

_ARROW_TYPES = {int: pa.int64(), str: pa.string(), bool: pa.bool_()}

SCHEMA = pa.schema(
    {
        "protocols": pa.list_(pa.string()),  # protocol texts, in the order given
        "configuration": pa.struct({each.name: _ARROW_TYPES[type(each.default)] for each in fields(Configuration)}),
        "seed": pa.int64(),
        "schedules": pa.int64(),  # how many to walk at the most; null where something else says when to stop
        "seconds": pa.float64(),  # for how long to walk at the most; null where something else says when to stop
        "stable": pa.float64(),  # how unlikely anything new has to be for the walk to stop; null where nobody asked
        "engine": pa.string(),  # walk: compiled random schedules; hypothesis: runs of a state machine
        "machine": pa.string(),  # module:Name of a state machine of the user's own; null for the replication machine
        "block": pa.int64(),  # how many schedules make a block
        "model": pa.string(),  # the digest of the rules and of the engine
        "version": pa.string(),  # of epochfuzz
    }
)


@dataclass(frozen=True)
class Parameters:
    """What a campaign walks: so many `schedules`, for so many `seconds`, or until it is `stable`.

    Of those that are given, the first that is reached ends the walk. A campaign is stable once the probability of
    anything new is below that number, by the upper end of its interval. Raises ValueError for what nobody can walk.
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
        for name, value, is_valid in (
            ("schedules", self.schedules, lambda count: count >= 1),
            ("seconds", self.seconds, lambda seconds: math.isfinite(seconds) and seconds > 0),
            ("stable", self.stable, lambda probability: 0 < probability < 1),
            ("seed", self.seed, lambda seed: 0 <= seed < 1 << 63),
            ("block", self.block, lambda count: count >= 1),
            ("engine", self.engine, lambda engine: engine in _ENGINES),
            ("machine", self.machine, lambda machine: self.engine == "hypothesis"),
        ):
            if value is not None and not is_valid(value):
                raise ValueError(f"{name} is {value!r}")
        if self.machine is None and not self.protocols:
            raise ValueError("protocols are none")
        if self.schedules is self.seconds is self.stable is None:
            raise ValueError("neither schedules nor seconds nor stable says when to stop")

    @property
    def blocks(self) -> int | None:
        """How many blocks there are to walk at the most; None where that is not bounded."""
        return None if self.schedules is None else -(-self.schedules // self.block)

    def rounds(self) -> Iterator[int | None]:
        """After how many blocks to look whether the campaign is stable; None: when time is up.

        These are fixed, and half as many again each time, so that neither workers nor interruptions change where a
        campaign stops.
        """
        size = _FIRST_ROUND
        while self.stable is not None and (self.blocks is None or size < self.blocks):
            yield size
            size += size // 2
        yield self.blocks

    def range_of(self, block: int) -> tuple[int, int]:
        """Return the first schedule of a block, and how many it has."""
        first = block * self.block
        return first, self.block if self.schedules is None else min(self.block, self.schedules - first)

    @property
    def module(self) -> str | None:
        """The module of a machine of the user's own, None where there is none."""
        return None if self.machine is None else self.machine.partition(":")[0]

    def row(self) -> dict[str, Any]:
        """Return this as a row of SCHEMA."""
        row = {each.name: getattr(self, each.name) for each in fields(self)}
        configuration = asdict(row.pop("settings"))
        return row | {"protocols": [protocol.name for protocol in self.protocols], "configuration": configuration}

    @staticmethod
    def from_row(row: Mapping[str, Any]) -> "Parameters":
        """Return the parameters in a row of SCHEMA. Raises ValueError."""
        absent = [name for name in _REQUIRED if row[name] is None]
        if absent:
            raise ValueError(f"{', '.join(absent)}: no value")
        known = {each.name for each in fields(Configuration)}
        unknown = sorted(row["configuration"].keys() - known)
        if unknown:
            raise ValueError(f"configuration.{', configuration.'.join(unknown)}: no such parameter")
        protocols = tuple(parse_protocol(name) for name in row["protocols"])
        others = {key: value for key, value in row.items() if key not in ("protocols", "configuration")}
        # A key that is newer than the campaign has no value there.
        settings = {key: value for key, value in row["configuration"].items() if value is not None}
        return Parameters(protocols, Configuration(**settings), **others)

    def text(self) -> str:
        """Return this as text, the same for equal parameters."""
        return json.dumps(self.row(), sort_keys=True)

    @staticmethod
    def from_text(text: str) -> "Parameters":
        """Return the parameters of a text."""
        return Parameters.from_row(json.loads(text))
