"""Mechanisms: the differences between designs and releases of Kafka's replication protocol.

Each mechanism is an enumeration of its choices. The oldest or worst choice is the first, and the sound choice is the
last. You can choose each mechanism separately. Rules compare the constants of a state with the choices: `p.fencing ==
Fencing.EPOCH`.
"""

from enum import IntEnum


class Choice(IntEnum):
    """A choice of a mechanism, with its `meaning` in one line.

    `told_by` lists the KIPs and issues that report the failures of an unsound choice. If no issue reports a failure,
    `told_by` lists the page of this project that shows the failures.
    """

    meaning: str
    told_by: tuple[str, ...]

    def __new__(cls, number: int, meaning: str, *told_by: str) -> "Choice":
        """Create the enum member: an int, which also has a meaning and a list of issues."""
        choice = int.__new__(cls, number)
        choice._value_ = number
        choice.meaning = meaning
        choice.told_by = told_by
        return choice

    def __eq__(self, other: object) -> bool:
        """Return whether `other` is this choice, or a plain int with its value. A state stores plain ints."""
        if isinstance(other, Choice):
            return self is other
        return int(self) == other

    __hash__ = IntEnum.__hash__

    @property
    def text(self) -> str:
        """The name of the choice in the text of a protocol, such as `leader_epoch` or `kafka-7415`."""
        return self.name.lower().replace("kafka_", "kafka-")


class Truncation(Choice):
    """The rule that determines where a follower truncates its log when it starts to follow."""

    HIGH_WATERMARK = 0, "truncate to its own high watermark (Kafka up to 0.10.2)", "KAFKA-1211", "KAFKA-3919", "KIP-101"
    LEADER_EPOCH = (
        1,
        "ask OffsetsForLeaderEpoch for one's last epoch, and truncate to the answer (KIP-101)",
        "KAFKA-6361",
        "KIP-279",
    )
    LEADER_EPOCH_STEPWISE = 2, "the answer names an epoch that both may know; ask again until both do (KIP-279)"
    ON_FETCH = 3, "ask nothing: each fetch carries the epoch of one's last record, and the leader checks it (KIP-595)"


class TruncateWhen(Choice):
    """The leader-and-ISR updates that make a follower truncate its log."""

    LEADER_CHANGED = 0, "another leader than before; a restart counts as a change", "KAFKA-7164"
    LEADER_CHANGED_OR_EPOCH_MISSED = (
        1,
        "a follower that missed an epoch missed a truncation too (KAFKA-7164)",
        "KIP-320",
    )
    EACH_EPOCH = 2, "every later epoch (KIP-320)"


class EpochCache(Choice):
    """The moment when the leader epoch cache gets an entry, and the result of a lookup below its first entry."""

    ORIGINAL = 0, "at the first append of an epoch; a lookup below the first entry is undefined", "KAFKA-7415"
    KAFKA_7415 = 1, "also on becoming leader; a lookup below the first entry returns the start of that entry"


class Fencing(Choice):
    """Selects whether a leader rejects a follower's request that carries a different leader epoch."""

    NONE = 0, "a leader answers requests of any epoch", "KAFKA-6880", "KAFKA-7395", "KIP-320"
    EPOCH = 1, "a leader rejects requests of another epoch than its own (KIP-320)"


class IsrExpansion(Choice):
    """The leader's condition for letting a replica join the ISR."""

    HIGH_WATERMARK = 0, "that it has reached the leader's high watermark", "KAFKA-7128"
    EPOCH_START = 1, "also that it has reached the start of the leader's own epoch (KAFKA-7128)"


class RemoteLeo(Choice):
    """Selects whether a leader that is elected again keeps its followers' LEOs from an earlier epoch."""

    KEPT = (
        0,
        "it keeps its old knowledge, because only a new leader resets its followers' LEOs (Kafka since 0.9.0.0)",
        "docs/findings/re-elected-leader.md",
    )
    FORGOTTEN_IF_MISSED = 1, "it keeps its old knowledge, unless it has missed an epoch"
    FORGOTTEN = 2, "it forgets all of it, like any leader of a new epoch"


class Leaderless(Choice):
    """The reaction of a replica to a leader-and-ISR update without a leader."""

    IGNORED = 0, "none: role, leader and epoch stay as if the update had never arrived (ZooKeeper)"
    OBEYED = 1, "it steps down, and waits for a leader (KRaft)"


class Registration(Choice):
    """The controller's reaction to a broker that returns before the controller has noticed its failure."""

    RESUME = 0, "none: the replica resumes its role in the same epoch (KAFKA-7235)", "KAFKA-7235", "KIP-380"
    FENCED = 1, "the replica counts as failed first: it loses leadership and its place in the ISR (KIP-380)"


class CacheTruncation(Choice):
    """Selects whether a truncation that leaves the log unchanged also leaves the leader epoch cache unchanged."""

    WITH_LOG = (
        0,
        "yes: entries at the log end offset stay, and the follower asks for them again and again (KAFKA-10706)",
        "KAFKA-10706",
    )
    ALWAYS = 1, "no: it removes entries at or beyond the log end offset"


class HighWatermarkTruncation(Choice):
    """Selects whether a follower that truncates its log below its high watermark lowers the high watermark."""

    KEPT = (
        0,
        "no, only the next response or election does (up to Kafka 2.3)",
        "docs/findings/high-watermark-past-the-log.md",
    )
    LOWERED = 1, "yes, at once"


class OutOfRange(Choice):
    """The reaction of a follower whose log is longer than its leader's, while unclean elections are off."""

    HALT = 0, "its process ends, and its log stays as it was (up to Kafka 2.0.0)", "KAFKA-7414"
    CUT = 1, "it truncates its log to the leader's log end offset (KAFKA-7414)"


class RemoteLeoOutOfRange(Choice):
    """The value that a leader stores as a follower's LEO after an out-of-range fetch."""

    UNKNOWN = 0, "that the follower's LEO is unknown (up to Kafka 2.3)"
    AS_IT_WAS = 1, "nothing"


class LateAnswer(Choice):
    """The treatment of a response in flight to a follower that learns a leader-and-ISR update."""

    DIVERGING_ANY = (
        0,
        "as with same_leader, except that a diverging response always truncates the log (KAFKA-13207)",
        "KAFKA-13207",
    )
    SAME_LEADER = (
        1,
        "it counts if the leader and the fetch offset are still the same (KAFKA-7164, KAFKA-7786, KAFKA-18991)",
        "KAFKA-7164",
        "KAFKA-7786",
        "KAFKA-18991",
    )
    SAME_EPOCH = 2, "it is discarded"


class LastFetchedEpoch(Choice):
    """Selects whether each fetch carries the epoch of the follower's last record, if leaders check logs on fetch."""

    LOST = 0, "no, if the first response had no records: the leader then compares no logs (KAFKA-15510)", "KAFKA-15510"
    KEPT = 1, "yes"


class DivergingFetch(Choice):
    """The value that a leader stores as a follower's LEO after a fetch that shows diverging logs."""

    COUNTED = 0, "its fetch offset, as if the logs were equal below it (KAFKA-13141)", "KAFKA-13141"
    IGNORED = 1, "nothing"


class DivergingHighWatermark(Choice):
    """The effect of the high watermark in a response that reports to a follower that its log diverges."""

    APPLIED = 0, "it adopts the high watermark before it truncates its log (KAFKA-14704)", "KAFKA-14704"
    IGNORED = 1, "nothing"


class IsrChange(Choice):
    """The way a leader changes the ISR."""

    ATOMIC = 0, "by a conditional write to ZooKeeper, under its lock"
    REQUEST = 1, "by a request to the controller; the change is pending until the response (KIP-497)"


class EffectiveIsr(Choice):
    """The ISR that limits a leader's high watermark while a change of the ISR is pending."""

    PROPOSED = 0, "the ISR that it has proposed", "KIP-497"
    COMMITTED = 1, "the ISR before the change", "KIP-497"
    MAXIMAL = 2, "the union of both"


class IsrVersion(Choice):
    """Selects whether the controller checks that the proposer of an ISR change knows the current partition epoch."""

    UNCHECKED = 0, "no", "KIP-497"
    CHECKED = 1, "yes: the request carries the partition epoch"


class IsrAnswer(Choice):
    """Selects whether a leader raises its high watermark when it gets the response to its change of the ISR."""

    HIGH_WATERMARK_KEPT = 0, "no (KAFKA-13091)", "KAFKA-13091"
    ADVANCED_WHEN_APPLIED = (
        1,
        "only if the change was made, not if it was rejected (Kafka to date)",
        "docs/findings/refused-expansion.md",
    )
    ADVANCED = 2, "yes"


class IsrQueue(Choice):
    """Selects whether a leader proposes a change of the ISR while an earlier request is still in flight."""

    CLEARED_BY_NEWS = 0, "yes, after a metadata update, but it does not send the request (KAFKA-12686)", "KAFKA-12686"
    SINGLE = 1, "no"


class IsrDuplicate(Choice):
    """The controller's response to a request for an ISR change that it has already made."""

    REFUSED = 0, "an error, because the partition epoch has changed (KRaft)", "KAFKA-14144"
    ANSWERED = 1, "success (ZooKeeper's controller)"


class IsrRefresh(Choice):
    """Selects whether a leader learns changes of the ISR from sources other than the responses to its requests."""

    NONE = 0, "no (ZooKeeper)"
    METADATA = 1, "yes: the metadata log brings them (KRaft)"


class StaleController(Choice):
    """The reaction of a leader to the response of a controller that is no longer active."""

    FINAL = 0, "it considers its proposal rejected, and waits forever for a later ISR (KAFKA-14154)", "KAFKA-14154"
    RETRIED = 1, "none: it sends the request to the active controller"


class IsrError(Choice):
    """The reaction of a leader to an unexpected error in response to its change of the ISR."""

    STUCK = (
        0,
        "it submits the change again, but its first request blocks the second: the change stays pending (KAFKA-14010)",
        "KAFKA-14010",
    )
    TAKEN_BACK = 1, "it withdraws the change, which the controller may have made (KAFKA-14010)", "KAFKA-14010"
    RETRIED = 2, "it sends the request again"


class IsrEligibility(Choice):
    """The replicas that may join the ISR."""

    UNCHECKED = 0, "any that has caught up, even if it is down by then", "KIP-841"
    ALIVE = 1, "one that is up and not fenced (KIP-841)", "KIP-903"
    INCARNATION_RACY = (
        2,
        "also one that has not restarted since it caught up, but checked a fetch too late (KAFKA-15221)",
        "KAFKA-15221",
    )
    INCARNATION = 3, "also one that has not restarted since it caught up: its broker epoch is the same (KIP-903)"


class FollowerFenceEpoch(Choice):
    """Selects whether the leader epoch rises when a follower is fenced."""

    BUMPED = 0, "yes (ZooKeeper); in KRaft up to 3.5 also when the leader's request removes a member from the ISR"
    KEPT = 1, "no: only the ISR of the current update changes (KAFKA-15021)"


class HighWatermarkGate(Choice):
    """Selects whether the high watermark may rise while the ISR is smaller than min.insync.replicas."""

    NONE = 0, "yes", "KIP-966"
    MIN_ISR = 1, "no (KIP-966)"


class EligibleLeaders(Choice):
    """Selects whether the controller tracks eligible leaders: replicas outside the ISR with every committed record."""

    NONE = 0, "no", "KIP-966"
    KEPT_UNCLEAN = 1, "yes, even a replica that may have lost its log in an unclean shutdown", "KIP-966"
    KEPT_ABOVE_MIN = 2, "yes, even while the ISR has min.insync.replicas without them", "KIP-966"
    TRACKED = 3, "yes, as long as nothing can be committed without them (KIP-966)"


class LastKnownLeader(Choice):
    """Selects whether the controller elects the last leader again if no ISR member or eligible leader is left."""

    NONE = 0, "no", "KIP-966"
    UNCHECKED = 1, "yes, even if it is down (KAFKA-19522)", "KAFKA-19522"
    ALIVE = 2, "yes, once it is up (KIP-966)"


class PendingProduce(Choice):
    """The fate of acks=all produce requests that wait at a leader when the leader learns that it no longer leads."""

    KEPT = 0, "they keep waiting, until it leads again and its high watermark has passed them"
    FAILED = 1, "they fail: NOT_LEADER_OR_FOLLOWER, for the client to try again"


class Idempotence(Choice):
    """The way a leader recognises a record that a producer sends again."""

    NONE = 0, "it does not, and appends it again", "KIP-98"
    LEADER_ONLY = 1, "by the records that it appended in its own epoch, without those that it copied as a follower"
    KEPT_AT_TRUNCATION = 2, "by all records that its log ever had, even truncated ones"
    ANSWERED_AT_ONCE = 3, "by the records in its log; it acknowledges at once, committed or not"
    SEQUENCE = (
        4,
        "by the records in its log; the response waits for the high watermark, as for the first request (KIP-98)",
    )


class UnknownProducer(Choice):
    """The first sequence number that a leader accepts from a producer that has no record in the leader's log."""

    ANY_SEQUENCE = 0, "any: the records before it may have been deleted (KIP-360, since Kafka 2.5)", "KAFKA-8710"
    FIRST_SEQUENCE = 1, "the first one only: UNKNOWN_PRODUCER_ID for any other (up to Kafka 2.4)"


class ProducerBump(Choice):
    """The rejected records that make an idempotent producer begin a new producer epoch (KIP-360)."""

    ANY_RECORD = (
        0,
        "any unacknowledged record that is out of order, also one behind a record that it sends again anyway",
        "docs/explain/clients.md",
    )
    NEXT_RECORD = 1, "the one after its last acknowledged record only; it sends others again in the same epoch"


class ProducerSnapshot(Choice):
    """The records in its log that a restarted replica recognises if the producer sends them again."""

    LAST_RECORD = 0, "the last one only (Kafka)", "docs/findings/restarted-leader.md"
    EVERY_RECORD = 1, "all of them"


class ConsumerPosition(Choice):
    """A consumer's position in the log, and the consumer's check of this position at a new leader."""

    OFFSET = 0, "an offset, without a check", "KIP-320"
    END_OFFSET = (
        1,
        "also the epoch of its last record: it asks where that epoch ends, and compares offsets (every release)",
        "docs/findings/consumer-position.md",
    )
    OFFSET_AND_EPOCH = 2, "likewise, and a leader without that epoch counts as a truncation too (KIP-320)"


class ConsumerRestart(Choice):
    """The position that a consumer commits, and its check of this position when it restarts."""

    OFFSET = 0, "an offset, which cannot be validated: committed without a leader epoch", "KAFKA-20507"
    UNVALIDATED = 1, "also its last record's epoch, but it does not validate the position", "docs/explain/clients.md"
    VALIDATED = 2, "likewise, and it validates the position at the leader (KIP-320, 2.3)", "docs/explain/clients.md"
    NEWER_METADATA = 3, "also the leader epoch that it knows, and it ignores older metadata"


class ConsumerEpochEnd(Choice):
    """The replicas that answer a consumer's OffsetsForLeaderEpoch request."""

    ANY_REPLICA = 0, "each replica, from its own log (Redpanda before redpanda#6400)", "docs/explain/clients.md"
    LEADER = 1, "only a replica that believes it leads; all others answer NOT_LEADER_OR_FOLLOWER (every release)"


class ControllerWrites(Choice):
    """A controller's check before it writes an update, because another controller may have taken over."""

    UNCONDITIONAL = 0, "none: it overwrites the other controller's update, and the other controller never learns this"
    VERSIONED = 1, "that the partition is as it knows it: a conditional write (up to Kafka 2.0)", "KAFKA-6082"
    CONTROLLER_EPOCH = 2, "also that it is still the controller: its epoch is the current one (KAFKA-6082)"


class ControllerRequests(Choice):
    """The controllers whose requests a replica obeys."""

    ANY = 0, "all requests of a later leader epoch"
    CONTROLLER_EPOCH = 1, "likewise, except requests of a controller older than the latest that it knows"


class StableOffset(Choice):
    """The last stable offset: the end of the records that a read_committed consumer may read."""

    HIGH_WATERMARK = 0, "up to the high watermark, even within an open transaction", "KIP-98"
    FIRST_OPEN = 1, "up to the first record of a transaction that has no marker in the log", "KIP-98"
    REPLICATED = 2, "up to the first record of a transaction that has no marker below the high watermark (KIP-98)"


class LateRequest(Choice):
    """A leader's treatment of a record, or of a copy of a marker, that arrives after the end of its transaction."""

    ACCEPTED = 0, "it appends both, at any time (up to Kafka 3.5)", "KAFKA-12671", "KIP-890"
    VERIFIED = (
        1,
        "it appends the record if its producer has an open transaction, and a marker always (KIP-890, 3.6 to 4.0)",
        "KIP-890",
        "KAFKA-14053",
    )
    RECORD_REJECTED = (
        2,
        "it rejects the record, because each transaction has a producer epoch, and appends a marker (4.0 and 4.1)",
        "KIP-1228",
    )
    REJECTED = 3, "it rejects the record, and a marker if another transaction is open (KIP-1228, since 4.2)"


class BelowLogStart(Choice):
    """A leader's response to a fetch below the leader's log start offset, if the follower's log diverges."""

    DIVERGING = (
        0,
        "the end of the follower's epoch, and a log start that makes the follower's fetcher fail (2.8.0)",
        "KAFKA-12996",
    )
    OUT_OF_RANGE = 1, "OFFSET_OUT_OF_RANGE, as without divergence (KAFKA-12996)"


class FollowerHighWatermark(Choice):
    """A follower's high watermark after the follower has appended the records of a fetch."""

    OWN_END = 0, "its own log end offset, whatever its leader knows to be committed (Fluss)", "docs/findings/fluss.md"
    LEADERS = 1, "its leader's high watermark in the response, but at most its own log end offset"


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
    "consumer_restart": ConsumerRestart,
    "producer_bump": ProducerBump,
    "late_request": LateRequest,
    "below_log_start": BelowLogStart,
    "consumer_epoch_end": ConsumerEpochEnd,
    "producer_snapshot": ProducerSnapshot,
}

# Mechanisms whose choices are all sound alternatives.
ALTERNATIVES = frozenset({"leaderless", "isr_change", "isr_duplicate", "isr_refresh", "follower_fence_epoch"})


def sound_choices(mechanism: str) -> tuple[Choice, ...]:
    """Return the choices of a mechanism that break no property if all other mechanisms have sound choices."""
    *_, last = MECHANISMS[mechanism]
    return (Truncation.LEADER_EPOCH_STEPWISE, Truncation.ON_FETCH) if last is Truncation.ON_FETCH else (last,)
