"""Faults: processes die and return, power fails, and what was written to disk decides what a replica wakes up with."""

from epochfuzz.model import leadership, truncation
from epochfuzz.model.goals import Goal
from epochfuzz.model.refusals import APPLIED, Refusal
from epochfuzz.model.state import NONE, Phase, State


def crash(p: State, r: int) -> int:
    """The process dies: what it held in memory is gone, its disk is kept, its HW is what was checkpointed."""
    if not p.up[r]:
        return Refusal.IS_DOWN
    p.up[r] = 0
    leadership.step_down(p, r)
    p.known_epoch[r] = NONE
    p.known_leader[r] = NONE
    p.phase[r] = Phase.FETCHING
    if p.asynchronous_checkpoint:
        if p.checkpointed[r] < p.high_watermark[r]:
            p.goals |= Goal.HIGH_WATERMARK_RESTARTED_LOWER
        p.high_watermark[r] = min(p.checkpointed[r], p.leo[r])
    return APPLIED


def power_loss(p: State, r: int) -> int:
    """As a crash, and what was not flushed never reached the disk."""
    if not p.power_loss:
        return Refusal.POWER_LOSS_OFF
    if crash(p, r) != APPLIED:
        return Refusal.IS_DOWN
    lose_unflushed(p, r)
    return APPLIED


def lose_unflushed(p: State, r: int) -> None:
    """r's log ends where it was last flushed."""
    if p.flushed[r] < p.leo[r]:
        p.goals |= Goal.UNFLUSHED_RECORDS_LOST
    truncation.cut(p, r, p.flushed[r])


def restart(p: State, r: int) -> int:
    """r is up with its disk. It has missed all decisions but the current one, which its next `notify` brings."""
    if p.up[r]:
        return Refusal.IS_UP
    p.up[r] = 1
    p.known_epoch[r] = p.controller_epoch - 1
    return APPLIED


def flush(p: State, r: int) -> int:
    """r's log is forced to disk."""
    if not p.power_loss:
        return Refusal.POWER_LOSS_OFF
    if not p.up[r]:
        return Refusal.IS_DOWN
    if p.flushed[r] == p.leo[r]:
        return Refusal.LOG_IS_FLUSHED
    p.flushed[r] = p.leo[r]
    return APPLIED


def checkpoint(p: State, r: int) -> int:
    """r writes its high watermark to `replication-offset-checkpoint`."""
    if not p.asynchronous_checkpoint:
        return Refusal.ASYNCHRONOUS_CHECKPOINT_OFF
    if not p.up[r]:
        return Refusal.IS_DOWN
    if p.checkpointed[r] == p.high_watermark[r]:
        return Refusal.HIGH_WATERMARK_IS_CHECKPOINTED
    p.checkpointed[r] = p.high_watermark[r]
    return APPLIED
