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


class RemoteLeo(Choice):
    """What a leader that stays leader in a later epoch, as it sees it without a break, knows of its followers then."""

    KEPT = 0, "what it knew: a new leader resets its followers' LEOs, and it is not a new one (every release so far)"
    FORGOTTEN = 1, "nothing, as any leader of a new epoch"


class Leaderless(Choice):
    """What a replica makes of a decision that names no leader."""

    IGNORED = 0, "nothing: role, leader and epoch stay as if it had never come (ZooKeeper)"
    OBEYED = 1, "it steps down, and waits for a leader (KRaft)"


class Registration(Choice):
    """What the controller makes of a replica that returns before anybody has noticed that it was gone."""

    RESUME = 0, "nothing: it resumes its role in the same epoch (KAFKA-7235)"
    FENCED = 1, "it is taken for failed first: it loses leadership and the ISR (KIP-380)"


class CacheTruncation(Choice):
    """Whether a cut that leaves the log as it is leaves the leader epoch cache as it is."""

    WITH_LOG = 0, "yes: entries at the log end offset stay, and are asked for again and again (KAFKA-10706)"
    ALWAYS = 1, "no: entries at or beyond the log end offset go"


class HighWatermarkTruncation(Choice):
    """Whether a cut below the high watermark lowers it."""

    KEPT = 0, "no: the next answer does, or becoming leader (up to Kafka 2.3)"
    LOWERED = 1, "yes, at once"


class OutOfRange(Choice):
    """What a follower does that is told that its log is longer than its leader's, where unclean elections are off."""

    HALT = 0, "its process ends, and its log is as it was (up to Kafka 2.0.0)"
    CUT = 1, "it cuts its log to the leader's log end offset (KAFKA-7414)"


class RemoteLeoOutOfRange(Choice):
    """What a leader notes of a follower whose fetch was out of range."""

    UNKNOWN = 0, "that it does not know its LEO (up to Kafka 2.3)"
    AS_IT_WAS = 1, "nothing"


MECHANISMS: dict[str, type[Choice]] = {
    "truncation": Truncation,
    "truncate_when": TruncateWhen,
    "epoch_cache": EpochCache,
    "fencing": Fencing,
    "isr_expansion": IsrExpansion,
    "remote_leo": RemoteLeo,
    "leaderless": Leaderless,
    "registration": Registration,
    "cache_truncation": CacheTruncation,
    "high_watermark_truncation": HighWatermarkTruncation,
    "out_of_range": OutOfRange,
    "remote_leo_out_of_range": RemoteLeoOutOfRange,
}
