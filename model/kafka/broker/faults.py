"""Faults: a process dies and restarts, or power fails. A replica restarts with the data on its disk."""

from epochfuzz.model.kafka.broker import registration
from epochfuzz.model.kafka.history import promises
from epochfuzz.model.kafka.partition import processes
from epochfuzz.model.kafka.storage import epoch_cache, log
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import registers_in_two_steps
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import State


def crash(p: State, r: int) -> int:
    """Kill r's process. Its disk keeps all data."""
    if not p.up[r]:
        return Refusal.IS_DOWN
    processes.die(p, r)
    return APPLIED


def power_loss(p: State, r: int) -> int:
    """Kill r's process, and lose the records that were not flushed to disk."""
    if not p.power_loss:
        return Refusal.POWER_LOSS_OFF
    if not p.up[r]:
        return Refusal.IS_DOWN
    processes.die(p, r)
    lose_unflushed(p, r)
    return APPLIED


def lose_unflushed(p: State, r: int) -> None:
    """Truncate r's log to the end of its flushed part.

    The leader epoch cache and the high watermark are lowered to the new log end offset.
    """
    if p.flushed[r] < p.leo[r]:
        p.goals |= Goal.UNFLUSHED_RECORDS_LOST
        promises.note_lossy_failure(p)
    log.truncate(p, r, p.flushed[r])
    epoch_cache.truncate_from_end(p, r, p.leo[r])
    p.high_watermark[r] = min(p.high_watermark[r], p.leo[r])


def wipe(p: State, r: int) -> int:
    """Lose r's log directory, for example by a disk failure. r's process dies. The next restart finds an empty log.

    No broker reports the loss to the controller, so the loss does not change the ISR.
    """
    if not p.lost_directory:
        return Refusal.DOES_NOT_HAPPEN
    if p.up[r]:
        processes.die(p, r)
    elif p.leo[r] == 0:
        return Refusal.LOG_IS_EMPTY
    lose_directory(p, r)
    return APPLIED


def lose_directory(p: State, r: int) -> None:
    """Delete the data on r's disk: log, leader epoch cache, high watermark, and the mark of a clean shutdown."""
    if p.leo[r] > 0:
        p.goals |= Goal.DIRECTORY_LOST
        promises.note_lossy_failure(p)
    log.truncate(p, r, 0)
    epoch_cache.truncate_from_end(p, r, 0)
    p.high_watermark[r] = 0
    p.checkpointed[r] = 0
    p.flushed[r] = 0
    p.clean &= ~(1 << r)


def restart(p: State, r: int) -> int:
    """Start r's process again. Under ZooKeeper r registers at once; in KRaft r registers in the event `register`."""
    if p.up[r]:
        return Refusal.IS_UP
    refusal = APPLIED if registers_in_two_steps(p) else registration.return_at_once(p, r)
    if refusal == APPLIED:
        processes.start(p, r)
    return refusal


def flush(p: State, r: int) -> int:
    """Flush r's log to disk."""
    if not p.power_loss:
        return Refusal.POWER_LOSS_OFF
    if not p.up[r]:
        return Refusal.IS_DOWN
    if p.flushed[r] == p.leo[r]:
        return Refusal.LOG_IS_FLUSHED
    p.flushed[r] = p.leo[r]
    return APPLIED


def checkpoint(p: State, r: int) -> int:
    """Write r's high watermark to `replication-offset-checkpoint`."""
    if not p.asynchronous_checkpoint:
        return Refusal.ASYNCHRONOUS_CHECKPOINT_OFF
    if not p.up[r]:
        return Refusal.IS_DOWN
    if p.checkpointed[r] == p.high_watermark[r]:
        return Refusal.HIGH_WATERMARK_IS_CHECKPOINTED
    p.checkpointed[r] = p.high_watermark[r]
    return APPLIED
