"""Transactions (KIP-98) in a log: records, followed by the marker that commits or aborts them.

There is one producer with one transaction at a time. So all records after the last marker of a log belong to a
transaction that is open in this log. Markers are records with ids of their own. No client produces a marker, and no
guarantee covers it. A truncation restores the earlier state of the transactions, because the state follows from the log
alone.
"""

from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import has_transactions
from epochfuzz.model.kafka.vocabulary.mechanisms import StableOffset
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import Flight, Marker, State, Transaction, offsets


def is_marker(p: State, record: int) -> bool:
    """Return whether a record of a log is a marker, and not a client's record."""
    return has_transactions(p) and record >= Marker.COMMIT


def why_not_produced(p: State, r: int) -> int:
    """Return why the producer may not send a record to r, or APPLIED if it may.

    The reason is that the transaction is ending, or that r's log has no room for the record and a marker.
    """
    if not has_transactions(p):
        return APPLIED
    if p.transaction != Transaction.NONE and p.transaction != Transaction.OPEN:
        return Refusal.TRANSACTION_ENDS
    return APPLIED if p.leo[r] + 2 <= offsets(p) else Refusal.NO_ROOM_FOR_A_MARKER


def is_over_for(p: State, record: int) -> bool:
    """Return whether the transaction of a record is over, so that the producer does not send it again."""
    return has_transactions(p) and p.transaction_records >> record & 1 == 0


def note_produced(p: State, record: int) -> None:
    """Add a record to the transaction; the first record begins it."""
    if has_transactions(p):
        p.transaction = Transaction.OPEN
        p.transaction_records |= 1 << record


def follow_high_watermark(p: State, leader: int, start: int) -> None:
    """End a transaction whose marker is now below the leader's high watermark, which has risen from `start`."""
    if not has_transactions(p):
        return
    for offset in range(max(1, start), p.high_watermark[leader]):
        record, marked = log.at(p.log_record[leader], offset), log.at(p.log_record[leader], offset - 1)
        if is_marker(p, record) and p.transaction_records >> marked & 1:
            close(p)
    if last_stable_offset(p, leader) < p.high_watermark[leader]:
        p.goals |= Goal.LAST_STABLE_OFFSET_BELOW_HIGH_WATERMARK


def close(p: State) -> None:
    """End the transaction; the next record begins another."""
    p.transaction = Transaction.NONE
    p.transaction_records = 0


def is_gone(p: State) -> bool:
    """Return whether no log and no response in flight has a record of the transaction.

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
    """Return the end of the records that a read_committed consumer may read from r (LSO).

    UnifiedLog.lastStableOffset. ProducerStateManager.firstUnstableOffset counts a complete transaction as unstable
    until its marker is replicated.
    """
    end = min(p.high_watermark[r], p.leo[r])
    if p.stable_offset == StableOffset.HIGH_WATERMARK:
        return end
    return min(end, end_of_transactions(p, r, end if p.stable_offset == StableOffset.REPLICATED else p.leo[r]))


def end_of_transactions(p: State, r: int, end: int) -> int:
    """Return the offset after the last marker below `end`, 0 if there is none.

    The records from there to `end` belong to a transaction without a marker below `end`.
    """
    while end > 0 and not is_marker(p, log.at(p.log_record[r], end - 1)):
        end -= 1
    return end


def is_open(p: State, r: int) -> bool:
    """Return whether r's log ends with a record of an open transaction, not with a marker."""
    return end_of_transactions(p, r, p.leo[r]) < p.leo[r]


def delivered(p: State, r: int) -> int:
    """Return the records below the LSO of r that a read_committed consumer gets.

    The consumer does not get the records of aborted transactions. The broker tells the consumer which transactions are
    aborted, from the markers in r's log (UnifiedLog.read, TransactionIndex).
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
