"""The controller: it decides leader, leader epoch and ISR, and keeps every decision by epoch.

Replicas learn of decisions one at a time (`notify`) or by skipping to the latest (`catch_up`), see leadership.py.
"""

from epochfuzz.model.goals import Goal
from epochfuzz.model.mechanisms import Leaderless
from epochfuzz.model.refusals import APPLIED, Refusal
from epochfuzz.model.state import NONE, State


def elect(p: State, r: int) -> int:
    """The controller makes r leader: an ISR member, or any live replica by an unclean election."""
    if p.controller_epoch >= p.epochs:
        return Refusal.EPOCHS_BOUND
    if not p.up[r]:
        return Refusal.IS_DOWN
    if r == leader(p):
        return Refusal.IS_LEADER
    return elect_member(p, r) if isr(p) >> r & 1 else elect_uncleanly(p, r)


def elect_member(p: State, r: int) -> int:
    """r is in the ISR. Where ZooKeeper's controller fails over from a leader that is down, or from none, it takes all
    members that are down out of the ISR in the same decision; a preferred election keeps it as it is.

    PartitionStateMachine.leaderForOffline and leaderForPreferredReplica, Kafka 2.0.0.
    """
    fails_over = leader(p) == NONE or not p.up[leader(p)]
    decide(p, r, live(p, isr(p)) if fails_over and p.leaderless == Leaderless.IGNORED else isr(p))
    return APPLIED


def elect_uncleanly(p: State, r: int) -> int:
    """r is not in the ISR, of which nobody is up: r alone is in the new one."""
    if not p.unclean_leader_election:
        return Refusal.UNCLEAN_ELECTION_OFF
    if live(p, isr(p)) != 0:
        return Refusal.ISR_HAS_LIVE_MEMBER
    decide(p, r, 1 << r)
    p.goals |= Goal.ELECTED_UNCLEANLY
    return APPLIED


def expire(p: State, r: int) -> int:
    """r's session with the controller expires, though r may live on as a zombie: it loses leadership and the ISR."""
    if p.controller_epoch >= p.epochs:
        return Refusal.EPOCHS_BOUND
    refusal = why_not_expired(p, r)
    if refusal == APPLIED:
        end_session(p, r)
    return refusal


def why_not_expired(p: State, r: int) -> int:
    """Whether the end of r's session changes anything: r leads, or is a member of the ISR and not its last one."""
    if r == leader(p):
        return APPLIED
    remaining = isr(p) & ~(1 << r)
    if remaining == isr(p):
        return Refusal.NEITHER_LEADS_NOR_IN_ISR
    return Refusal.LAST_MEMBER if remaining == 0 else APPLIED


def end_session(p: State, r: int) -> None:
    """r leads no more, and leaves the ISR unless it is its last member."""
    remaining = isr(p) & ~(1 << r)
    decide(p, NONE if r == leader(p) else leader(p), remaining if remaining != 0 else isr(p))


def decide(p: State, new_leader: int, members: int) -> None:
    """A LeaderAndIsr decision: it opens the next leader epoch."""
    p.controller_epoch += 1
    p.decided_leader[p.controller_epoch] = new_leader
    p.decided_isr[p.controller_epoch] = members


def forget_superseded(p: State) -> None:
    """Clear the decisions that no replica can learn any more: they distinguish no two states of a search."""
    oldest = p.controller_epoch
    for r in range(p.replicas):
        if p.up[r]:
            oldest = min(oldest, p.known_epoch[r] + 1)
    for epoch in range(oldest):
        p.decided_leader[epoch] = NONE
        p.decided_isr[epoch] = 0


def leader(p: State) -> int:
    """The leader by the current decision, NONE for none."""
    return p.decided_leader[p.controller_epoch]


def isr(p: State) -> int:
    """The ISR by the current decision."""
    return p.decided_isr[p.controller_epoch]


def true_leader(p: State) -> int:
    """The leader that is up and aware of the controller's current epoch; NONE where there is none."""
    r = leader(p)
    if r != NONE and p.up[r] and p.known_epoch[r] == p.controller_epoch:
        return r
    return NONE


def live(p: State, members: int) -> int:
    """The replicas of a set that are up."""
    for r in range(p.replicas):
        if not p.up[r]:
            members &= ~(1 << r)
    return members


def next_decision(p: State, r: int) -> int:
    """The epoch of the next decision that r learns, NONE where there is none.

    A replica of ZooKeeper's time does not act on a decision that names no leader, which is as if it had never learned
    of it (ReplicaManager.becomeLeaderOrFollower, Kafka 2.0.0).
    """
    for epoch in range(p.known_epoch[r] + 1, p.controller_epoch + 1):
        if p.decided_leader[epoch] != NONE or p.leaderless == Leaderless.OBEYED:
            return epoch
    return NONE


def latest_decision(p: State, r: int) -> int:
    """The epoch of the latest decision that r learns, NONE where there is none."""
    epoch = p.controller_epoch
    while epoch > p.known_epoch[r]:
        if p.decided_leader[epoch] != NONE or p.leaderless == Leaderless.OBEYED:
            return epoch
        epoch -= 1
    return NONE
