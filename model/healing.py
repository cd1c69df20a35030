"""Healing: all faults stop, every replica returns, every decision is delivered, and followers fetch until it is quiet.

Only after that can logs be asked to agree, whatever went before: the `convergence` property.
"""

from epochfuzz.model import controller, leadership, processes, replication
from epochfuzz.model.mechanisms import Registration
from epochfuzz.model.refusals import APPLIED
from epochfuzz.model.state import EPOCHS, NONE, Phase, State


def heal(p: State) -> None:
    """Bring a partition to rest. A leaderless one first gets a leader from its ISR, as a controller would choose."""
    if p.registration == Registration.FENCED:
        fence_the_dead(p)
    for r in range(p.replicas):
        if not p.up[r]:
            processes.start(p, r)
    if controller.leader(p) == NONE:
        for r in range(p.replicas):
            if controller.leader(p) == NONE and controller.isr(p) >> r & 1:
                controller.decide(p, r, controller.isr(p))
    for r in range(p.replicas):
        while leadership.notify(p, r) == APPLIED:
            pass
    # A follower truncates at most once an epoch, then each round brings a record, and two more the high watermark.
    for _ in range(3 * EPOCHS):
        if has_converged(p):
            return
        fetch_round(p)


def fence_the_dead(p: State) -> None:
    """In one decision, so that there is room for it: who is down leaves the ISR, but for its last member."""
    members = controller.isr(p)
    for r in range(p.replicas):
        if not p.up[r] and members & ~(1 << r) != 0:
            members &= ~(1 << r)
    leader = controller.leader(p)
    if leader != NONE and not p.up[leader]:
        controller.decide(p, NONE, members)
    elif members != controller.isr(p):
        controller.decide(p, leader, members)


def fetch_round(p: State) -> None:
    """Every follower receives what is in flight, fetches and receives."""
    for r in range(p.replicas):
        replication.receive(p, r)
        replication.fetch(p, r)
        replication.receive(p, r)


def has_converged(p: State) -> bool:
    """Whether all live logs and high watermarks are equal, as they must be after `heal`, and none is still to be cut.

    A follower whose process ended for good meanwhile, see `out_of_range`, has no live log.
    """
    live = NONE
    for r in range(p.replicas):
        if p.up[r]:
            if p.phase[r] != Phase.FETCHING or (live != NONE and not is_equal(p, r, live)):
                return False
            live = r
    return True


def is_equal(p: State, r: int, other: int) -> bool:
    """Whether two replicas have the same log and high watermark."""
    if p.leo[r] != p.leo[other] or p.high_watermark[r] != p.high_watermark[other]:
        return False
    return bool(p.log_record[r] == p.log_record[other] and p.log_epoch[r] == p.log_epoch[other])
