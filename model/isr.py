"""In-sync replicas: the true leader shrinks the ISR when a follower lags, and expands it when one has caught up.

Neither changes the leader epoch; the controller's current decision carries the ISR as changed.
"""

from epochfuzz.model import controller, goals, high_watermark
from epochfuzz.model.protocols import EXPAND_AT_EPOCH_START, FENCING_EPOCH
from epochfuzz.model.state import FETCHING, NONE, State


def shrink(p: State, r: int) -> bool:
    """The true leader sees r lag behind its LEO for too long (`replica.lag.time.max.ms`): r leaves the ISR."""
    leader = controller.true_leader(p)
    if leader == NONE or leader == r or not p.isr[leader] >> r & 1:
        return False
    if high_watermark.replication_position(p, leader, r) >= p.leo[leader]:
        return False
    change(p, leader, p.isr[leader] & ~(1 << r))
    high_watermark.advance_leader(p, leader)
    p.goals |= goals.ISR_SHRANK
    return True


def expand(p: State, r: int) -> bool:
    """The true leader sees r fetch and caught up: r joins the ISR."""
    leader = controller.true_leader(p)
    if leader == NONE or leader == r or p.isr[leader] >> r & 1:
        return False
    if p.known_leader[r] != leader or p.phase[r] != FETCHING:
        return False
    if p.fencing == FENCING_EPOCH and p.known_epoch[r] != p.known_epoch[leader]:
        return False
    if not is_caught_up(p, leader, r):
        return False
    change(p, leader, p.isr[leader] | 1 << r)
    p.goals |= goals.ISR_GREW
    return True


def is_caught_up(p: State, leader: int, r: int) -> bool:
    """At the leader's high watermark; since KAFKA-7128 also at the start of the leader's own epoch.

    A leader sees nothing of a replica that has not fetched from it, be its high watermark 0.
    """
    if p.remote_leo[leader, r] == NONE or p.remote_leo[leader, r] < p.high_watermark[leader]:
        return False
    return p.isr_expansion != EXPAND_AT_EPOCH_START or p.remote_leo[leader, r] >= p.epoch_start[leader]


def change(p: State, leader: int, members: int) -> None:
    """The leader's ISR and the controller's current decision change together."""
    p.isr[leader] = members
    p.decided_isr[p.controller_epoch] = members
