"""Coverage goals: steps of the protocol, such as a truncation, that a run should reach."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.in_force import (
    answers_survive_decisions,
    checks_logs_on_fetch,
    falls_back_to_last_known_leader,
    has_consumer,
    has_consumer_group,
    has_delayed_fetch,
    has_heartbeats,
    has_lag_time,
    has_late_requests,
    has_retention,
    has_rival,
    has_transactions,
    loses_disks,
    loses_last_fetched_epoch,
    requests_isr_changes,
    retries,
    rival_decides,
    rival_overwrites,
    tracks_eligible_leaders,
    tracks_incarnations,
    tracks_partition_epoch,
    tracks_waiting,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import (
    ConsumerPosition,
    EpochCache,
    Fencing,
    HighWatermarkGate,
    Idempotence,
    IsrEligibility,
    IsrRefresh,
    LateRequest,
    PendingProduce,
    Registration,
    StableOffset,
    Truncation,
    UnknownProducer,
)
from epochfuzz.model.kafka.vocabulary.state import State


def _always(p: State) -> bool:
    return True


@dataclass(frozen=True)
class _Goal:
    """The declaration of a goal. `Goal` describes the fields."""

    number: int
    asked_for: Callable[[State], bool] | None = None


class Goal(IntEnum):
    """A coverage goal. The value of a goal is a single bit, which a rule sets with `p.goals |= Goal.LOG_TRUNCATED`.

    If `asked_for(p)` is true under the protocol and settings of a state, the goal is required: a run has to reach it.
    All other goals are optional: epochfuzz counts and shows them.
    """

    number: int
    asked_for: Callable[[State], bool] | None

    def __new__(cls, declared: _Goal) -> "Goal":
        """Create the enum member: an int with one bit, which also has the fields of the declaration."""
        goal = int.__new__(cls, 1 << declared.number)
        goal._value_ = 1 << declared.number
        goal.number = declared.number
        goal.asked_for = declared.asked_for
        return goal

    HIGH_WATERMARK_ADVANCED = _Goal(0, _always)
    HIGH_WATERMARK_WENT_BACK = _Goal(1)
    LOG_TRUNCATED = _Goal(2, _always)
    EPOCH_ANSWER_UNDEFINED = _Goal(
        3, lambda p: p.truncation == Truncation.LEADER_EPOCH and p.epoch_cache == EpochCache.ORIGINAL
    )
    EPOCH_ASKED_AGAIN = _Goal(
        4, lambda p: p.truncation == Truncation.LEADER_EPOCH_STEPWISE and p.epoch_cache == EpochCache.KAFKA_7415
    )
    NOT_ENOUGH_REPLICAS = _Goal(5, lambda p: p.min_insync_replicas > 1 and p.acks == Acks.ALL)
    ZOMBIE_ACCEPTED_A_WRITE = _Goal(6, lambda p: p.min_insync_replicas == 1 or p.acks != Acks.ALL)
    FETCH_FENCED = _Goal(7, lambda p: p.fencing == Fencing.EPOCH)
    FETCH_OUT_OF_RANGE = _Goal(8)
    EPOCH_MISSED = _Goal(9, _always)
    LED_AN_OUTDATED_EPOCH = _Goal(10, _always)
    ELECTED_UNCLEANLY = _Goal(11, lambda p: bool(p.unclean_leader_election))
    ISR_SHRANK = _Goal(12, _always)
    ISR_GREW = _Goal(13, _always)
    HIGH_WATERMARK_RESTARTED_LOWER = _Goal(14, lambda p: bool(p.asynchronous_checkpoint))
    UNFLUSHED_RECORDS_LOST = _Goal(15, lambda p: bool(p.power_loss))
    LEADER_STAYED = _Goal(16, _always)
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = _Goal(
        17,
        lambda p: p.min_insync_replicas > 1 and p.acks == Acks.ALL and p.high_watermark_gate == HighWatermarkGate.NONE,
    )
    REGISTERED_ANEW = _Goal(18, lambda p: p.registration == Registration.FENCED)
    HALTED_OUT_OF_RANGE = _Goal(19)
    FETCH_DIVERGED = _Goal(20, checks_logs_on_fetch)
    ANSWER_OUTLIVED_AN_EPOCH = _Goal(21, answers_survive_decisions)
    ISR_REQUEST_REFUSED = _Goal(22, requests_isr_changes)
    ISR_REQUEST_REVERTED = _Goal(
        23, lambda p: requests_isr_changes(p) and p.isr_eligibility != IsrEligibility.UNCHECKED
    )
    ISR_ANSWERED_LATE = _Goal(24, requests_isr_changes)
    ISR_LEARNED_FROM_METADATA = _Goal(25, lambda p: tracks_partition_epoch(p) and p.isr_refresh == IsrRefresh.METADATA)
    STALE_INCARNATION_REFUSED = _Goal(26, tracks_incarnations)
    HIGH_WATERMARK_HELD = _Goal(
        27, lambda p: p.high_watermark_gate == HighWatermarkGate.MIN_ISR and p.min_insync_replicas > 1
    )
    ISR_WAS_EMPTY = _Goal(28, tracks_eligible_leaders)
    ELIGIBLE_REPLICA_ELECTED = _Goal(29, lambda p: tracks_eligible_leaders(p) and p.min_insync_replicas > 1)
    LAST_KNOWN_LEADER_ELECTED = _Goal(30, falls_back_to_last_known_leader)
    SHUT_DOWN = _Goal(31, has_heartbeats)
    LOSS_PERMITTED = _Goal(32, lambda p: tracks_eligible_leaders(p) and bool(loses_disks(p)))
    WAITING_REQUEST_FAILED = _Goal(
        33, lambda p: tracks_waiting(p) and p.pending_produce == PendingProduce.FAILED and p.acks == Acks.ALL
    )
    PRODUCER_RETRIED = _Goal(34, lambda p: retries(p) and p.acks == Acks.ALL)
    DUPLICATE_RECOGNISED = _Goal(35, lambda p: retries(p) and p.acks == Acks.ALL and p.idempotence != Idempotence.NONE)
    OUT_OF_ORDER_SEQUENCE = _Goal(36, lambda p: retries(p) and p.acks == Acks.ALL and p.idempotence != Idempotence.NONE)
    CONSUMER_FENCED = _Goal(37, lambda p: has_consumer(p) and p.consumer_position != ConsumerPosition.OFFSET)
    TRUNCATION_REPORTED = _Goal(
        38,
        lambda p: (
            has_consumer(p)
            and p.consumer_position != ConsumerPosition.OFFSET
            and bool(p.unclean_leader_election or loses_disks(p))
        ),
    )
    CONTROLLER_FAILED_OVER = _Goal(39, has_rival)
    RIVAL_DECIDED = _Goal(40, rival_decides)
    RIVAL_OBEYED = _Goal(41, rival_overwrites)
    TRANSACTION_COMMITTED = _Goal(42, lambda p: has_transactions(p) and p.acks != Acks.NONE)
    TRANSACTION_ABORTED = _Goal(43, has_transactions)
    LAST_STABLE_OFFSET_BELOW_HIGH_WATERMARK = _Goal(
        44, lambda p: has_transactions(p) and p.stable_offset != StableOffset.HIGH_WATERMARK
    )
    LOG_CUT_BY_A_LATE_ANSWER = _Goal(45)
    LAST_FETCHED_EPOCH_LOST = _Goal(46, loses_last_fetched_epoch)
    UNKNOWN_PRODUCER_ACCEPTED = _Goal(
        47,
        lambda p: (
            retries(p)
            and p.acks == Acks.ALL
            and p.idempotence != Idempotence.NONE
            and p.unknown_producer == UnknownProducer.ANY_SEQUENCE
        ),
    )
    HIGH_WATERMARK_WAITED = _Goal(48, has_lag_time)
    DELAYED_FETCH_COMPLETED = _Goal(49, has_delayed_fetch)
    DELAYED_FETCH_EXPIRED = _Goal(50, has_delayed_fetch)
    CONSUMER_RESTARTED = _Goal(51, has_consumer_group)
    DIRECTORY_LOST = _Goal(52, lambda p: bool(p.lost_directory))
    PRODUCER_EPOCH_BEGUN = _Goal(53)
    LATE_RECORD_APPENDED = _Goal(
        54, lambda p: has_late_requests(p) and p.late_request in (LateRequest.ACCEPTED, LateRequest.VERIFIED)
    )
    LATE_MARKER_APPENDED = _Goal(55, lambda p: has_late_requests(p) and p.late_request != LateRequest.REJECTED)
    LOG_START_FOLLOWED = _Goal(56, has_retention)
    LOG_RESTARTED = _Goal(57, has_retention)

    @property
    def text(self) -> str:
        """The name of the goal as a phrase, such as `ISR shrank`."""
        return self.name.lower().replace("_", " ").replace("isr", "ISR")


NAMES = tuple(goal.text for goal in Goal)
