"""The two epochs of an idempotent producer (KIP-360): a new epoch begins with sequence number 0.

A leader accepts no record of an older producer epoch (ProducerAppendInfo.checkProducerEpoch). So all records of the new
epoch are behind those of the first one in a log, and one offset per log tells them apart.
"""

from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import begins_epochs
from epochfuzz.model.kafka.vocabulary.state import NONE, State


def begin(p: State, record: int) -> None:
    """Begin the producer's second epoch with a record. Replicas forget truncated records of the first one."""
    p.epoch_record = record
    p.goals |= Goal.PRODUCER_EPOCH_BEGUN
    for r in range(p.replicas):
        p.remembered[r] = 0


def first_record(p: State) -> int:
    """Return the record that has sequence number 0 in the producer's current epoch."""
    if not begins_epochs(p):
        return 0
    return max(0, p.epoch_record)


def offset_of(p: State, r: int, record: int) -> int:
    """Return the offset at which r's log has the record in the producer's current epoch, NONE if it does not."""
    if p.epoch_record == NONE:
        return log.offset_of(p, r, record)
    if p.epoch_offset[r] == NONE:
        return NONE
    for offset in range(p.epoch_offset[r], p.leo[r]):
        if log.at(p.log_record[r], offset) == record:
            return offset
    return NONE


def note_append(p: State, leader: int) -> None:
    """Note that the last record in the leader's log belongs to the second epoch, if this epoch has begun."""
    if begins_epochs(p) and p.epoch_record != NONE and p.epoch_offset[leader] == NONE:
        p.epoch_offset[leader] = p.leo[leader] - 1


def note_fetch(p: State, leader: int, follower: int) -> None:
    """Let a Fetch response show the follower which of the leader's records belong to the second epoch."""
    if begins_epochs(p):
        p.flight_epoch_offset[follower] = p.epoch_offset[leader]


def forget_fetch(p: State, follower: int) -> None:
    """Clear what the response in flight to the follower shows."""
    if begins_epochs(p):
        p.flight_epoch_offset[follower] = NONE


def note_fetched(p: State, follower: int) -> None:
    """Take over from the response in flight which of the appended records belong to the second epoch."""
    if not begins_epochs(p) or p.epoch_offset[follower] != NONE or p.flight_epoch_offset[follower] == NONE:
        return
    start = max(p.flight_epoch_offset[follower], p.leo[follower] - p.flight_count[follower])
    if start < p.leo[follower]:
        p.epoch_offset[follower] = start
