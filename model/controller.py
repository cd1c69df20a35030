"""The controller: it decides leader, leader epoch and ISR, and keeps every decision by epoch.

Replicas learn of decisions one at a time (`notify`) or by skipping to the latest (`catch_up`), see leadership.py.
"""

from epochfuzz.model.goals import Goal
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
    """r is in the ISR, which stays as it is."""
    decide(p, r, isr(p))
    return APPLIED


def elect_uncleanly(p: State, r: int) -> int:
    """r is not in the ISR, of which nobody is up: r alone is in the new one."""
    if not p.unclean_leader_election:
        return Refusal.UNCLEAN_ELECTION_OFF
    if any_up(p, isr(p)):
        return Refusal.ISR_HAS_LIVE_MEMBER
    decide(p, r, 1 << r)
    p.goals |= Goal.ELECTED_UNCLEANLY
    return APPLIED


def expire(p: State, r: int) -> int:
    """r's session with the controller expires, though r may live on as a zombie: it loses leadership and the ISR."""
    if p.controller_epoch >= p.epochs:
        return Refusal.EPOCHS_BOUND
    members = isr(p)
    leads = r == leader(p)
    remaining = members & ~(1 << r)
    if not leads:
        if remaining == members:
            return Refusal.NEITHER_LEADS_NOR_IN_ISR
        if remaining == 0:
            return Refusal.LAST_MEMBER
    decide(p, NONE if leads else leader(p), remaining if remaining != 0 else members)
    return APPLIED


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


def any_up(p: State, members: int) -> bool:
    """Whether any replica of a set is up."""
    for r in range(p.replicas):
        if p.up[r] and members >> r & 1:
            return True
    return False
