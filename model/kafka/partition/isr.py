"""In-sync replicas: the leader removes a lagging replica from the ISR, and adds a replica that has caught up.

A change of the ISR keeps the leader epoch, except that a removal opens a new leader epoch in KRaft 3.3 to 3.5
(in_force.shrinking_opens_epoch). Up to Kafka 2.6 the leader makes the change itself, by a conditional write to
ZooKeeper. Since KIP-497 the leader sends a request, see alter_partition.py. Only the leader that knows the controller's
current epoch can change the ISR.
"""

from epochfuzz.model.kafka.controller import controller, leader_metadata
from epochfuzz.model.kafka.partition import alter_partition, high_watermark
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import (
    evaluates_at_every_fetch,
    leaders_check_eligibility,
    tracks_partition_epoch,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import (
    DivergingFetch,
    Fencing,
    IsrAnswer,
    IsrChange,
    IsrEligibility,
    IsrExpansion,
)
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Phase, State


def shrink(p: State, r: int) -> int:
    """Remove r from the leader's ISR, because r has lagged for too long (`replica.lag.time.max.ms`).

    Since KIP-497 the leader only proposes the change. Returns APPLIED for a proposal too, or a Refusal.
    """
    leader = controller.true_leader(p)
    return shrink_by(p, leader, r) if leader != NONE else Refusal.NO_TRUE_LEADER


def shrink_by(p: State, leader: int, r: int) -> int:
    """Remove r from the leader's ISR. Since KIP-497 the leader only proposes the change.

    Returns APPLIED, or a Refusal.
    """
    if leader == r:
        return Refusal.LEADS
    if not p.isr[leader] >> r & 1:
        return Refusal.NOT_IN_ISR
    if high_watermark.replication_position(p, leader, r) >= p.leo[leader] and not is_beyond_log(p, leader, r):
        return Refusal.DOES_NOT_LAG
    if p.lag_time and p.caught_up[leader] >> r & 1:
        return Refusal.CAUGHT_UP_WITHIN_LAG_TIME
    refusal = change(p, leader, p.isr[leader] & ~(1 << r))
    if refusal == APPLIED:
        note_shrunk(p, leader)
    return refusal


def is_beyond_log(p: State, leader: int, r: int) -> bool:
    """Return whether the leader knows a LEO of r that is beyond the end of the leader's own log.

    The leader considers such a replica out of sync: Partition.isFollowerOutOfSync compares the two LEOs for equality.
    The LEO of r can be beyond the log only after a diverging fetch whose offset the leader stored (KAFKA-13141).
    """
    if p.diverging_fetch != DivergingFetch.COUNTED:
        return False
    return high_watermark.replication_position(p, leader, r) > p.leo[leader]


def note_shrunk(p: State, leader: int) -> None:
    """Let the leader raise its HW after it has removed a replica from its ISR, or has only proposed the removal.

    From KIP-497 up to 3.0 the proposal is enough. Since 3.1 this function does nothing after a proposal, because the
    leader raises its HW when the response to the proposal arrives (alter_partition.take_isr).
    """
    if p.isr_change == IsrChange.ATOMIC:
        p.goals |= Goal.ISR_SHRANK
    if p.isr_change == IsrChange.ATOMIC or p.isr_answer == IsrAnswer.HIGH_WATERMARK_KEPT:
        high_watermark.advance_leader(p, leader)


def expand(p: State, r: int) -> int:
    """Add r to the leader's ISR, because r has caught up.

    Since KIP-497 the leader only proposes the change. Returns APPLIED for a proposal too, or a Refusal.
    """
    leader = controller.true_leader(p)
    return expand_by(p, leader, r) if leader != NONE else Refusal.NO_TRUE_LEADER


def expand_by(p: State, leader: int, r: int) -> int:
    """Add r to the leader's ISR. Since KIP-497 the leader only proposes the change. Returns APPLIED, or a Refusal."""
    if leader == r:
        return Refusal.LEADS
    if p.isr[leader] >> r & 1:
        return Refusal.IN_ISR
    refusal = why_not_caught_up(p, leader, r) if p.fencing == Fencing.EPOCH else why_not_fetching(p, leader, r)
    if refusal == APPLIED:
        refusal = why_not_eligible(p, leader, r)
    if refusal == APPLIED:
        refusal = change(p, leader, p.isr[leader] | 1 << r)
    if refusal == APPLIED and p.isr_change == IsrChange.ATOMIC:
        p.goals |= Goal.ISR_GREW
    if refusal == APPLIED and evaluates_at_every_fetch(p):
        high_watermark.advance_leader(p, leader)  # Kafka calls maybeExpandIsr within the fetch that lets r join
    return refusal


def why_not_fetching(p: State, leader: int, r: int) -> int:
    """Return why r may not join the ISR, according to releases before KIP-320, or APPLIED if it may.

    r must fetch from the leader and be caught up. Since KIP-320 the leader instead rejects fetches of other epochs, and
    checks only the LEO that it has stored (Partition.maybeExpandIsr). With KIP-320, a replica that is down or
    truncating can therefore join.
    """
    if p.known_leader[r] != leader:
        return Refusal.FOLLOWS_ANOTHER
    if p.phase[r] != Phase.FETCHING:
        return Refusal.IS_TRUNCATING
    return why_not_caught_up(p, leader, r)


def why_not_caught_up(p: State, leader: int, r: int) -> int:
    """Return why the leader does not consider r caught up, or APPLIED if it does.

    r must have fetched from the leader in the current epoch, at the leader's high watermark or beyond. Since KAFKA-7128
    the fetch must also reach the start of the leader's epoch.
    """
    if not high_watermark.has_fetched(p, leader, r):
        return Refusal.HAS_NOT_FETCHED
    seen_at = p.remote_leos[leader, r]
    if seen_at < p.high_watermark[leader]:
        return Refusal.BELOW_HIGH_WATERMARK
    if p.isr_expansion == IsrExpansion.EPOCH_START and seen_at < p.epoch_start[leader]:
        return Refusal.BELOW_EPOCH_START
    return APPLIED


def why_not_eligible(p: State, leader: int, r: int) -> int:
    """Return why r may not join the ISR although it has caught up, or APPLIED if it may.

    Since 3.3 a KRaft leader decides by its own metadata (leader_metadata.py). In older releases with AlterPartition
    requests, the leader leaves the decision to the controller.
    """
    if leaders_check_eligibility(p):
        return leader_metadata.why_not_eligible(p, leader, r)
    if p.isr_change == IsrChange.REQUEST or p.isr_eligibility == IsrEligibility.UNCHECKED:
        return APPLIED
    if not p.up[r]:
        return Refusal.IS_DOWN
    if not controller.takes_for_alive(p, r):
        return Refusal.IS_FENCED
    if p.isr_eligibility >= IsrEligibility.INCARNATION_RACY and p.remote_stale[leader] >> r & 1:
        p.goals |= Goal.STALE_INCARNATION_REFUSED
        return Refusal.HAS_RESTARTED
    return APPLIED


def change(p: State, leader: int, members: int) -> int:
    """Change the leader's ISR to `members`. Since KIP-497 the leader only proposes the change.

    Returns APPLIED, or a Refusal if another change is pending or the leader does not know the current partition epoch.
    """
    if p.isr_change == IsrChange.REQUEST:
        refusal = alter_partition.why_not_proposed(p, leader)
        if refusal == APPLIED:
            alter_partition.propose(p, leader, members)
        return refusal
    if tracks_partition_epoch(p) and not p.isr_current[leader]:
        return Refusal.INVALID_UPDATE_VERSION
    write(p, leader, members)
    return APPLIED


def write(p: State, leader: int, members: int) -> None:
    """Change the leader's ISR, and the ISR in the controller's current leader-and-ISR update, to `members`."""
    alter_partition.note_joining(p, leader, members & ~p.isr[leader])
    p.isr[leader] = members
    controller.change_isr(p, members)
    p.isr_current[leader] = 1 if tracks_partition_epoch(p) else 0
