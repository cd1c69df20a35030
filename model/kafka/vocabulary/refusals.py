"""Refusals: the reasons why an event is not enabled. Each refusal names a precondition that does not hold.

A rule returns a Refusal, or APPLIED (0) if the event was enabled. A function `why_not_*` also returns a Refusal, or
APPLIED if nothing prevents the step. Only the rules contain the preconditions. Other code looks up a Refusal's
sentence.
"""

from enum import IntEnum


class Refusal(IntEnum):
    """A reason why an event is not enabled, with a `sentence` for people.

    harness/trace/refusal.py replaces each name in braces in the sentence by its value. `is_bound`: only a bound of the
    run prevents the event.
    """

    sentence: str
    is_bound: bool

    def __new__(cls, number: int, sentence: str, is_bound: bool = False) -> "Refusal":
        """Create the enum member: an int that also has a sentence and the flag `is_bound`."""
        refusal = int.__new__(cls, number)
        refusal._value_ = number
        refusal.sentence = sentence
        refusal.is_bound = is_bound
        return refusal

    APPLIED = 0, ""
    NO_SUCH_REPLICA = 1, "there is no replica {r}"
    IS_DOWN = 2, "{r} is down"
    IS_UP = 3, "{r} is up"

    # produce
    DOES_NOT_LEAD = 4, "{r} does not lead"
    RECORDS_BOUND = 5, "the bound of {records} records is reached", True
    NOT_ENOUGH_REPLICAS = 6, "NOT_ENOUGH_REPLICAS: the ISR has {isr_size} of min.insync.replicas {min_insync_replicas}"

    # fetch, receive, drop
    KNOWS_NO_LEADER = 7, "{r} knows no leader"
    LEADS = 8, "{r} itself leads"
    ANSWER_IN_FLIGHT = 9, "a response to {r} is still in flight"
    LEADER_IS_DOWN = 10, "{leader} is down"
    LEADER_DOES_NOT_LEAD = 11, "{leader} does not lead"
    FENCED_LEADER_EPOCH = (
        12,
        "leader {leader} is at epoch {leader_epoch} and rejects {r}, at epoch {epoch}: FENCED_LEADER_EPOCH",
    )
    UNKNOWN_LEADER_EPOCH = (
        13,
        "leader {leader} is at epoch {leader_epoch} and rejects {r}, at epoch {epoch}: UNKNOWN_LEADER_EPOCH",
    )
    NOTHING_IN_FLIGHT = 14, "nothing is in flight to {r}"

    # notify, catch_up
    KNOWS_LATEST_EPOCH = 15, "{r} knows the latest epoch, {controller_epoch}"
    LESS_THAN_TWO_EPOCHS_BEHIND = 16, "{r} is less than two epochs behind"

    # elect, expire
    EPOCHS_BOUND = 17, "the bound of {epochs} epoch changes is reached", True
    IS_LEADER = 18, "{r} is the leader already"
    UNCLEAN_ELECTION_OFF = 19, "{r} is not in the ISR, and unclean leader election is off"
    ISR_HAS_LIVE_MEMBER = 20, "{r} is not in the ISR, which has a live member"
    NEITHER_LEADS_NOR_IN_ISR = 21, "{r} neither leads nor is in the ISR"
    LAST_MEMBER = 22, "{r} is the last member of the ISR, and no longer leads"

    # shrink, expand
    NO_TRUE_LEADER = 23, "no live leader is aware of the controller's current epoch"
    NOT_IN_ISR = 24, "{r} is not in the ISR"
    IN_ISR = 25, "{r} is in the ISR"
    DOES_NOT_LAG = 26, "{r} does not lag"
    FOLLOWS_ANOTHER = 27, "{r} does not follow {true_leader}"
    IS_TRUNCATING = 28, "{r} is truncating"
    HAS_NOT_FETCHED = 29, "{r} has not fetched from {true_leader} in this epoch"
    BELOW_HIGH_WATERMARK = 30, "{true_leader} has seen {r} at offset {seen_at}, below the HW"
    BELOW_EPOCH_START = (
        31,
        "{true_leader} has seen {r} at offset {seen_at}, below the start of its epoch, {epoch_start}",
    )

    # power_loss, flush, checkpoint
    POWER_LOSS_OFF = 32, "power_loss is off in the configuration"
    LOG_IS_FLUSHED = 33, "{r}'s log is flushed already"
    ASYNCHRONOUS_CHECKPOINT_OFF = 34, "asynchronous_checkpoint is off in the configuration"
    HIGH_WATERMARK_IS_CHECKPOINTED = 35, "{r}'s HW is checkpointed already"

    # events of mechanisms or settings that the protocol and the configuration do not have
    DOES_NOT_HAPPEN = 36, "this event has no effect under this protocol and configuration"

    # alter, altered, resend, refuse, and the events that change the ISR
    ISR_CHANGE_PENDING = 37, "{true_leader} waits for the response to another change of the ISR"
    REQUEST_UNDER_WAY = 38, "{true_leader} has an AlterPartition request under way"
    NO_REQUEST_UNDER_WAY = 39, "{r} has no AlterPartition request on its way to the controller"
    NO_ANSWER_UNDER_WAY = 40, "no response to an AlterPartition request is on its way to {r}"
    INVALID_UPDATE_VERSION = 41, "{true_leader} does not know the current partition epoch: INVALID_UPDATE_VERSION"
    HAS_RESTARTED = 42, "{r} has restarted since {true_leader} heard from it"

    # expire, elect, unfence
    IS_FENCED = 43, "{r} is fenced"
    IS_NOT_FENCED = 44, "{r} is not fenced"

    # retry, and produce with retries
    RETRIES_OFF = 45, "retries is off in the configuration"
    NOTHING_TO_RETRY = 46, "the producer has a response for each of its last two records"
    TWO_IN_FLIGHT = 47, "the producer has no response yet for one of its last two records, and starts no third"
    OUT_OF_ORDER_SEQUENCE = 48, "{r} does not have the record before: OUT_OF_ORDER_SEQUENCE_NUMBER"
    LOG_IS_FULL = 49, "{r}'s log is full: the bound of {records} records is reached", True

    # consume, refresh
    CONSUMER_OFF = 50, "consumer is off in the configuration"
    NO_READ_REPLICA = (
        51,
        "{r}'s leader has not seen {r} at the consumer's position {position}, and does not send the consumer to {r}",
    )
    CONSUMER_IS_BEHIND = (
        52,
        "{r} is at epoch {epoch} and rejects the consumer, at epoch {consumer_epoch}: FENCED_LEADER_EPOCH",
    )
    CONSUMER_IS_AHEAD = (
        53,
        "{r} is at epoch {epoch} and rejects the consumer, at epoch {consumer_epoch}: UNKNOWN_LEADER_EPOCH",
    )
    NOTHING_TO_CONSUME = 54, "{r} has nothing below its HW for the consumer, at position {position}"
    CONSUMER_KNOWS_EPOCH = 55, "the consumer knows epoch {consumer_epoch} already"

    # produce, commit, abort
    TRANSACTION_ENDS = 56, "the transaction ends, and the next one has to wait"
    NO_ROOM_FOR_A_MARKER = 57, "{r}'s log has no room for a record and a marker", True
    NO_TRANSACTION = 58, "there is no transaction"
    IS_NOT_ACKNOWLEDGED = 59, "not every record of the transaction is acknowledged"
    IS_DECIDED_OTHERWISE = 60, "the coordinator has decided otherwise"
    NOTHING_TO_MARK = 61, "{r}'s log does not end in the transaction"

    # failover, rival_elect, rival_notify, notify
    IS_OF_THE_CONTROLLER = 62, "a fail-over happens to the controller, not to a replica: write the event with replica A"
    HAS_FAILED_OVER = 63, "the controller has failed over already"
    HAS_NOT_FAILED_OVER = 64, "the controller has not failed over"
    CONTROLLER_MOVED = 65, "the old controller's write fails: its controller epoch is no longer the current one"
    RIVAL_HAS_DECIDED = 66, "the old controller has made its update already"
    BAD_VERSION = 67, "the old controller's conditional write fails: the partition has changed"
    IS_RIVAL_LEADER = 68, "{r} is already the leader that the old controller knows"
    NOT_IN_RIVAL_ISR = 69, "{r} is not in the ISR that the old controller knows"
    RIVAL_HAS_NOT_DECIDED = 70, "the old controller has made no update of its own"
    STALE_CONTROLLER_EPOCH = (
        71,
        "{r} knows the new controller, and rejects the old controller's update: STALE_CONTROLLER_EPOCH",
    )
    KNOWS_LATER_EPOCH = 72, "{r} knows epoch {epoch}, and the old controller's epoch is not later"

    # expand
    SHOWN_FENCED = 73, "{true_leader}'s own metadata shows {r} fenced"
    SHOWN_OTHERWISE = 74, "{r} last fetched under another broker epoch than {true_leader}'s own metadata shows"

    # lapse, and shrink if time passes in lapse only
    LAG_TIME_OFF = 75, "lag_time is off in the configuration"
    CAUGHT_UP_WITHIN_LAG_TIME = 76, "{true_leader} has seen {r} caught up, and the lag time has not passed since"

    # expire_fetch, and fetch, receive and drop if a fetch can wait
    DELAYED_FETCH_OFF = 77, "delayed_fetch is off in the configuration"
    NO_FETCH_WAITS = 78, "no fetch of {r} waits at a leader"
    FETCH_WAITS = 79, "{r}'s fetch waits at its leader for records"

    # register, and notify, catch_up, unfence, elect and shutdown of a broker that has restarted in KRaft
    IS_REGISTERED = 80, "{r}'s process is registered"
    SESSION_IS_VALID = 81, "the session of {r}'s former process is valid: DUPLICATE_BROKER_REGISTRATION"
    IS_NOT_REGISTERED = 82, "{r}'s process is not registered"
    IS_CATCHING_UP = 83, "{r} has not read the metadata log up to its registration"

    # commit_offset, reset
    IS_OF_THE_CONSUMER = 84, "the consumer commits to its group, not to a replica: write the event with replica A"
    NOTHING_TO_COMMIT = 85, "the consumer has committed its position {position} already"
    METADATA_ARE_OLDER = 86, "{r} leads epoch {epoch}, and the consumer has committed a position in a later epoch"

    # wipe, bump
    LOG_IS_EMPTY = 87, "{r} is down, and its log is empty"
    EPOCH_IS_NEW = 88, "the producer has begun its second epoch already"
    IS_IN_SEQUENCE = 89, "{r} does not reject an unacknowledged record as out of order"

    # begin, delay, arrive, mark
    IS_OF_THE_PRODUCER = 90, "the producer does this, not a replica: write the event with replica A"
    HAS_A_TRANSACTION = 91, "the current transaction has not ended"
    A_RECORD_IS_LATE = 92, "a record of the producer is late already"
    NO_RECORD_IS_LATE = 93, "no record of the producer is late"
    NO_MARKER_IS_LATE = 94, "no copy of a marker is in the network"
    IS_LATE = 95, "{r} rejects the request, because its transaction has ended: INVALID_PRODUCER_EPOCH"

    # trim, and fetch after it
    NOTHING_TO_DELETE = 96, "{r} has no record below its high watermark that it has not deleted"
    FETCHER_HAS_FAILED = 97, "{r}'s fetcher has failed, until the next leader epoch or until {r} restarts"


APPLIED = Refusal.APPLIED
REFUSALS = (*Refusal,)  # by number
if [*REFUSALS] != [*range(len(REFUSALS))]:
    raise TypeError("refusals are numbered from 0, in order and without a gap")
