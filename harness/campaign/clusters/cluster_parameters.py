"""The parameters of a campaign on clusters: everything that what is played depends on, and how much was asked for."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import pyarrow as pa

from epochfuzz.harness.cluster.broker.cluster import NAMES
from epochfuzz.harness.version import epochfuzz_version, model_digest
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol

BLOCK = 8  # schedules; a minute on one core

SCHEMA = pa.schema(
    {
        "engine": pa.string(),  # cluster
        "release": pa.string(),  # of Kafka
        "protocol": pa.string(),  # what the model takes the release for
        "replicas": pa.int64(),
        "seed": pa.int64(),
        "schedules": pa.int64(),  # how many to play; null where time says when to stop
        "seconds": pa.float64(),  # for how long to play; null where a number of schedules was asked for
        "block": pa.int64(),  # how many schedules make a block
        "model": pa.string(),  # the digest of the rules and of the engine
        "version": pa.string(),  # of epochfuzz
    }
)


@dataclass(frozen=True)
class ClusterParameters:
    """What a campaign plays: so many `schedules`, or for so many `seconds`. Raises ValueError for what nobody can."""

    release: str
    protocol: str
    replicas: int
    seed: int
    schedules: int | None = None
    seconds: float | None = None
    block: int = BLOCK
    model: str = field(default_factory=model_digest)
    version: str = field(default_factory=epochfuzz_version)

    def __post_init__(self) -> None:
        for name, value, is_valid in (
            ("replicas", self.replicas, 2 <= self.replicas <= len(NAMES)),
            ("seed", self.seed, 0 <= self.seed < 1 << 63),
            ("schedules", self.schedules, self.schedules is None or self.schedules >= 1),
            ("seconds", self.seconds, self.seconds is None or (math.isfinite(self.seconds) and self.seconds > 0)),
            ("block", self.block, self.block >= 1),
        ):
            if not is_valid:
                raise ValueError(f"{name} is {value!r}")
        if (self.schedules is None) == (self.seconds is None):
            raise ValueError("either schedules or seconds says when to stop")

    @property
    def settings(self) -> Configuration:
        """Of the partition: Kafka's defaults."""
        return Configuration(replicas=self.replicas)

    @property
    def parsed_protocol(self) -> Protocol:
        """What the model plays."""
        return parse_protocol(self.protocol)

    @property
    def blocks(self) -> int | None:
        """How many blocks there are to play; None where time says when to stop."""
        return None if self.schedules is None else -(-self.schedules // self.block)

    def turns(self, block: int) -> range:
        """Return the turns of a block: in each the model chooses one of a hundred schedules."""
        first = block * self.block
        end = first + self.block
        return range(first, end if self.schedules is None else min(end, self.schedules))

    def row(self) -> dict[str, Any]:
        """Return this as a row of SCHEMA."""
        return asdict(self)

    @staticmethod
    def from_row(row: Mapping[str, Any]) -> "ClusterParameters":
        """Return the parameters in a row of SCHEMA. Raises ValueError."""
        values = {each.name: row[each.name] for each in fields(ClusterParameters)}
        absent = [name for name, value in values.items() if value is None and name not in ("schedules", "seconds")]
        if absent:
            raise ValueError(f"{', '.join(absent)}: no value")
        parameters = ClusterParameters(**values)
        parse_protocol(parameters.protocol)
        return parameters
