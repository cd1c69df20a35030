"""The idempotent producer (KIP-98, Kafka 0.11): a leader appends no record twice, and none before its predecessor.

Record ids are the sequence numbers. A broker's knowledge of a producer is a function of its log: followers learn it
from the records that they copy, and a truncation removes it with the records (ProducerStateManager). So the model keeps
no state for it, except for wrong choices of the mechanism. Kafka requires acks=all for it.
"""

from epochfuzz.model.kafka.storage import log, transactions
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import remembers_cut_records
from epochfuzz.model.kafka.vocabulary.mechanisms import Idempotence, UnknownProducer
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, State, offsets


def is_on(p: State) -> bool:
    """Return whether requests carry sequence numbers."""
    return p.retries and p.acks == Acks.ALL and p.idempotence != Idempotence.NONE


def recognises(p: State, r: int, record: int) -> bool:
    """Return whether leader r recognises a record as a duplicate."""
    if not is_on(p):
        return False
    if p.idempotence == Idempotence.LEADER_ONLY:
        offset = log.offset_of(p, r, record)
        return offset != NONE and log.at(p.log_epoch[r], offset) == p.known_epoch[r]
    return knows(p, r, record)


def knows(p: State, r: int, record: int) -> bool:
    """Return whether r treats a record as appended: its log has the record, or had it before a truncation.

    A truncated record counts only with Idempotence.KEPT_AT_TRUNCATION.
    """
    return log.offset_of(p, r, record) != NONE or (remembers_cut_records(p) and record < p.remembered[r])


def why_not_appended(p: State, r: int, record: int) -> int:
    """Return why leader r does not append a record that is new to it, or APPLIED if it does.

    The reason is that r's log lacks the previous record, or has no room.
    """
    if is_on(p) and is_out_of_sequence(p, r, record):
        p.goals |= Goal.OUT_OF_ORDER_SEQUENCE
        return Refusal.OUT_OF_ORDER_SEQUENCE
    return Refusal.LOG_IS_FULL if p.leo[r] >= offsets(p) else APPLIED


def is_out_of_sequence(p: State, r: int, record: int) -> bool:
    """Return whether leader r rejects the sequence number of a record that it does not have.

    ProducerAppendInfo.checkSequence. Since KIP-360 a log may begin with any record of a producer. If such a log has the
    next record but not this one, this record is out of sequence.
    """
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
    """Return whether the producer has sent the next record with the next sequence number."""
    return record + 1 < p.produced and not transactions.is_over_for(p, record)


def has_predecessor(p: State, record: int) -> bool:
    """Return whether the record has a previous sequence number.

    The first record after a completed transaction has none. An aborted transaction starts the sequence again (KIP-360).
    """
    return record > 0 and not transactions.is_over_for(p, record - 1)


def remember_cut(p: State, r: int, end: int) -> None:
    """Remember the producer's last sequence number, before r's log is truncated to `end`."""
    for offset in range(end, p.leo[r]):
        p.remembered[r] = max(p.remembered[r], log.at(p.log_record[r], offset) + 1)
