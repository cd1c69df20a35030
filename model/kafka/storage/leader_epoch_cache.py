"""The leader epoch cache as a class, for reuse and to check other implementations.

A `LeaderEpochCache` is the cache of one replica. It runs the same functions as the model (epoch_cache.py), with Kafka's
ranges of epochs and offsets. It reads and writes the content of a `leader-epoch-checkpoint` file as text, but opens no
file.

    >>> cache = LeaderEpochCache([(0, 0), (1, 300), (2, 500)])
    >>> cache.end_offset_for(0, log_end_offset=800)
    (0, 300)
"""

from collections.abc import Iterable

from epochfuzz.model.kafka.storage import epoch_cache
from epochfuzz.model.kafka.vocabulary.protocols import choice_texts
from epochfuzz.model.kafka.vocabulary.state import NONE

MAX_OFFSET = 2**63 - 1
MAX_EPOCH = 2**31 - 1
UNDEFINED = (NONE, NONE)

_VERSION = "0"


class CheckpointError(ValueError):
    """A text is not a valid leader epoch checkpoint; the message names the line."""


class LeaderEpochCache:
    """The start offset of each leader epoch, oldest first.

    `rule` is a choice of the mechanism `epoch_cache`: `original` (Kafka 0.11 to 2.0.0) or `kafka-7415` (since 2.0.1).
    Raises ValueError for an unknown rule, and for epochs or offsets outside Kafka's ranges.
    """

    def __init__(self, entries: Iterable[tuple[int, int]] = (), rule: str = "kafka-7415") -> None:
        rules = choice_texts("epoch_cache")
        if rule not in rules:
            raise ValueError(f"unknown rule {rule!r}; the rules are {', '.join(rules)}")
        self.epoch_cache = rules.index(rule)
        self.cache_size = [0]
        self.cache_epoch: dict[tuple[int, int], int] = {}
        self.cache_start: dict[tuple[int, int], int] = {}
        for epoch, start in entries:
            self.assign(epoch, start)

    @property
    def entries(self) -> list[tuple[int, int]]:
        """The entries as (epoch, start offset), oldest first."""
        return [(self.cache_epoch[0, i], self.cache_start[0, i]) for i in range(self.cache_size[0])]

    @property
    def latest_epoch(self) -> int | None:
        """The epoch of the last entry, None for an empty cache."""
        return self.entries[-1][0] if self.cache_size[0] else None

    def assign(self, epoch: int, offset: int) -> None:
        """Add an entry (epoch, offset) if the cache's rule accepts it. Raises ValueError for numbers out of range."""
        _check("epoch", epoch, MAX_EPOCH)
        _check("offset", offset, MAX_OFFSET)
        epoch_cache.assign(self, 0, epoch, offset)

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """Return (epoch, end offset) of the highest epoch up to `epoch` (KIP-279).

        The latest epoch ends at the log end offset, and every other epoch ends where the next one starts. The result is
        UNDEFINED if the cache is empty or `epoch` is above the latest epoch. The text of KIP-279 differs: there the
        leader responds with its latest epoch. If `epoch` is below the first epoch, the rule `kafka-7415` returns
        `epoch` and the start of the first epoch. The rule `original` returns UNDEFINED.
        """
        return epoch_cache.end_offset_kip_279(self, 0, epoch, log_end_offset)

    def end_offset_for_kip_101(self, epoch: int, log_end_offset: int) -> int:
        """Return the start of the first epoch above `epoch`, or `log_end_offset` if `epoch` is the latest (KIP-101).

        Returns NONE (-1) if the cache is empty or `epoch` is above the latest epoch. With the rule `original` it also
        returns NONE if `epoch` is below the first epoch.
        """
        return epoch_cache.end_offset_kip_101(self, 0, epoch, log_end_offset)[1]

    def truncate_from_end(self, end_offset: int) -> None:
        """Remove the entries that start at `end_offset` or beyond, after a truncation of the log to `end_offset`.

        An undefined `end_offset` (-1) changes nothing.
        """
        if end_offset != NONE:
            epoch_cache.truncate_from_end(self, 0, end_offset)

    def truncate_from_start(self, start_offset: int) -> None:
        """Remove the epochs that end at or before `start_offset`, after the deletion of all records below this offset.

        The epoch that contains `start_offset` then starts there.
        """
        epoch_cache.truncate_from_start(self, 0, start_offset)

    def to_checkpoint(self) -> str:
        """Return the content of a `leader-epoch-checkpoint` file.

        The file has a version line, a count line, and a line `epoch offset` for each entry.
        """
        lines = [_VERSION, str(self.cache_size[0]), *(f"{epoch} {start}" for epoch, start in self.entries)]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_checkpoint(cls, text: str, rule: str = "kafka-7415") -> "LeaderEpochCache":
        """Return the cache that the text of a `leader-epoch-checkpoint` file describes. Raises CheckpointError."""
        lines = text.splitlines()
        if not lines or lines[0] != _VERSION:
            raise CheckpointError(f"line 1: the version is {_VERSION}; got {lines[0] if lines else ''!r}")
        count = _number(lines, 2, 0, "the number of entries")
        if len(lines) - 2 != count:
            raise CheckpointError(f"line 2: {count} entries are announced; {len(lines) - 2} follow")
        cache = cls(rule=rule)
        for number in range(3, len(lines) + 1):
            if len(lines[number - 1].split(" ")) != 2:
                raise CheckpointError(f"line {number}: an entry is 'epoch offset'; got {lines[number - 1]!r}")
            epoch = _number(lines, number, 0, "an epoch", MAX_EPOCH)
            start = _number(lines, number, 1, "an offset")
            if cache.cache_size[0] and (epoch <= cache.entries[-1][0] or start < cache.entries[-1][1]):
                raise CheckpointError(f"line {number}: epochs and offsets go up; got {lines[number - 1]!r}")
            epoch_cache.add_entry(cache, 0, epoch, start)
        return cache


def _check(what: str, value: int, largest: int) -> None:
    if not 0 <= value <= largest:
        raise ValueError(f"{what} is a number from 0 to {largest}; got {value}")


def _number(lines: list[str], line: int, word: int, what: str, largest: int = MAX_OFFSET) -> int:
    words = lines[line - 1].split(" ") if line <= len(lines) else []
    text = words[word] if word < len(words) else ""
    if not (text.isascii() and text.isdigit()) or int(text) > largest:
        raise CheckpointError(f"line {line}: {what} is a number from 0 to {largest}; got {text!r}")
    return int(text)
