"""Mechanisms: what generations and releases of the protocol do differently, each a choice that can be made alone.

A mechanism is declared once, as the enumeration of its choices, the oldest or worst first and the sound one last. The
rules compare the constants of a state with them: `p.fencing == Fencing.EPOCH`.
"""

from enum import IntEnum


class Choice(IntEnum):
    """A choice of a mechanism, with what it means in a line."""

    meaning: str

    def __new__(cls, number: int, meaning: str) -> "Choice":
        """A number that carries its meaning."""
        choice = int.__new__(cls, number)
        choice._value_ = number
        choice.meaning = meaning
        return choice

    @property
    def text(self) -> str:
        """As the text of a protocol names it: `leader_epoch`, or `kafka-7415` for what has the name of an issue."""
        return self.name.lower().replace("kafka_", "kafka-")


class Truncation(Choice):
    """Where a follower cuts its log when it starts to follow."""

    HIGH_WATERMARK = 0, "cut to one's own high watermark (Kafka up to 0.10.2)"
    LEADER_EPOCH = 1, "ask OffsetsForLeaderEpoch for one's last epoch, and cut to the answer (KIP-101)"
    LEADER_EPOCH_STEPWISE = 2, "the answer names an epoch that both may know; ask again until both do (KIP-279)"


class TruncateWhen(Choice):
    """Which news of a leader other than itself makes a replica truncate."""

    LEADER_CHANGED = 0, "another leader than before; a restart counts as a change"
    LEADER_CHANGED_OR_EPOCH_MISSED = 1, "a follower that missed an epoch has missed a truncation too (KAFKA-7164)"
    EACH_EPOCH = 2, "every later epoch (KIP-320)"


class EpochCache(Choice):
    """When the leader epoch cache gets an entry, and what a lookup below its first entry answers."""

    ORIGINAL = 0, "at the first append of an epoch; a lookup below the first entry is undefined"
    KAFKA_7415 = 1, "also on becoming leader; a lookup below the first entry answers where that one starts"


class Fencing(Choice):
    """Whether requests between replicas carry the follower's leader epoch, for the leader to refuse."""

    NONE = 0, "a leader answers requests of any epoch"
    EPOCH = 1, "a leader refuses requests of another epoch than its own (KIP-320)"


class IsrExpansion(Choice):
    """What the leader must see of a replica before that joins the ISR."""

    HIGH_WATERMARK = 0, "that it has reached the leader's high watermark"
    EPOCH_START = 1, "also that it has reached the start of the leader's own epoch (KAFKA-7128)"


MECHANISMS: dict[str, type[Choice]] = {
    "truncation": Truncation,
    "truncate_when": TruncateWhen,
    "epoch_cache": EpochCache,
    "fencing": Fencing,
    "isr_expansion": IsrExpansion,
}
