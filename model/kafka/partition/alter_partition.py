"""AlterPartition (KIP-497): a leader changes the ISR by a request to the controller, not by a write to ZooKeeper.

The change is pending until the controller responds. Until then the leader's high watermark waits for the members of
both the old and the proposed ISR (high_watermark.py). A broker has one request in flight at a time, and sends this
request again until the broker gets a response. Some responses leave the change pending until the leader learns the ISR
from metadata. Kafka's code for this is Partition.submitAlterPartition, handleAlterPartitionUpdate and
handleAlterPartitionError, and DefaultAlterPartitionManager.
"""

from epochfuzz.model.kafka.controller import broker_epochs, controller
from epochfuzz.model.kafka.partition import high_watermark
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import (
    has_heartbeats,
    reads_isr_twice,
    requests_isr_changes,
    requests_may_fail,
    shrinking_opens_epoch,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import (
    EffectiveIsr,
    IsrAnswer,
    IsrDuplicate,
    IsrEligibility,
    IsrError,
    IsrQueue,
    IsrRefresh,
    IsrVersion,
    StaleController,
)
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import Alter, State


def why_not_proposed(p: State, leader: int) -> int:
    """Return why the leader may not propose a change of the ISR now, or APPLIED if it may.

    A pending change or a request in flight prevents the proposal. With IsrQueue.CLEARED_BY_NEWS (Kafka 2.7
    and 2.8) a metadata update clears the pending change. The leader may then propose another change while its old
    request is in flight, but sends no request for the new change (KAFKA-12686).
    """
    if p.pending_isr[leader] != 0:
        return Refusal.ISR_CHANGE_PENDING
    if p.alter[leader] == Alter.NOTHING or (p.isr_queue == IsrQueue.CLEARED_BY_NEWS and not p.alter_mine[leader]):
        return APPLIED
    return Refusal.REQUEST_UNDER_WAY


def propose(p: State, leader: int, members: int) -> None:
    """Let the leader propose `members` as the ISR, and send an AlterPartition request.

    The leader sends no request if its previous request is still in flight.
    """
    p.pending_isr[leader] = members
    if p.alter[leader] == Alter.NOTHING:
        p.alter[leader] = Alter.REQUEST
        p.alter_isr[leader] = members
        p.alter_current[leader] = p.isr_current[leader]
        p.alter_mine[leader] = 1
        p.alter_stale[leader] = p.remote_stale[leader] & members & ~p.isr[leader]
    if p.effective_isr == EffectiveIsr.PROPOSED:
        high_watermark.advance_leader(p, leader)


def alter(p: State, r: int) -> int:
    """Let the controller handle r's AlterPartition request. Returns APPLIED, or a Refusal."""
    if not requests_isr_changes(p):
        return Refusal.DOES_NOT_HAPPEN
    if p.alter[r] != Alter.REQUEST:
        return Refusal.NO_REQUEST_UNDER_WAY
    if p.isr_version == IsrVersion.CHECKED and not p.alter_current[r]:
        answer_outdated(p, r)
    elif not are_eligible(p, r):
        p.alter[r] = Alter.REVERTED
        p.goals |= Goal.ISR_REQUEST_REVERTED
    elif opens_epoch(p, r):
        if p.controller_epoch >= p.epochs:
            return Refusal.EPOCHS_BOUND
        take_out_of_isr(p, r)
    else:
        change_isr(p, r)
    return APPLIED


def answer_outdated(p: State, r: int) -> None:
    """Reject r's AlterPartition request, because its partition epoch is outdated.

    A ZooKeeper controller responds with success instead, if the controller's ISR already equals the proposal.
    """
    if p.isr_duplicate == IsrDuplicate.ANSWERED and is_made_already(p, r):
        p.alter[r] = Alter.APPLIED
        p.alter_current[r] = 1
    else:
        p.alter[r] = Alter.REFUSED
        p.goals |= Goal.ISR_REQUEST_REFUSED


def is_made_already(p: State, r: int) -> bool:
    """Return whether the controller's ISR already equals r's proposal, and r leads the current epoch."""
    return controller.true_leader(p) == r and p.alter_isr[r] == controller.isr(p)


def are_eligible(p: State, r: int) -> bool:
    """Return whether the controller accepts every member of the ISR that r proposes (KIP-841, KIP-903)."""
    members = p.alter_isr[r]
    if p.isr_eligibility >= IsrEligibility.ALIVE and controller.taken_for_alive(p, members) != members:
        return False
    if p.isr_eligibility >= IsrEligibility.INCARNATION_RACY and p.alter_stale[r] != 0:
        p.goals |= Goal.STALE_INCARNATION_REFUSED
        return False
    return True


def change_isr(p: State, r: int) -> None:
    """Change the controller's ISR to the ISR that r proposes."""
    members = p.alter_isr[r]
    added = members & ~controller.isr(p)
    note_joining(p, r, added)
    p.goals |= Goal.ISR_GREW if added != 0 else Goal.ISR_SHRANK
    controller.change_isr(p, members)
    p.alter[r] = Alter.APPLIED
    p.alter_current[r] = 1


def opens_epoch(p: State, r: int) -> bool:
    """Return whether r's proposal removes a member from the ISR and so opens a new leader epoch (KRaft 3.3 to 3.5)."""
    return shrinking_opens_epoch(p) and controller.isr(p) & ~p.alter_isr[r] != 0


def take_out_of_isr(p: State, r: int) -> None:
    """Change the controller's ISR to the ISR that r proposes, and open a new leader epoch with r as leader.

    The response names the new epoch, and r ignores the response (Partition.handleAlterPartitionUpdate). r learns the
    new epoch from metadata, either before or after the response arrives.
    """
    p.goals |= Goal.ISR_SHRANK
    controller.decide(p, r, p.alter_isr[r])
    p.alter[r] = Alter.NEW_EPOCH


def note_joining(p: State, leader: int, joining: int) -> None:
    """Set `joined_incomplete` if a replica in `joining` lacks a record below the proposing leader's high watermark.

    The function skips a KRaft broker that is dead or not registered, and not fenced yet. The controller removes such a
    broker from the ISR before the broker registers again. Under protocols without eligible leader replicas
    (KIP-966), the controller keeps the last member of the ISR. This function skips this member too. Only the properties
    no-committed-loss and no-acked-loss then report the lost record.
    """
    for r in range(p.replicas):
        if has_heartbeats(p) and broker_epochs.is_away(p, r) and not p.fenced >> r & 1:
            continue
        if joining >> r & 1 and log.lacks(p, r, leader, min(p.high_watermark[leader], p.leo[leader])):
            p.joined_incomplete = 1


def altered(p: State, r: int) -> int:
    """Let r receive the response to its AlterPartition request. Returns APPLIED, or a Refusal."""
    if not requests_isr_changes(p):
        return Refusal.DOES_NOT_HAPPEN
    answer = p.alter[r]
    if answer == Alter.NOTHING or answer == Alter.REQUEST:
        return Refusal.NO_ANSWER_UNDER_WAY
    if not p.alter_mine[r]:
        p.goals |= Goal.ISR_ANSWERED_LATE
    elif answer == Alter.APPLIED:
        take_isr(p, r)
    elif answer == Alter.REVERTED:
        take_back_proposal(p, r)
    forget_request(p, r)
    return APPLIED


def take_isr(p: State, leader: int) -> None:
    """Replace the leader's ISR with its proposed ISR (Partition.handleAlterPartitionUpdate)."""
    p.isr[leader] = p.alter_isr[leader]
    if not p.lag_time:
        p.caught_up[leader] &= ~p.isr[leader]
    if reads_isr_twice(p):
        p.unread_isr[leader] = p.alter_current[leader]
    p.isr_current[leader] = p.alter_current[leader]
    p.pending_isr[leader] = 0
    if p.isr_answer != IsrAnswer.HIGH_WATERMARK_KEPT:
        high_watermark.advance_leader(p, leader)


def take_back_proposal(p: State, leader: int) -> None:
    """Withdraw the leader's proposal after an error such as INELIGIBLE_REPLICA (up to 3.2: OPERATION_NOT_ATTEMPTED)."""
    p.pending_isr[leader] = 0
    if p.isr_answer == IsrAnswer.ADVANCED:
        high_watermark.advance_leader(p, leader)


def resend(p: State, r: int) -> int:
    """Lose the response to r's AlterPartition request. r sends the request again. Returns APPLIED, or a Refusal."""
    if not requests_isr_changes(p):
        return Refusal.DOES_NOT_HAPPEN
    answer = p.alter[r]
    if answer == Alter.NOTHING or answer == Alter.REQUEST:
        return Refusal.NO_ANSWER_UNDER_WAY
    if answer == Alter.APPLIED:
        p.alter_current[r] = 0
    p.alter[r] = Alter.REQUEST
    return APPLIED


def refuse(p: State, r: int) -> int:
    """Let a controller that is no longer active reject r's AlterPartition request. Returns APPLIED, or a Refusal.

    In KRaft the error is FENCED_LEADER_EPOCH, and the leader does not send the request again (KAFKA-14154). A ZooKeeper
    controller whose session has expired responds UNKNOWN_SERVER_ERROR. The leader then submits the request again. But
    AlterIsrManager drops this second request, because it removes the first request only after the callback
    (KAFKA-14010). Up to 3.0 the change of the ISR then stays pending (Partition.sendAlterIsrRequest). From 3.1.0 to
    3.2.0 the leader withdraws the change (Partition.submitAlterIsr).
    """
    if not requests_may_fail(p):
        return Refusal.DOES_NOT_HAPPEN
    if p.alter[r] != Alter.REQUEST:
        return Refusal.NO_REQUEST_UNDER_WAY
    if p.stale_controller != StaleController.FINAL and p.isr_error == IsrError.TAKEN_BACK:
        p.alter[r] = Alter.REVERTED
        p.goals |= Goal.ISR_REQUEST_REVERTED
    else:
        p.alter[r] = Alter.REFUSED
        p.goals |= Goal.ISR_REQUEST_REFUSED
    return APPLIED


def waits_in_vain(p: State, leader: int) -> bool:
    """Return whether the leader's pending change of the ISR stays pending forever: no response or update can end it.

    The caller must check that a change is pending.
    """
    if p.alter[leader] != Alter.NOTHING and p.alter_mine[leader]:
        return False
    knows_decision = p.known_epoch[leader] == p.controller_epoch
    return knows_decision and (p.isr_refresh == IsrRefresh.NONE or p.isr_current[leader] != 0)


def forget_proposal(p: State, r: int) -> None:
    """Clear r's pending change of the ISR, so that r ignores a later response to this change."""
    p.pending_isr[r] = 0
    p.alter_mine[r] = 0


def forget_request(p: State, r: int) -> None:
    """Clear r's AlterPartition request or the response to this request."""
    # All fields of the request are cleared, so that states without a request are equal.
    p.alter[r] = Alter.NOTHING
    p.alter_isr[r] = 0
    p.alter_current[r] = 0
    p.alter_mine[r] = 0
    p.alter_stale[r] = 0
