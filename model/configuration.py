"""The configuration of a partition: what an operator sets, the faults that may happen, and the bounds of a run."""

from dataclasses import dataclass, fields, replace
from typing import Any

from epochfuzz.model import events

ACKS_NONE = 0
ACKS_LEADER = 1
ACKS_ALL = 2
ACKS: dict[str, int] = {"0": ACKS_NONE, "1": ACKS_LEADER, "all": ACKS_ALL}

MIN_REPLICAS = 2
MAX_REPLICAS = 5
MAX_RECORDS = 15
MAX_EPOCHS = 14


class ConfigurationError(ValueError):
    """A configuration no partition can have; `key` is the setting at fault."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True)
class Configuration:
    """The settings of one partition. Keys are those of a case file's `config`. Raises ConfigurationError.

    `records` and `epochs` are bounds of the run, not of Kafka: how many records may be produced, and how many times
    the controller may change the leader epoch, before `produce`, `elect` and `expire` are no longer enabled.
    """

    replicas: int = 2
    acks: str = "all"
    min_insync_replicas: int = 1
    unclean_leader_election: bool = False
    power_loss: bool = False
    asynchronous_checkpoint: bool = False
    records_per_fetch: int = 1
    records: int = MAX_RECORDS
    epochs: int = MAX_EPOCHS

    def __post_init__(self) -> None:
        _check_range(self, "replicas", MIN_REPLICAS, MAX_REPLICAS)
        _check_range(self, "min_insync_replicas", 1, self.replicas)
        _check_range(self, "records_per_fetch", 1, MAX_RECORDS)
        _check_range(self, "records", 1, MAX_RECORDS)
        _check_range(self, "epochs", 0, MAX_EPOCHS)
        if not isinstance(self.acks, str) or self.acks not in ACKS:
            raise ConfigurationError("acks", f"acks is 0, 1 or all; got {self.acks!r}")
        for key in ("unclean_leader_election", "power_loss", "asynchronous_checkpoint"):
            if not isinstance(getattr(self, key), bool):
                raise ConfigurationError(key, f"{key} is true or false; got {getattr(self, key)!r}")

    def changed(self) -> dict[str, Any]:
        """The settings that differ from the defaults, `replicas` always among them."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name == "replicas" or getattr(self, field.name) != field.default
        }

    def alphabet(self) -> bytes:
        """The events that can be enabled, in byte order: those of a fault only where the fault may happen."""
        faults = {events.POWER_LOSS: self.power_loss, events.FLUSH: self.power_loss}
        faults[events.CHECKPOINT] = self.asynchronous_checkpoint
        return bytes(event for event in events.alphabet(self.replicas) if faults.get(events.verb_of(event), True))

    def bounded_by(self, length: int) -> "Configuration":
        """This configuration with bounds no larger than a schedule of that length can reach."""
        records = max(1, min(self.records, length))
        return replace(self, records=records, epochs=min(self.epochs, length))

    def text(self) -> str:
        """One line, as in `replicas=2 acks=all min_insync_replicas=1`."""
        return " ".join(f"{key}={word}" for key, word in self.words().items())

    def words(self) -> dict[str, str]:
        """Every setting as a word, by its key, as in {"replicas": "2", "power_loss": "false"}."""
        return {field.name: str(getattr(self, field.name)).lower() for field in fields(self)}


def _check_range(configuration: Configuration, key: str, low: int, high: int) -> None:
    value = getattr(configuration, key)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ConfigurationError(key, f"{key} is a whole number from {low} to {high}; got {value!r}")
