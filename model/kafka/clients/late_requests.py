"""Late requests of a transactional producer and its coordinator: they arrive after the end of their transaction.

If a record arrives behind the marker of its transaction, the log has an open transaction, but the coordinator does not
know this transaction. No marker follows, and the last stable offset does not advance (KAFKA-12671). If the producer's
next transaction has already begun, the late record becomes part of the next transaction. A late copy of a marker ends
the next transaction in the log, before the coordinator has decided to commit or abort it. KIP-890 and KIP-1228 let the
leader reject these late requests.

At most one record is late at a time. The coordinator learns of the producer's transaction in the event `begin` or
`delay` (AddPartitionsToTxn).
"""

from epochfuzz.model.kafka.history import promises
from epochfuzz.model.kafka.partition import replication
from epochfuzz.model.kafka.storage import log, transactions
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import has_late_requests
from epochfuzz.model.kafka.vocabulary.mechanisms import LateRequest
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, Marker, State, Transaction


def begin(p: State, r: int) -> int:
    """Begin a transaction at the coordinator. The producer sends the first record of the transaction later."""
    if not has_late_requests(p):
        return Refusal.DOES_NOT_HAPPEN
    if r != 0:
        return Refusal.IS_OF_THE_PRODUCER
    if p.transaction != Transaction.NONE:
        return Refusal.HAS_A_TRANSACTION
    p.transaction = Transaction.OPEN
    return APPLIED


def delay(p: State, r: int) -> int:
    """Let the producer send its next record, in a request that arrives late. Begin a transaction if there is none."""
    if not has_late_requests(p):
        return Refusal.DOES_NOT_HAPPEN
    if r != 0:
        return Refusal.IS_OF_THE_PRODUCER
    if p.late_record != NONE:
        return Refusal.A_RECORD_IS_LATE
    if p.produced >= p.records:
        return Refusal.RECORDS_BOUND
    if p.transaction > Transaction.OPEN:
        return Refusal.TRANSACTION_ENDS
    p.late_record = p.produced
    p.produced += 1
    transactions.note_produced(p, p.late_record)
    return APPLIED


def arrive(p: State, r: int) -> int:
    """Let the late record arrive at leader r, which appends or rejects it."""
    if not has_late_requests(p):
        return Refusal.DOES_NOT_HAPPEN
    record = p.late_record
    if record == NONE:
        return Refusal.NO_RECORD_IS_LATE
    if not replication.presumes_leadership(p, r):
        return Refusal.DOES_NOT_LEAD if p.up[r] else Refusal.IS_DOWN
    if p.acks == Acks.ALL and replica_sets.size(p.isr[r]) < p.min_insync_replicas:
        return Refusal.NOT_ENOUGH_REPLICAS
    if not transactions.has_room(p, r):
        return Refusal.NO_ROOM_FOR_A_MARKER
    if has_later_record(p, r, record):
        return Refusal.OUT_OF_ORDER_SEQUENCE
    if is_rejected(p, r, record):
        return Refusal.IS_LATE
    p.goals |= Goal.LATE_RECORD_APPENDED * transactions.is_over_for(p, record)
    p.late_record = NONE
    promises.note_offset(p, record, p.leo[r])
    if p.acks == Acks.LEADER:
        p.acked |= 1 << record
    replication.append_produced(p, r, record)
    return APPLIED


def has_later_record(p: State, r: int, record: int) -> bool:
    """Return whether r's log has a record with a greater sequence number (ProducerAppendInfo.checkSequence)."""
    records = log.records_in(p, r) & ((1 << Marker.COMMIT) - 1)
    return records >> (record + 1) != 0


def is_rejected(p: State, r: int, record: int) -> bool:
    """Return whether leader r rejects a late record, because the record's transaction has ended.

    Since KIP-890 r asks the coordinator before it appends the first record of a transaction
    (ReplicaManager.maybeSendPartitionsToTransactionCoordinator, UnifiedLog.hasOngoingTransaction). Since 4.0 the
    coordinator also compares the producer epoch, which changes with each transaction.
    """
    if p.late_request == LateRequest.ACCEPTED or transactions.is_open(p, r):
        return False
    if p.transaction != Transaction.OPEN:
        return True
    return p.late_request != LateRequest.VERIFIED and transactions.is_over_for(p, record)


def mark(p: State, r: int) -> int:
    """Let a copy of the last transaction's marker arrive at leader r, whose log ends with an open transaction.

    The coordinator sent the marker of the last transaction in two requests, and the first of them ended that
    transaction. Since KIP-1228 the leader rejects the copy if the open transaction has the marker's producer epoch or a
    later epoch (ProducerAppendInfo.checkProducerEpoch, 4.2).
    """
    if not has_late_requests(p):
        return Refusal.DOES_NOT_HAPPEN
    if p.late_marker == Transaction.NONE:
        return Refusal.NO_MARKER_IS_LATE
    if not replication.presumes_leadership(p, r):
        return Refusal.DOES_NOT_LEAD if p.up[r] else Refusal.IS_DOWN
    if not transactions.is_open(p, r):
        return Refusal.NOTHING_TO_MARK
    is_next = not transactions.is_over_for(p, log.at(p.log_record[r], p.leo[r] - 1))
    if p.late_request == LateRequest.REJECTED and is_next:
        return Refusal.IS_LATE
    p.goals |= Goal.LATE_MARKER_APPENDED * is_next
    marker = transactions.marker_for(p.late_marker)
    p.late_marker = Transaction.NONE
    replication.append_as_leader(p, r, marker)
    replication.advance_over_appended(p, r)
    return APPLIED
