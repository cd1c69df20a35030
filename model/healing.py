"""Healing: all faults stop, every replica returns, every decision is delivered, and followers fetch until it is quiet.

Only after that can logs be asked to agree, whatever went before: the `convergence` property.
"""

from model import controller, faults, leadership, replication
from model.state import EPOCHS, NONE, State


def heal(p: State) -> None:
    """Bring a partition to rest. A leaderless one first gets a leader from its ISR, as a controller would choose."""
    for r in range(p.replicas):
        faults.restart(p, r)
    if controller.leader(p) == NONE:
        for r in range(p.replicas):
            if controller.leader(p) == NONE and controller.isr(p) >> r & 1:
                controller.decide(p, r, controller.isr(p))
    for r in range(p.replicas):
        while leadership.notify(p, r):
            pass
    # Truncation asks once an epoch at most, then each round brings a record, and the last two the high watermark.
    for _ in range(3 * EPOCHS):
        if not fetch_round(p):
            return


def fetch_round(p: State) -> bool:
    """Every follower receives, fetches and receives. False: that changed no log, epoch cache, phase or HW."""
    changed = False
    for r in range(p.replicas):
        log_record, high_watermark = p.log_record[r], p.high_watermark[r]
        leo, phase, cache_size = p.leo[r], p.phase[r], p.cache_size[r]
        replication.receive(p, r)
        replication.fetch(p, r)
        replication.receive(p, r)
        changed |= log_record != p.log_record[r] or high_watermark != p.high_watermark[r]
        changed |= leo != p.leo[r] or phase != p.phase[r] or cache_size != p.cache_size[r]
    return changed


def has_converged(p: State) -> bool:
    """Whether all logs and high watermarks are equal, as they must be after `heal`."""
    for r in range(1, p.replicas):
        if p.leo[r] != p.leo[0] or p.high_watermark[r] != p.high_watermark[0]:
            return False
        if p.log_record[r] != p.log_record[0] or p.log_epoch[r] != p.log_epoch[0]:
            return False
    return True
