"""Mechanisms: the differences between designs and releases of the protocol, each a choice that you can make alone.

A mechanism is declared once, as the enumeration of its choices. The oldest or worst choice is the first, and the sound
choice is the last. The rules compare the constants of a state with them: `p.fencing == Fencing.EPOCH`.
"""

from enum import IntEnum


class Choice(IntEnum):
    """A choice of a mechanism, with its meaning in one line.

    `told_by` lists the issues and KIPs that report a choice which breaks something. If there is no report, and only
    this project suspects the choice, `told_by` has the page with the reason.
    """

    meaning: str
    told_by: tuple[str, ...]

    def __new__(cls, number: int, meaning: str, *told_by: str) -> "Choice":
        """Return a number that carries its meaning."""
        choice = int.__new__(cls, number)
        choice._value_ = number
        choice.meaning = meaning
        choice.told_by = told_by
        return choice

    def __eq__(self, other: object) -> bool:
        """Return whether `other` is this choice, or a plain number with the value of this choice.

        States have plain numbers.
        """
        if isinstance(other, Choice):
            return self is other
        return int(self) == other

    __hash__ = IntEnum.__hash__

    @property
    def text(self) -> str:
        """The name in the text of a protocol: `leader_epoch`, or `kafka-7415` for a choice named after an issue."""
        return self.name.lower().replace("kafka_", "kafka-")


class Truncation(Choice):
    """The point where a follower truncates its log when it starts to follow."""

    HIGH_WATERMARK = (
        0,
        "truncate to one's own high watermark (Kafka up to 0.10.2)",
        "KAFKA-1211",
        "KAFKA-3919",
        "KIP-101",
    )
    LEADER_EPOCH = (
        1,
        "ask OffsetsForLeaderEpoch for one's last epoch, and truncate to the answer (KIP-101)",
        "KAFKA-6361",
        "KIP-279",
    )
    LEADER_EPOCH_STEPWISE = 2, "the answer names an epoch that both may know; ask again until both do (KIP-279)"
    ON_FETCH = 3, "ask nothing: each fetch carries the epoch of one's last record, and the leader checks it (KIP-595)"


class TruncateWhen(Choice):
    """The leader-and-ISR updates, with another replica as leader, that make a replica truncate."""

    LEADER_CHANGED = 0, "another leader than before; a restart counts as a change", "KAFKA-7164"
    LEADER_CHANGED_OR_EPOCH_MISSED = (
        1,
        "a follower that missed an epoch has missed a truncation too (KAFKA-7164)",
        "KIP-320",
    )
    EACH_EPOCH = 2, "every later epoch (KIP-320)"


class EpochCache(Choice):
    """The time when the leader epoch cache gets an entry, and the result of a lookup below its first entry."""

    ORIGINAL = 0, "at the first append of an epoch; a lookup below the first entry is undefined", "KAFKA-7415"
    KAFKA_7415 = 1, "also on becoming leader; a lookup below the first entry answers where that one starts"


class Fencing(Choice):
    """Selects whether the leader checks the follower's leader epoch in requests between replicas."""

    NONE = 0, "a leader answers requests of any epoch", "KAFKA-6880", "KAFKA-7395", "KIP-320"
    EPOCH = 1, "a leader refuses requests of another epoch than its own (KIP-320)"


class IsrExpansion(Choice):
    """The leader's condition for letting a replica join the ISR."""

    HIGH_WATERMARK = 0, "that it has reached the leader's high watermark", "KAFKA-7128"
    EPOCH_START = 1, "also that it has reached the start of the leader's own epoch (KAFKA-7128)"


class RemoteLeo(Choice):
    """A leader's knowledge of its followers when it stays leader in a later epoch, without a break that it has seen."""

    KEPT = (
        0,
        "what it knew: a new leader resets its followers' LEOs, and it is not a new one (Kafka since 0.9.0.0)",
        "docs/findings/re-elected-leader.md",
    )
    FORGOTTEN_IF_MISSED = 1, "what it knew, but nothing if it has missed an epoch, in which another may have led"
    FORGOTTEN = 2, "nothing, as any leader of a new epoch"


class Leaderless(Choice):
    """The reaction of a replica to a leader-and-ISR update without a leader."""

    IGNORED = 0, "nothing: role, leader and epoch stay as if it had never come (ZooKeeper)"
    OBEYED = 1, "it steps down, and waits for a leader (KRaft)"


class Registration(Choice):
    """The reaction of the controller to a replica that returns before its failure was noticed."""

    RESUME = 0, "nothing: it resumes its role in the same epoch (KAFKA-7235)", "KAFKA-7235", "KIP-380"
    FENCED = 1, "it is taken for failed first: it loses leadership and the ISR (KIP-380)"


class CacheTruncation(Choice):
    """Selects whether a truncation that leaves the log unchanged also leaves the leader epoch cache unchanged."""

    WITH_LOG = (
        0,
        "yes: entries at the log end offset stay, and are asked for again and again (KAFKA-10706)",
        "KAFKA-10706",
    )
    ALWAYS = 1, "no: entries at or beyond the log end offset go"


class HighWatermarkTruncation(Choice):
    """Selects whether a truncation below the high watermark lowers it."""

    KEPT = (
        0,
        "no: the next answer does, or becoming leader (up to Kafka 2.3)",
        "docs/findings/high-watermark-past-the-log.md",
    )
    LOWERED = 1, "yes, at once"


class OutOfRange(Choice):
    """The reaction of a follower whose log is longer than its leader's, while unclean elections are off."""

    HALT = 0, "its process ends, and its log is as it was (up to Kafka 2.0.0)", "KAFKA-7414"
    CUT = 1, "it truncates its log to the leader's log end offset (KAFKA-7414)"


class RemoteLeoOutOfRange(Choice):
    """The leader's note about a follower whose fetch was out of range."""

    UNKNOWN = 0, "that it does not know its LEO (up to Kafka 2.3)"
    AS_IT_WAS = 1, "nothing"


class LateAnswer(Choice):
    """The treatment of a response in flight when its follower learns a leader-and-ISR update."""

    DIVERGING_ANY = (
        0,
        "as below, and one that tells of a divergence truncates whatever the replica is by then (KAFKA-13207)",
        "KAFKA-13207",
    )
    SAME_LEADER = (
        1,
        "it counts if the leader is still the same, and the fetch offset (KAFKA-7164, KAFKA-7786, KAFKA-18991)",
        "KAFKA-7164",
        "KAFKA-7786",
        "KAFKA-18991",
    )
    SAME_EPOCH = 2, "it is discarded"


class LastFetchedEpoch(Choice):
    """Selects whether each fetch carries the epoch of the follower's last record, if logs are checked on fetch."""

    LOST = (
        0,
        "not after a first response without records: the leader then compares no logs (KAFKA-15510)",
        "KAFKA-15510",
    )
    KEPT = 1, "yes"


class DivergingFetch(Choice):
    """The leader's note about a follower whose fetch shows that their logs diverge."""

    COUNTED = 0, "its fetch offset, as if all below were the same (KAFKA-13141)", "KAFKA-13141"
    IGNORED = 1, "nothing"


class DivergingHighWatermark(Choice):
    """The follower's use of the high watermark in a diverging response."""

    APPLIED = 0, "it takes it before it truncates its log (KAFKA-14704)", "KAFKA-14704"
    IGNORED = 1, "nothing"


class IsrChange(Choice):
    """The way a leader changes the ISR."""

    ATOMIC = 0, "by a conditional write to ZooKeeper, under its lock"
    REQUEST = 1, "by a request to the controller, proposed until it is answered (KIP-497)"


class EffectiveIsr(Choice):
    """The ISR that a leader counts for its high watermark while a change is pending."""

    PROPOSED = 0, "the one that it has proposed", "KIP-497"
    COMMITTED = 1, "the one of before", "KIP-497"
    MAXIMAL = 2, "both together"


class IsrVersion(Choice):
    """Selects whether the controller checks that the proposer of an ISR change knows the current partition epoch."""

    UNCHECKED = 0, "no", "KIP-497"
    CHECKED = 1, "yes: the request carries the partition epoch"


class IsrAnswer(Choice):
    """Selects whether a leader evaluates its high watermark again at the response to its change of the ISR."""

    HIGH_WATERMARK_KEPT = 0, "no (KAFKA-13091)", "KAFKA-13091"
    ADVANCED_WHEN_APPLIED = (
        1,
        "where the change was made, and not where it was turned down (Kafka to date)",
        "docs/findings/refused-expansion.md",
    )
    ADVANCED = 2, "yes"


class IsrQueue(Choice):
    """Selects whether a leader proposes a change of the ISR while an earlier request is still in flight."""

    CLEARED_BY_NEWS = (
        0,
        "yes, where news of the partition came between: but nothing is sent then (KAFKA-12686)",
        "KAFKA-12686",
    )
    SINGLE = 1, "no"


class IsrDuplicate(Choice):
    """The controller's response to a change of the ISR that it has already made."""

    REFUSED = 0, "that the partition epoch is another by now (KRaft)", "KAFKA-14144"
    ANSWERED = 1, "that it is made (ZooKeeper's controller)"


class IsrRefresh(Choice):
    """Selects whether a leader learns changes of the ISR from any source but the responses to its requests."""

    NONE = 0, "no (ZooKeeper)"
    METADATA = 1, "yes: the metadata log brings them (KRaft)"


class StaleController(Choice):
    """The reaction of a leader to the response of a controller that is no longer active."""

    FINAL = 0, "that its proposal is refused, which it waits for news of for ever (KAFKA-14154)", "KAFKA-14154"
    RETRIED = 1, "nothing: it asks the active one"


class IsrError(Choice):
    """What a leader does when the controller answers its change of the ISR with an unexpected error."""

    STUCK = (
        0,
        "submit it again, which its own request blocks: nothing is sent, and it stays pending (KAFKA-14010)",
        "KAFKA-14010",
    )
    TAKEN_BACK = 1, "the same, and take it back, although it may have been made (KAFKA-14010)", "KAFKA-14010"
    RETRIED = 2, "send the request again"


class IsrEligibility(Choice):
    """The replicas that may join the ISR."""

    UNCHECKED = 0, "any that has caught up, be it down by then", "KIP-841"
    ALIVE = 1, "one that is up and not fenced (KIP-841)", "KIP-903"
    INCARNATION_RACY = (
        2,
        "also one that has not restarted since it caught up, judged a fetch too late (KAFKA-15221)",
        "KAFKA-15221",
    )
    INCARNATION = 3, "also one that has not restarted since it caught up: its broker epoch is the same (KIP-903)"


class FollowerFenceEpoch(Choice):
    """Selects whether the leader epoch rises when a follower is fenced."""

    BUMPED = 0, "yes (ZooKeeper); in KRaft to 3.5 whenever anybody leaves the ISR, by its leader's request too"
    KEPT = 1, "no: the ISR of the current decision changes (KAFKA-15021)"


class HighWatermarkGate(Choice):
    """Selects whether the high watermark may rise while the ISR is smaller than min.insync.replicas."""

    NONE = 0, "yes", "KIP-966"
    MIN_ISR = 1, "no (KIP-966)"


class EligibleLeaders(Choice):
    """Selects whether the controller tracks replicas that left the ISR with every committed record: the ELR."""

    NONE = 0, "no", "KIP-966"
    KEPT_UNCLEAN = 1, "yes, one that may have lost its log in an unclean shutdown too", "KIP-966"
    KEPT_ABOVE_MIN = 2, "yes, while the ISR has min.insync.replicas without them too", "KIP-966"
    TRACKED = 3, "yes, as long as nothing can be committed without them (KIP-966)"


class LastKnownLeader(Choice):
    """Selects whether the controller elects the last leader again if the ISR and the ELR are empty."""

    NONE = 0, "no", "KIP-966"
    UNCHECKED = 1, "yes, be it down (KAFKA-19522)", "KAFKA-19522"
    ALIVE = 2, "yes, once it is up (KIP-966)"


class PendingProduce(Choice):
    """The treatment of waiting acks=all requests when their leader learns that it no longer leads."""

    KEPT = 0, "they wait on, and are answered when it leads again and its high watermark is past where they were"
    FAILED = 1, "they fail: NOT_LEADER_OR_FOLLOWER, for the client to try again"


class Idempotence(Choice):
    """The way a leader distinguishes a record that a client sends again from a new one."""

    NONE = 0, "it does not, and appends it again", "KIP-98"
    LEADER_ONLY = 1, "by what it has appended itself in its epoch, and not by what it copied as a follower"
    KEPT_AT_TRUNCATION = 2, "by what it has had in its log, be it truncated since"
    ANSWERED_AT_ONCE = 3, "by what is in its log, and says that it is stored, be it committed or not"
    SEQUENCE = 4, "by what is in its log: the answer waits for the high watermark as the first one did (KIP-98)"


class UnknownProducer(Choice):
    """The sequence number that a leader accepts from a producer without a record in its log."""

    ANY_SEQUENCE = 0, "any: the records before it may have been deleted (KIP-360, since Kafka 2.5)", "KAFKA-8710"
    FIRST_SEQUENCE = 1, "the first one only: UNKNOWN_PRODUCER_ID for any other (up to Kafka 2.4)"


class ConsumerPosition(Choice):
    """A consumer's position in the log, and its check of the position at a new leader."""

    OFFSET = 0, "an offset, and it asks nothing", "KIP-320"
    END_OFFSET = (
        1,
        "also the epoch of what it read last: it asks where that ends, and compares offsets (every release)",
        "docs/findings/consumer-position.md",
    )
    OFFSET_AND_EPOCH = 2, "likewise, and a leader that has nothing of that epoch is a truncation too (KIP-320)"


class ControllerWrites(Choice):
    """A controller's check when it writes an update, because another controller may have taken over."""

    UNCONDITIONAL = 0, "nothing: it overwrites what the other has decided, which never sees it"
    VERSIONED = 1, "that the partition is as it knows it: a conditional write (up to Kafka 2.0)", "KAFKA-6082"
    CONTROLLER_EPOCH = 2, "also that it is the controller still: its epoch is the current one (KAFKA-6082)"


class ControllerRequests(Choice):
    """The controllers' requests that a replica obeys."""

    ANY = 0, "any of a later leader epoch"
    CONTROLLER_EPOCH = 1, "of these, none of a controller older than one that it has heard from"


class StableOffset(Choice):
    """The end of the records that a read_committed consumer may read: the last stable offset."""

    HIGH_WATERMARK = 0, "up to the high watermark, be a transaction open or not", "KIP-98"
    FIRST_OPEN = 1, "up to the first record of a transaction that has no marker in the log", "KIP-98"
    REPLICATED = 2, "up to the first record of a transaction that has no marker below the high watermark (KIP-98)"


class FollowerHighWatermark(Choice):
    """A follower's high watermark after it has appended the records of a fetch."""

    OWN_END = 0, "its own log end offset, whatever its leader knows to be committed (Fluss)", "docs/findings/fluss.md"
    LEADERS = 1, "its leader's, as the answer has it, up to its own log end offset"


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
    "late_answer": LateAnswer,
    "diverging_fetch": DivergingFetch,
    "diverging_high_watermark": DivergingHighWatermark,
    "isr_change": IsrChange,
    "effective_isr": EffectiveIsr,
    "isr_version": IsrVersion,
    "isr_answer": IsrAnswer,
    "isr_queue": IsrQueue,
    "isr_duplicate": IsrDuplicate,
    "isr_refresh": IsrRefresh,
    "stale_controller": StaleController,
    "isr_eligibility": IsrEligibility,
    "follower_fence_epoch": FollowerFenceEpoch,
    "high_watermark_gate": HighWatermarkGate,
    "eligible_leaders": EligibleLeaders,
    "last_known_leader": LastKnownLeader,
    "pending_produce": PendingProduce,
    "idempotence": Idempotence,
    "consumer_position": ConsumerPosition,
    "controller_writes": ControllerWrites,
    "controller_requests": ControllerRequests,
    "stable_offset": StableOffset,
    "follower_high_watermark": FollowerHighWatermark,
    "last_fetched_epoch": LastFetchedEpoch,
    "unknown_producer": UnknownProducer,
    "isr_error": IsrError,
}

# Mechanisms without a wrong choice: their choices are alternatives.
ALTERNATIVES = frozenset({"leaderless", "isr_change", "isr_duplicate", "isr_refresh", "follower_fence_epoch"})


def sound_choices(mechanism: str) -> tuple[Choice, ...]:
    """Return the choices of a mechanism that break nothing if all others are sound: usually the last one."""
    *_, last = MECHANISMS[mechanism]
    return (Truncation.LEADER_EPOCH_STEPWISE, Truncation.ON_FETCH) if last is Truncation.ON_FETCH else (last,)
