"""The idempotent producer (KIP-98, Kafka 0.11): a leader appends no record twice, and skips no sequence number.

A record's id is its sequence number. A broker's knowledge of a producer follows from its log: followers learn it from
the records that they copy, and a truncation removes it with the records (ProducerStateManager). So the model stores no
fields for this knowledge, with two exceptions. One is an unsound choice of the mechanism `idempotence`. The other is
`snapshot_offset`: a broker that restarts loads a snapshot of the producers at its log end offset. The snapshot has only
the last batch of each producer (ProducerStateManager.writeSnapshot, LogLoader.recoverSegment), so the broker rejects
earlier batches as out of order. A truncation below this offset loads an older snapshot. In the model this is always the
empty snapshot at offset 0, so the broker reads all its records again (ProducerStateManager.truncateAndReload).

Kafka requires acks=all for idempotence.
"""

from epochfuzz.model.kafka.storage import log, producer_epochs, transactions
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import begins_epochs, forgets_records, remembers_cut_records
from epochfuzz.model.kafka.vocabulary.mechanisms import Idempotence, UnknownProducer
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, State, offsets


def is_on(p: State) -> bool:
    """Return whether producers send sequence numbers."""
    return p.retries and p.acks == Acks.ALL and p.idempotence != Idempotence.NONE


def recognises(p: State, r: int, record: int) -> bool:
    """Return whether leader r recognises the record as a duplicate."""
    if not is_on(p):
        return False
    if p.idempotence == Idempotence.LEADER_ONLY:
        offset = offset_of(p, r, record)
        return offset != NONE and log.at(p.log_epoch[r], offset) == p.known_epoch[r]
    if forgets_records(p) and is_forgotten(p, r, record):
        return False
    return knows(p, r, record)


def is_forgotten(p: State, r: int, record: int) -> bool:
    """Return whether r's log has the record, but r does not recognise it, because r has loaded a producer snapshot.

    The snapshot has the last record before its offset.
    """
    offset = offset_of(p, r, record)
    return offset != NONE and offset < p.snapshot_offset[r] - 1


def knows(p: State, r: int, record: int) -> bool:
    """Return whether r's log has the record, or r believes so.

    With Idempotence.KEPT_AT_TRUNCATION a truncated record counts too.
    """
    return offset_of(p, r, record) != NONE or (remembers_cut_records(p) and record < p.remembered[r])


def offset_of(p: State, r: int, record: int) -> int:
    """Return the offset of the record in r's log, or NONE if the log lacks the record.

    If the producer has begun a second epoch, only records of this epoch count.
    """
    if begins_epochs(p):
        return producer_epochs.offset_of(p, r, record)
    return log.offset_of(p, r, record)


def why_not_appended(p: State, r: int, record: int) -> int:
    """Return why leader r cannot append a record that is not in its log, or APPLIED if it can.

    The reason is that r's log lacks the previous record, or is full.
    """
    if is_on(p) and is_out_of_sequence(p, r, record):
        p.goals |= Goal.OUT_OF_ORDER_SEQUENCE
        return Refusal.OUT_OF_ORDER_SEQUENCE
    return Refusal.LOG_IS_FULL if p.leo[r] >= offsets(p) else APPLIED


def is_out_of_sequence(p: State, r: int, record: int) -> bool:
    """Return whether leader r rejects the sequence number of a record that it does not recognise.

    r rejects the number if the log lacks the producer's previous record (ProducerAppendInfo.checkSequence). Since
    KIP-360 there are two exceptions. r accepts any record of a producer that r does not know. And r rejects a record
    if r's log has the next record. A forgotten record is never the next one after the producer's last record.
    """
    if forgets_records(p) and is_forgotten(p, r, record):
        return True
    if p.unknown_producer == UnknownProducer.ANY_SEQUENCE:
        if not knows_producer(p, r):
            p.goals |= Goal.UNKNOWN_PRODUCER_ACCEPTED * has_predecessor(p, record)
            return False
        if has_successor(p, record) and knows(p, r, record + 1):
            return True
    return has_predecessor(p, record) and not knows(p, r, record - 1)


def knows_producer(p: State, r: int) -> bool:
    """Return whether r knows the producer: r's log has a record or a marker, or r remembers a truncated record."""
    return p.leo[r] > 0 or (remembers_cut_records(p) and p.remembered[r] > 0)


def has_successor(p: State, record: int) -> bool:
    """Return whether the producer has already sent the sequence number that follows this record's."""
    return record + 1 < p.produced and not transactions.is_over_for(p, record)


def has_predecessor(p: State, record: int) -> bool:
    """Return whether the producer has sent a sequence number before this record's, in the current producer epoch.

    The first record after a transaction has no predecessor, because an aborted transaction restarts the sequence
    (KIP-360).
    """
    return record > producer_epochs.first_record(p) and not transactions.is_over_for(p, record - 1)


def remember_cut(p: State, r: int, end: int) -> None:
    """Remember the sequence numbers of the records that r is about to truncate, which are the records from `end` on.

    r stores only the largest number plus 1, in `remembered`.
    """
    for offset in range(end, p.leo[r]):
        p.remembered[r] = max(p.remembered[r], log.at(p.log_record[r], offset) + 1)
