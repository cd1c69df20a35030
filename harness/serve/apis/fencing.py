"""Errors: Kafka's error codes for the reasons why the model rejects a request, and the checks of leader epochs."""

from kio.schema.errors import ErrorCode

from epochfuzz.model.kafka.partition.replication import presumes_leadership
from epochfuzz.model.kafka.vocabulary.refusals import Refusal
from epochfuzz.model.kafka.vocabulary.state import Partition

NO_EPOCH = -1

CODES = {
    Refusal.APPLIED: ErrorCode.none,
    Refusal.DOES_NOT_LEAD: ErrorCode.not_leader_or_follower,
    Refusal.NOT_ENOUGH_REPLICAS: ErrorCode.not_enough_replicas,
    Refusal.OUT_OF_ORDER_SEQUENCE: ErrorCode.out_of_order_sequence_number,
    Refusal.LOG_IS_FULL: ErrorCode.policy_violation,
    Refusal.RECORDS_BOUND: ErrorCode.policy_violation,
}


def epoch_error(p: Partition, r: int, epoch: int) -> ErrorCode:
    """Return the error for the leader epoch of a request to broker r (KIP-320, Partition.checkCurrentLeaderEpoch).

    The result is `none` if r knows the same leader epoch, or if `epoch` is -1 (a request without a leader epoch).
    """
    if epoch == NO_EPOCH or epoch == p.known_epoch[r]:
        return ErrorCode.none
    return ErrorCode.fenced_leader_epoch if epoch < p.known_epoch[r] else ErrorCode.unknown_leader_epoch


def leader_error(p: Partition, r: int, epoch: int) -> ErrorCode:
    """Return the error for a request that only a leader handles, or `none`. Kafka checks the leader epoch first."""
    code = epoch_error(p, r, epoch)
    if code is ErrorCode.none and not presumes_leadership(p, r):
        return ErrorCode.not_leader_or_follower
    return code
