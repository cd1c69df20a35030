"""The configuration of a partition: an operator's settings, the faults that may happen, and the bounds of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from typing import Any, NamedTuple

from epochfuzz.model.kafka.vocabulary import events
from epochfuzz.model.kafka.vocabulary.event_codes import MAX_REPLICAS

MIN_REPLICAS = 2
MAX_RECORDS = 15
MAX_EPOCHS = 14
MAX_OFFSETS = 15  # in a log, because a word has no room for more offsets, see log.py
MAX_TRANSACTIONAL_RECORDS = 14  # the other two record ids are markers, see transactions.py


class Acks(IntEnum):
    """The values of the producer setting `acks`: the acknowledgement that a producer waits for."""

    NONE = 0
    LEADER = 1
    ALL = 2

    @property
    def text(self) -> str:
        """The value as text in Kafka's configuration: "0", "1" or "all"."""
        return "all" if self is Acks.ALL else str(self.value)


ACKS: dict[str, Acks] = {acks.text: acks for acks in Acks}


class Bounds(NamedTuple):
    """The bounds of a run: the largest number of records, and the largest number of leader epoch changes."""

    records: int
    epochs: int

    @property
    def text(self) -> str:
        """The bounds as a phrase, such as `1 record and 2 epoch changes`."""
        records, epochs = self
        return f"{records} record{'s' * (records != 1)} and {epochs} epoch change{'s' * (epochs != 1)}"


class ConfigurationError(ValueError):
    """A setting is unknown or has a value that is not allowed; `key` names the setting."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def _number(default: int, meaning: str, low: int, high: int) -> Any:
    """Declare a setting that is a whole number from `low` to `high`."""
    return field(default=default, metadata={"meaning": meaning, "low": low, "high": high})


def _flag(meaning: str, *, is_particular: bool = False) -> Any:
    """Declare a setting that is off by default.

    `is_particular`: `Configuration.text` names the setting only if the setting is on. Keys of saved examples and ids of
    saved cases contain this text. So a new setting is particular, because it must not change the text of configurations
    that leave it off.
    """
    return field(default=False, metadata={"meaning": meaning, "is_particular": is_particular})


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """The settings of one partition. A case file's `config` has the same keys. Raises ConfigurationError.

    `records` and `epochs` are bounds of the run, not settings of Kafka. They limit the number of records that clients
    produce and the number of changes of the leader epoch. When a run has reached a bound, events that would exceed the
    bound are no longer enabled. With `retries` a record may be in a log twice, so `records` also bounds the length of
    each log.
    """

    # This is the only list of settings. The options of commands, the `config` of case files and of conformance tests,
    # the constants of a state, and the strategy that draws configurations are derived from it.

    replicas: int = _number(2, "Number of replicas.", MIN_REPLICAS, MAX_REPLICAS)
    acks: str = field(default="all", metadata={"meaning": "Acknowledgements that producers wait for: 0, 1 or all."})
    min_insync_replicas: int = _number(1, "min.insync.replicas; at most the number of replicas.", 1, MAX_REPLICAS)
    unclean_leader_election: bool = _flag("A replica outside the ISR may be elected while no member is up.")
    power_loss: bool = _flag("Power may fail: unflushed records are lost.")
    asynchronous_checkpoint: bool = _flag("High watermarks reach the disk only by checkpoints.")
    follower_reads: bool = _flag("Consumers may read from followers, up to their own high watermarks (KIP-392).")
    retries: bool = _flag("A producer sends a record without a response again, to any leader (acks=all).")
    consumer: bool = _flag("A consumer reads record by record, and keeps its position when the leader changes.")
    controllers: int = _number(1, "Number of brokers that act as the controller: 2 after a fail-over.", 1, 2)
    lag_time: bool = _flag("The lag time (replica.lag.time.max.ms) passes in `lapse`, not before every event.")
    delayed_fetch: bool = _flag("A fetch without records waits at the leader, for a record or for `expire_fetch`.")
    transactions: bool = _flag("Records are produced in transactions, which are committed or aborted (KIP-98).")
    consumer_group: bool = _flag("The consumer commits its position, and may restart from there.", is_particular=True)
    lost_directory: bool = _flag("A replica may lose its log directory, and stays in the ISR.", is_particular=True)
    producer_epochs: bool = _flag(
        "A producer that retries begins a new producer epoch after an error (KIP-360).", is_particular=True
    )
    late_requests: bool = _flag(
        "A record or a marker may arrive after the end of its transaction (with transactions).", is_particular=True
    )
    retention: bool = _flag(
        "Replicas delete the first records of their logs (KIP-107); not with retries or transactions.",
        is_particular=True,
    )
    records_per_fetch: int = _number(1, "Largest number of records in one Fetch response.", 1, MAX_RECORDS)
    records: int = _number(MAX_RECORDS, "Largest number of records that clients produce.", 1, MAX_RECORDS)
    epochs: int = _number(MAX_EPOCHS, "Largest number of leader epoch changes.", 0, MAX_EPOCHS)

    def __post_init__(self) -> None:
        for setting in fields(self):
            most = self.replicas if setting.name == "min_insync_replicas" else setting.metadata.get("high")
            _check(setting.name, getattr(self, setting.name), setting.metadata.get("low"), most)

    def changed(self) -> dict[str, Any]:
        """Return the settings that differ from their defaults, by name. `replicas` is always included."""
        return {
            setting.name: getattr(self, setting.name)
            for setting in fields(self)
            if setting.name == "replicas" or getattr(self, setting.name) != setting.default
        }

    def changed_to(self, given: Mapping[str, Any]) -> "Configuration":
        """Return this configuration with the settings in `given` changed, by name. Raises ConfigurationError."""
        unknown = sorted(given.keys() - vars(self))
        if unknown:
            raise ConfigurationError(
                unknown[0], f"unknown setting {unknown[0]!r}; the settings are {', '.join(vars(self))}"
            )
        return replace(self, **given)

    def alphabet(self) -> bytes:
        """Return the events that these settings allow under at least one protocol, as bytes in ascending order."""
        return bytes(event for event in events.alphabet(self.replicas) if events.verb_of(event).is_set(self))

    @property
    def bounds(self) -> Bounds:
        """The bounds of a run: the settings `records` and `epochs`."""
        return Bounds(self.records, self.epochs)

    @property
    def least_bounds(self) -> Bounds:
        """The lowest bounds that a run can have."""
        return Bounds(*(setting.metadata["low"] for setting in fields(self) if setting.name in Bounds._fields))

    def within(self, bounds: Bounds) -> "Configuration":
        """Return this configuration with `bounds` in place of its own bounds."""
        return replace(self, records=bounds.records, epochs=bounds.epochs)

    def bounded_by(self, length: int) -> "Configuration":
        """Return this configuration with bounds of at most `length` records (but at least 1) and epoch changes.

        The reduced bounds still allow every schedule of up to `length` events.
        """
        records = max(1, min(self.records, length))
        return replace(self, records=records, epochs=min(self.epochs, length))

    def text(self) -> str:
        """Return the settings in one line, such as `replicas=2 acks=all min_insync_replicas=1`.

        A setting that is declared with `is_particular` is left out if it is off.
        """
        left_out = PARTICULAR - self.changed().keys()
        return " ".join(f"{key}={word}" for key, word in self.words().items() if key not in left_out)

    def words(self) -> dict[str, str]:
        """Return all settings as texts, by name, such as {"replicas": "2", "power_loss": "false"}."""
        return {setting.name: str(getattr(self, setting.name)).lower() for setting in fields(self)}

    def numbers(self) -> dict[str, int]:
        """Return all settings as ints, by name, in the form that a state stores.

        With `transactions` there are at most 14 records, because two record ids are markers.
        """
        records = min(self.records, MAX_TRANSACTIONAL_RECORDS) if self.transactions else self.records
        numbers = {key: int(value) for key, value in vars(self).items() if key != "acks"}
        return numbers | {"acks": ACKS[self.acks], "records": records}


# The settings that `Configuration.text` names only if they are on. Every survey leaves them off.
PARTICULAR = frozenset(each.name for each in fields(Configuration) if each.metadata.get("is_particular"))


def _check(key: str, value: Any, low: int | None, high: int | None) -> None:
    if low is not None and high is not None:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ConfigurationError(key, f"{key} must be a whole number from {low} to {high}; got {value!r}")
        if not low <= value <= high:
            raise ConfigurationError(key, f"{key} must be from {low} to {high}; got {value}")
    elif key == "acks":
        if not isinstance(value, str) or value not in ACKS:
            raise ConfigurationError(key, f"acks must be 0, 1 or all; got {value!r}")
    elif not isinstance(value, bool):
        raise ConfigurationError(key, f"{key} must be true or false; got {value!r}")
