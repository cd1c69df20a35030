"""Transactions (KIP-98) in a log: records, followed by a marker that commits or aborts them.

There is one producer with one transaction at a time. So all records after the last marker of a log belong to a
transaction that is open in this log. A marker is a record with an id of its own. The coordinator writes markers, so no
guarantee to clients covers a marker. Only the log counts, so a truncation also undoes the effect of the markers that it
removes.
"""

from typing import Any

from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import has_late_requests, has_transactions
from epochfuzz.model.kafka.vocabulary.mechanisms import StableOffset
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Flight, Marker, State, Transaction, offsets


def is_marker(p: State, record: int) -> bool:
    """Return whether a record in a log is the marker of a transaction."""
    return has_transactions(p) and record >= Marker.COMMIT


def why_not_produced(p: State, r: int) -> int:
    """Return why the producer may not send a record to r in a transaction, or APPLIED if it may.

    The reason is that the transaction is ending, that the transaction's last record has not arrived yet, or that r's
    log has no room for the record and a marker.
    """
    if not has_transactions(p):
        return APPLIED
    if p.transaction != Transaction.NONE and p.transaction != Transaction.OPEN:
        return Refusal.TRANSACTION_ENDS
    if has_late_requests(p) and p.late_record != NONE and not is_over_for(p, p.late_record):
        return Refusal.OUT_OF_ORDER_SEQUENCE  # the late record has the sequence number before
    return APPLIED if has_room(p, r) else Refusal.NO_ROOM_FOR_A_MARKER


def has_room(p: State, r: int) -> bool:
    """Return whether r's log has room for a record and the marker of its transaction."""
    return p.leo[r] + 2 <= offsets(p)


def marker_for(decision: int) -> int:
    """Return the marker for the decision COMMITTING or ABORTING."""
    return Marker.COMMIT if decision == Transaction.COMMITTING else Marker.ABORT


def is_over_for(p: State, record: int) -> bool:
    """Return whether the transaction of a record has ended. The producer does not send such a record again."""
    return has_transactions(p) and p.transaction_records >> record & 1 == 0


def note_produced(p: State, record: int) -> None:
    """Add a new record to the current transaction, or begin a transaction with it."""
    if has_transactions(p):
        p.transaction = Transaction.OPEN
        p.transaction_records |= 1 << record


def follow_high_watermark(p: State, leader: int, start: int) -> None:
    """End the transaction if its marker is between `start` and the leader's high watermark."""
    if not has_transactions(p):
        return
    for offset in range(max(1, start), p.high_watermark[leader]):
        record, marked = log.at(p.log_record[leader], offset), log.at(p.log_record[leader], offset - 1)
        if is_marker(p, record) and is_ended_by(p, leader, marked):
            close(p)
    if last_stable_offset(p, leader) < p.high_watermark[leader]:
        p.goals |= Goal.LAST_STABLE_OFFSET_BELOW_HIGH_WATERMARK


def is_ended_by(p: State, leader: int, marked: int) -> Any:
    """Return whether the replicated marker after the record `marked` ends the current transaction.

    With the setting `late_requests`, the late marker of an earlier transaction can follow the record before the
    coordinator has decided. Such a marker does not
    end the transaction.
    """
    if has_late_requests(p):
        return p.transaction > Transaction.OPEN and is_marked(p, leader)
    return p.transaction_records >> marked & 1


def is_marked(p: State, r: int) -> bool:
    """Return whether r's log has all records of the transaction except a late record, and then a replicated marker."""
    sent = p.transaction_records if p.late_record == NONE else p.transaction_records & ~(1 << p.late_record)
    return not is_open(p, r) and p.leo[r] <= p.high_watermark[r] and sent & ~log.records_in(p, r) == 0


def close(p: State) -> None:
    """End the current transaction. The next record begins another transaction."""
    if has_late_requests(p):
        p.late_marker = p.transaction
    p.transaction = Transaction.NONE
    p.transaction_records = 0


def is_gone(p: State) -> bool:
    """Return whether no log and no response in flight contains a record of the current transaction.

    Such a transaction needs no marker.
    """
    for r in range(p.replicas):
        if log.records_in(p, r) & p.transaction_records:
            return False
        if p.flight[r] == Flight.RECORDS:
            for i in range(p.flight_count[r]):
                if p.transaction_records >> log.at(p.flight_record[r], i) & 1:
                    return False
    return True


def last_stable_offset(p: State, r: int) -> int:
    """Return the last stable offset (LSO) of r: the end of the records that read_committed consumers may read.

    A transaction counts as open until its marker is replicated (UnifiedLog.lastStableOffset,
    ProducerStateManager.firstUnstableOffset).
    """
    end = min(p.high_watermark[r], p.leo[r])
    if p.stable_offset == StableOffset.HIGH_WATERMARK:
        return end
    return min(end, end_of_transactions(p, r, end if p.stable_offset == StableOffset.REPLICATED else p.leo[r]))


def is_stuck(p: State, leader: int) -> bool:
    """Return whether the last stable offset of a leader is below its high watermark. Returns False if `leader` is NONE.

    Call this function after all faults have stopped, because no later marker can raise the last stable offset then.
    Only late requests can cause such a state.
    """
    if not has_late_requests(p) or leader == NONE or p.known_epoch[leader] > log.LAST_EPOCH:
        return False
    return last_stable_offset(p, leader) < min(p.high_watermark[leader], p.leo[leader])


def end_of_transactions(p: State, r: int, end: int) -> int:
    """Return the offset after the last marker below `end` in r's log, or 0 if there is no marker.

    The records between this offset and `end` belong to a transaction without a marker below `end`.
    """
    while end > 0 and not is_marker(p, log.at(p.log_record[r], end - 1)):
        end -= 1
    return end


def is_open(p: State, r: int) -> bool:
    """Return whether r's log ends with a record of an open transaction."""
    return end_of_transactions(p, r, p.leo[r]) < p.leo[r]


def delivered(p: State, r: int) -> int:
    """Return the set of records that a read_committed consumer gets from r: those below the LSO that were not aborted.

    The broker derives the aborted transactions from the markers in r's log (UnifiedLog.read, TransactionIndex).
    """
    end = last_stable_offset(p, r)
    # Read backwards, because a marker follows the records of its transaction.
    records, aborted, offset = 0, False, p.leo[r]
    while offset > 0:
        offset -= 1
        record = log.at(p.log_record[r], offset)
        if is_marker(p, record):
            aborted = record == Marker.ABORT
        elif offset < end and not aborted:
            records |= 1 << record
    return records
