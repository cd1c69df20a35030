"""Healing: all faults stop, every replica returns, every decision is delivered, and followers fetch until it is quiet.

Only after that can logs be asked to agree, whatever went before: the `convergence` property.
"""

from epochfuzz.model import controller, faults, leadership, replication
from epochfuzz.model.refusals import APPLIED
from epochfuzz.model.state import EPOCHS, NONE, Phase, State


def heal(p: State) -> None:
    """Bring a partition to rest. A leaderless one first gets a leader from its ISR, as a controller would choose."""
    for r in range(p.replicas):
        faults.restart(p, r)
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


def fetch_round(p: State) -> None:
    """Every follower receives what is in flight, fetches and receives."""
    for r in range(p.replicas):
        replication.receive(p, r)
        replication.fetch(p, r)
        replication.receive(p, r)


def has_converged(p: State) -> bool:
    """Whether all logs and high watermarks are equal, as they must be after `heal`, and none is still to be cut."""
    for r in range(p.replicas):
        if p.phase[r] != Phase.FETCHING:
            return False
    for r in range(1, p.replicas):
        if p.leo[r] != p.leo[0] or p.high_watermark[r] != p.high_watermark[0]:
            return False
        if p.log_record[r] != p.log_record[0] or p.log_epoch[r] != p.log_epoch[0]:
            return False
    return True
