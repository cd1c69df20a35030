"""The two epochs of an idempotent producer (KIP-360): a new epoch begins with sequence number 0.

A leader accepts no record of an older producer epoch (ProducerAppendInfo.checkProducerEpoch). So in each log all
records of the second epoch follow all records of the first epoch. The model stores, for each log, the offset where the
second epoch starts.
"""

from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import begins_epochs
from epochfuzz.model.kafka.vocabulary.state import NONE, State


def begin(p: State, record: int) -> None:
    """Begin the producer's second epoch with `record`. Replicas forget the truncated records of the first epoch."""
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
    """Return the offset of the record in r's log, or NONE if the log lacks the record.

    If the producer has begun its second epoch, only records of this epoch count.
    """
    if p.epoch_record == NONE:
        return log.offset_of(p, r, record)
    if p.epoch_offset[r] == NONE:
        return NONE
    for offset in range(p.epoch_offset[r], p.leo[r]):
        if log.at(p.log_record[r], offset) == record:
            return offset
    return NONE


def note_append(p: State, leader: int) -> None:
    """Store the offset of the leader's last record as the start of the producer's second epoch in the leader's log.

    Nothing changes if the second epoch has not begun, or if the leader's log already has a record of this epoch.
    """
    if begins_epochs(p) and p.epoch_record != NONE and p.epoch_offset[leader] == NONE:
        p.epoch_offset[leader] = p.leo[leader] - 1


def note_fetch(p: State, leader: int, follower: int) -> None:
    """Let the response in flight carry the offset where the producer's second epoch starts in the leader's log."""
    if begins_epochs(p):
        p.flight_epoch_offset[follower] = p.epoch_offset[leader]


def forget_fetch(p: State, follower: int) -> None:
    """Remove the start offset of the producer's second epoch from the response in flight to the follower."""
    if begins_epochs(p):
        p.flight_epoch_offset[follower] = NONE


def note_fetched(p: State, follower: int) -> None:
    """Store where the producer's second epoch starts in the follower's log, after the follower has appended a response.

    Nothing changes if the appended records are of the first epoch, or if the follower already knows the start.
    """
    if not begins_epochs(p) or p.epoch_offset[follower] != NONE or p.flight_epoch_offset[follower] == NONE:
        return
    start = max(p.flight_epoch_offset[follower], p.leo[follower] - p.flight_count[follower])
    if start < p.leo[follower]:
        p.epoch_offset[follower] = start
