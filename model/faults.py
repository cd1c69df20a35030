"""Faults: processes die and return, power fails, and what was written to disk decides what a replica wakes up with."""

from epochfuzz.model import goals, leadership, truncation
from epochfuzz.model.state import FETCHING, NONE, State


def crash(p: State, r: int) -> bool:
    """The process dies: what it held in memory is gone, its disk is kept, its HW is what was checkpointed."""
    if not p.up[r]:
        return False
    p.up[r] = 0
    leadership.step_down(p, r)
    p.known_epoch[r] = NONE
    p.known_leader[r] = NONE
    p.phase[r] = FETCHING
    if p.asynchronous_checkpoint:
        if p.checkpointed[r] < p.high_watermark[r]:
            p.goals |= goals.HIGH_WATERMARK_RESTARTED_LOWER
        p.high_watermark[r] = min(p.checkpointed[r], p.leo[r])
    return True


def power_loss(p: State, r: int) -> bool:
    """As a crash, and what was not flushed never reached the disk."""
    if not p.power_loss or not crash(p, r):
        return False
    if p.flushed[r] < p.leo[r]:
        p.goals |= goals.UNFLUSHED_LOST
    truncation.cut(p, r, p.flushed[r])
    return True


def restart(p: State, r: int) -> bool:
    """r is up with its disk. It has missed all decisions but the current one, which its next `notify` brings."""
    if p.up[r]:
        return False
    p.up[r] = 1
    p.known_epoch[r] = p.controller_epoch - 1
    return True


def flush(p: State, r: int) -> bool:
    """r's log is forced to disk."""
    if not p.power_loss or not p.up[r] or p.flushed[r] == p.leo[r]:
        return False
    p.flushed[r] = p.leo[r]
    return True


def checkpoint(p: State, r: int) -> bool:
    """r writes its high watermark to `replication-offset-checkpoint`."""
    if not p.asynchronous_checkpoint or not p.up[r] or p.checkpointed[r] == p.high_watermark[r]:
        return False
    p.checkpointed[r] = p.high_watermark[r]
    return True
