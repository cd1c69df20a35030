"""The controller: it decides the leader, the leader epoch and the ISR, and keeps one update for each leader epoch.

Replicas learn the updates one at a time (the event `notify`), or skip to the latest (`catch_up`); see leadership.py.
"""

from epochfuzz.model.kafka.controller import broker_epochs, eligible_leaders, leader_metadata
from epochfuzz.model.kafka.history import promises
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import (
    falls_back_to_last_known_leader,
    has_heartbeats,
    keeps_metadata_of_stale_leaders,
    leaders_check_eligibility,
    tracks_eligible_leaders,
    tracks_partition_epoch,
)
from epochfuzz.model.kafka.vocabulary.mechanisms import FollowerFenceEpoch, LastKnownLeader, Leaderless
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, State


def elect(p: State, r: int) -> int:
    """Elect r as the leader.

    A live member of the ISR can be elected, unless it is fenced. If the ISR is empty, an eligible leader replica or the
    last known leader can be elected too (KIP-966). Any other live replica needs an unclean election.
    """
    if p.controller_epoch >= p.epochs:
        return Refusal.EPOCHS_BOUND
    if not takes_for_alive(p, r) and not (p.last_known_leader == LastKnownLeader.UNCHECKED and is_last_known(p, r)):
        if broker_epochs.is_unregistered(p, r):
            return Refusal.IS_NOT_REGISTERED
        return Refusal.IS_FENCED if p.up[r] else Refusal.IS_DOWN
    if r == leader(p):
        return Refusal.IS_LEADER
    if isr(p) >> r & 1:
        return elect_member(p, r)
    if replaces_isr(p, r):
        return elect_without_isr(p, r)
    return elect_uncleanly(p, r)


def elect_member(p: State, r: int) -> int:
    """Elect r, a member of the ISR.

    If the partition has no leader or its leader is down, ZooKeeper's controller also removes all dead members from the
    ISR (PartitionStateMachine.leaderForOffline, Kafka 2.0.0). If the current leader is up, this is a preferred
    election, which keeps the ISR (leaderForPreferredReplica). A KRaft controller keeps the ISR in both cases.
    """
    fails_over = leader(p) == NONE or not p.up[leader(p)]
    decide(p, r, live(p, isr(p)) if fails_over and p.leaderless == Leaderless.IGNORED else isr(p))
    return APPLIED


def elect_without_isr(p: State, r: int) -> int:
    """Elect r although the ISR is empty. r is an eligible leader replica or the last known leader (KIP-966).

    If no eligible leader replica is left, KIP-966 elects the last known leader instead of comparing logs
    (PartitionChangeBuilder, 4.0).
    """
    if p.elr >> r & 1:
        p.goals |= Goal.ELIGIBLE_REPLICA_ELECTED
    else:
        p.goals |= Goal.LAST_KNOWN_LEADER_ELECTED
        promises.note_unclean_recovery(p)
    decide(p, r, 1 << r)
    return APPLIED


def replaces_isr(p: State, r: int) -> bool:
    """Return whether the ISR is empty, and r is an eligible leader replica or the last known leader."""
    return isr(p) == 0 and (p.elr >> r & 1 != 0 or is_last_known(p, r))


def is_last_known(p: State, r: int) -> bool:
    """Return whether r is the last known leader, and the ISR and the eligible leader replicas are empty."""
    return falls_back_to_last_known_leader(p) and isr(p) == 0 and p.elr == 0 and p.last_leader == r


def elect_uncleanly(p: State, r: int) -> int:
    """Elect r, which is outside the ISR. The new ISR is r alone.

    The setting `unclean_leader_election` must be on. No ISR member or eligible leader replica may be left to elect.
    """
    if not p.unclean_leader_election:
        return Refusal.UNCLEAN_ELECTION_OFF
    if candidates(p) != 0:
        return Refusal.ISR_HAS_LIVE_MEMBER
    decide(p, r, 1 << r)
    p.elr = 0
    p.goals |= Goal.ELECTED_UNCLEANLY
    return APPLIED


def expire(p: State, r: int) -> int:
    """End r's session with the controller: r loses leadership and its place in the ISR.

    The last member stays in the ISR, except with eligible leader replicas (KIP-966). r may be alive, and continue as a
    stale leader ("zombie"). A KRaft controller also fences r, even if r neither leads nor is in the ISR.
    """
    if has_heartbeats(p) and p.fenced >> r & 1:
        return Refusal.IS_FENCED
    refusal = why_not_expired(p, r)
    if refusal == APPLIED:
        if not may_end_session(p, r):
            return Refusal.EPOCHS_BOUND
        end_session(p, r)
    elif not has_heartbeats(p):
        return refusal
    if has_heartbeats(p):
        p.fenced |= 1 << r
    return APPLIED


def may_end_session(p: State, r: int) -> bool:
    """Return whether the bound on leader epochs allows r's session to end."""
    return p.controller_epoch < p.epochs or not takes_an_epoch(p, r)


def takes_an_epoch(p: State, r: int) -> bool:
    """Return whether the end of r's session opens a new leader epoch.

    Since KAFKA-15021 (3.6) the controller opens a new leader epoch only if r leads.
    """
    return p.follower_fence_epoch == FollowerFenceEpoch.BUMPED or r == leader(p)


def why_not_expired(p: State, r: int) -> int:
    """Return why the end of r's session would change nothing, or APPLIED if it changes the leader or the ISR.

    The end of the session changes nothing if r does not lead, and is outside the ISR or is the last member of the ISR.
    With eligible leader replicas (KIP-966) the last member leaves the ISR too, and becomes eligible.
    """
    if r == leader(p):
        return APPLIED
    remaining = isr(p) & ~(1 << r)
    if remaining == isr(p):
        return Refusal.NEITHER_LEADS_NOR_IN_ISR
    return Refusal.LAST_MEMBER if remaining == 0 and not tracks_eligible_leaders(p) else APPLIED


def end_session(p: State, r: int) -> None:
    """Take leadership from r, and remove r from the ISR.

    The last member stays in the ISR, except with eligible leader replicas (KIP-966).
    """
    remaining = isr(p) & ~(1 << r)
    if remaining == 0 and not tracks_eligible_leaders(p):
        remaining = isr(p)
    if not takes_an_epoch(p, r):
        change_isr(p, remaining)
    elif r == leader(p):
        end_leadership(p, r, remaining)
    else:
        decide(p, leader(p), remaining)


def end_leadership(p: State, r: int, members: int) -> None:
    """End r's leadership, and leave the partition without a leader, with `members` as the ISR.

    r becomes the last known leader. Kafka's code for this is PartitionChangeBuilder, 4.1.1.
    """
    decide(p, NONE, members)
    p.last_leader = r
    if members == 0:
        p.goals |= Goal.ISR_WAS_EMPTY


def decide(p: State, new_leader: int, members: int) -> None:
    """Make a leader-and-ISR update (LeaderAndIsr) with a new leader epoch.

    The leader is `new_leader` (NONE: no leader), and the ISR is `members`.
    """
    eligible_leaders.follow_isr(p, isr(p), members)
    open_epoch(p, new_leader, members)
    begin_partition_epoch(p)


def open_epoch(p: State, new_leader: int, members: int) -> None:
    """Open the next leader epoch, with `new_leader` as its leader (or NONE) and `members` as its ISR.

    No replica has learned the new epoch yet.
    """
    p.controller_epoch += 1
    p.decided_leader[p.controller_epoch] = new_leader
    p.decided_isr[p.controller_epoch] = members
    if new_leader != NONE:
        p.last_leader = NONE
    if keeps_metadata_of_stale_leaders(p):
        p.decided_fenced[p.controller_epoch - 1] = p.fenced
    elif leaders_check_eligibility(p):
        for r in range(p.replicas):
            leader_metadata.forget(p, r)


def change_isr(p: State, members: int) -> None:
    """Change the ISR in the current leader-and-ISR update, and keep the leader and the leader epoch."""
    eligible_leaders.follow_isr(p, isr(p), members)
    p.decided_isr[p.controller_epoch] = members
    begin_partition_epoch(p)


def begin_partition_epoch(p: State) -> None:
    """Begin a new partition epoch: the ISR that each leader knows, and each ISR change in flight, become outdated."""
    if tracks_partition_epoch(p):
        for r in range(p.replicas):
            p.isr_current[r] = 0
            p.alter_current[r] = 0


def forget_superseded(p: State) -> None:
    """Clear the updates that no replica can learn any more, so that searches treat more states as equal."""
    oldest = p.controller_epoch
    for r in range(p.replicas):
        if not broker_epochs.is_away(p, r):
            oldest = min(oldest, p.known_epoch[r] + 1)
    for epoch in range(oldest):
        p.decided_leader[epoch] = NONE
        p.decided_isr[epoch] = 0
        p.decided_fenced[epoch] = 0


def leader(p: State) -> int:
    """Return the leader in the controller's current update, or NONE if the partition has no leader."""
    return p.decided_leader[p.controller_epoch]


def isr(p: State) -> int:
    """Return the ISR in the controller's current update, as a set of replicas."""
    return p.decided_isr[p.controller_epoch]


def true_leader(p: State) -> int:
    """Return the leader in the controller's current update, if this replica is up and knows the update; else NONE."""
    r = leader(p)
    if r != NONE and p.up[r] and p.known_epoch[r] == p.controller_epoch:
        return r
    return NONE


def live(p: State, members: int) -> int:
    """Return the replicas of the set `members` that are up and registered."""
    for r in range(p.replicas):
        if broker_epochs.is_away(p, r):
            members &= ~(1 << r)
    return members


def takes_for_alive(p: State, r: int) -> bool:
    """Return whether r is up, registered and not fenced, so that it may lead and join the ISR."""
    return p.up[r] and not (has_heartbeats(p) and (p.fenced >> r & 1 or broker_epochs.is_unregistered(p, r)))


def taken_for_alive(p: State, members: int) -> int:
    """Return the replicas of the set `members` that the controller considers alive.

    In KRaft these are the replicas whose session has not ended, even if they are down
    (ReplicationControlManager.ineligibleReplicasForIsr).
    """
    return members & ~p.fenced if has_heartbeats(p) else live(p, members)


def electable(p: State, members: int) -> int:
    """Return the replicas of the set `members` that are up and registered, and that the controller considers alive."""
    return live(p, members) & ~p.fenced if has_heartbeats(p) else live(p, members)


def candidates(p: State) -> int:
    """Return the set of ISR members and eligible leader replicas that may lead now without an unclean election.

    They are up, registered and not fenced. The set does not contain the last known leader of KIP-966.
    """
    return electable(p, isr(p) | p.elr if tracks_eligible_leaders(p) else isr(p))


def next_decision(p: State, r: int) -> int:
    """Return the leader epoch of the next update that r can learn, or NONE if r can learn no update.

    Under ZooKeeper a replica ignores an update without a leader (ReplicaManager.becomeLeaderOrFollower, Kafka 2.0.0).
    """
    for epoch in range(p.known_epoch[r] + 1, p.controller_epoch + 1):
        if p.decided_leader[epoch] != NONE or p.leaderless == Leaderless.OBEYED:
            return epoch
    return NONE


def latest_decision(p: State, r: int) -> int:
    """Return the leader epoch of the latest update that r can learn, or NONE if r can learn no update."""
    epoch = p.controller_epoch
    while epoch > p.known_epoch[r]:
        if p.decided_leader[epoch] != NONE or p.leaderless == Leaderless.OBEYED:
            return epoch
        epoch -= 1
    return NONE
