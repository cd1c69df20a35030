"""The parameters of a campaign on Kafka clusters: they decide which schedules are played, and how many."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import pyarrow as pa

from epochfuzz.harness.cluster.broker.cluster import NAMES
from epochfuzz.harness.environment.version import epochfuzz_version, model_digest
from epochfuzz.model.kafka.vocabulary.configuration import Configuration
from epochfuzz.model.kafka.vocabulary.protocols import Protocol, parse_protocol

BLOCK = 8  # schedules; about a minute on one core

SCHEMA = pa.schema(
    {
        "engine": pa.string(),  # the kind of job: cluster
        "release": pa.string(),  # the release of Kafka
        "protocol": pa.string(),  # the protocol of the model for that release
        "replicas": pa.int64(),
        "seed": pa.int64(),
        "schedules": pa.int64(),  # number of schedules to play; null if a time limit ends the campaign
        "seconds": pa.float64(),  # time limit; null if the number of schedules is given
        "block": pa.int64(),  # schedules per block
        "model": pa.string(),  # digest of the model's rules and of the engine
        "version": pa.string(),  # version of epochfuzz
    }
)


@dataclass(frozen=True, kw_only=True)
class ClusterParameters:
    """The parameters of a campaign on clusters.

    The campaign ends after a number of `schedules`, or after some `seconds`. The field of the unused limit is None.
    Raises ValueError for a parameter outside its range.
    """

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
        is_time = self.seconds is None or (math.isfinite(self.seconds) and self.seconds > 0)
        for name, value, is_valid, range_ in (
            ("replicas", self.replicas, 2 <= self.replicas <= len(NAMES), f"from 2 to {len(NAMES)}"),
            ("seed", self.seed, 0 <= self.seed < 1 << 63, "from 0 to 2**63 - 1"),
            ("schedules", self.schedules, self.schedules is None or self.schedules >= 1, "at least 1"),
            ("seconds", self.seconds, is_time, "more than 0"),
            ("block", self.block, self.block >= 1, "at least 1"),
        ):
            if not is_valid:
                raise ValueError(f"{name} must be {range_}; got {value!r}")
        if (self.schedules is None) == (self.seconds is None):
            raise ValueError("schedules or seconds must end the campaign; give exactly one of them")

    @property
    def settings(self) -> Configuration:
        """The configuration of the partition: Kafka's defaults, with `replicas` replicas."""
        return Configuration(replicas=self.replicas)

    @property
    def parsed_protocol(self) -> Protocol:
        """The protocol that models the release."""
        return parse_protocol(self.protocol)

    @property
    def blocks(self) -> int | None:
        """The number of blocks; None if a time limit ends the campaign."""
        return None if self.schedules is None else -(-self.schedules // self.block)

    def turns(self, block: int) -> range:
        """Return the numbers of the turns of `block`.

        In each turn, epochfuzz draws a hundred schedules. The model chooses at most one schedule for the cluster to
        play.
        """
        first = block * self.block
        end = first + self.block
        return range(first, end if self.schedules is None else min(end, self.schedules))

    def row(self) -> dict[str, Any]:
        """Return the parameters as a row of SCHEMA."""
        return asdict(self)

    @staticmethod
    def from_row(row: Mapping[str, Any]) -> "ClusterParameters":
        """Return the parameters in a row of SCHEMA. Raises ValueError."""
        values = {each.name: row[each.name] for each in fields(ClusterParameters)}
        absent = [name for name, value in values.items() if value is None and name not in ("schedules", "seconds")]
        if absent:
            raise ValueError(f"{', '.join(absent)} must have a value")
        parameters = ClusterParameters(**values)
        parse_protocol(parameters.protocol)
        return parameters
