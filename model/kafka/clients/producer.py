"""A producer that retries: it sends a record again after a time-out, NOT_LEADER_OR_FOLLOWER or a final error.

The producer's metadata may be outdated, so any replica that believes it leads may get the record. After sending a
record again, the producer ignores responses to its earlier requests (Sender.completeBatch,
NetworkClient.handleTimedOutRequests).
"""

from epochfuzz.model.kafka.history import produce_purgatory, producer_window, promises
from epochfuzz.model.kafka.partition.replication import append_produced, presumes_leadership
from epochfuzz.model.kafka.storage import idempotence, producer_epochs, transactions
from epochfuzz.model.kafka.vocabulary import replica_sets
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import begins_epochs
from epochfuzz.model.kafka.vocabulary.mechanisms import Idempotence, ProducerBump
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, State


def retry(p: State, r: int) -> int:
    """Send the producer's oldest unacknowledged record again, to replica r."""
    if not p.retries:
        return Refusal.RETRIES_OFF
    record = producer_window.oldest_unanswered(p)
    if record == NONE:
        return Refusal.NOTHING_TO_RETRY
    if not presumes_leadership(p, r):
        return Refusal.DOES_NOT_LEAD if p.up[r] else Refusal.IS_DOWN
    if replica_sets.size(p.isr[r]) < p.min_insync_replicas:
        p.goals |= Goal.NOT_ENOUGH_REPLICAS
        return Refusal.NOT_ENOUGH_REPLICAS
    refusal = transactions.why_not_produced(p, r)
    if refusal != APPLIED:
        return refusal
    if idempotence.recognises(p, r, record):
        answer_duplicate(p, r, record)
    else:
        refusal = idempotence.why_not_appended(p, r, record)
        if refusal != APPLIED:
            return refusal
        promises.note_offset(p, record, p.leo[r])
        append_produced(p, r, record)
    p.goals |= Goal.PRODUCER_RETRIED
    return APPLIED


def bump(p: State, r: int) -> int:
    """Let leader r reject an unacknowledged record as out of order, and let the producer begin a new producer epoch.

    The leader rejects the record if its log lacks the previous record or already has the next record. In the new epoch
    the producer sends its unacknowledged records again, with sequence numbers from 0 on (KIP-360,
    TransactionManager.canRetry, bumpIdempotentEpochAndResetIdIfNeeded). A run has at most one new producer epoch.
    """
    if not begins_epochs(p):
        return Refusal.DOES_NOT_HAPPEN
    if p.epoch_record != NONE:
        return Refusal.EPOCH_IS_NEW
    record = producer_window.oldest_unanswered(p)
    if record == NONE:
        return Refusal.NOTHING_TO_RETRY
    if not presumes_leadership(p, r):
        return Refusal.DOES_NOT_LEAD if p.up[r] else Refusal.IS_DOWN
    if replica_sets.size(p.isr[r]) < p.min_insync_replicas:
        return Refusal.NOT_ENOUGH_REPLICAS
    if not bumps_for(p, r, record) and not bumps_for(p, r, record + 1):
        return Refusal.IS_IN_SEQUENCE
    producer_epochs.begin(p, record)
    return APPLIED


def bumps_for(p: State, r: int, record: int) -> bool:
    """Return whether leader r rejects a record as out of order, and the producer then begins a new producer epoch."""
    if record >= p.produced or p.acked >> record & 1:
        return False
    follows_last_acked = p.acked >> record == 0 and record == producer_window.oldest_unanswered(p)
    if p.producer_bump == ProducerBump.NEXT_RECORD and not follows_last_acked:
        return False
    return not idempotence.recognises(p, r, record) and idempotence.is_out_of_sequence(p, r, record)


def answer_duplicate(p: State, r: int, record: int) -> None:
    """Respond to the request for a record that r already has. The response waits for r's high watermark.

    In Kafka, UnifiedLog.analyzeAndValidateProducerState returns the old offsets, and ReplicaManager.appendRecords
    waits. With the choice Idempotence.ANSWERED_AT_ONCE, which Kafka does not have, the response does not wait.
    """
    p.goals |= Goal.DUPLICATE_RECOGNISED
    offset = idempotence.offset_of(p, r, record)
    if offset != NONE:
        promises.note_offset(p, record, offset)
    produce_purgatory.join(p, r, record)
    if p.idempotence == Idempotence.ANSWERED_AT_ONCE:
        produce_purgatory.leave(p, record)
        p.acked |= 1 << record
    produce_purgatory.answer(p, r)
