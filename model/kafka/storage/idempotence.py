"""The idempotent producer (KIP-98, Kafka 0.11): a leader appends no record twice, and none before its predecessor.

Record ids are the sequence numbers, and what a broker knows of a producer is a function of its log: followers learn it
from what they copy, and a truncation takes it back with the records (ProducerStateManager). So nothing has to be kept,
but for the mistakes. Kafka has it with acks=all only.
"""

from epochfuzz.model.kafka.storage import log, transactions
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import remembers_cut_records
from epochfuzz.model.kafka.vocabulary.mechanisms import Idempotence, UnknownProducer
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, State, offsets


def is_on(p: State) -> bool:
    """Whether requests carry sequence numbers."""
    return p.retries and p.acks == Acks.ALL and p.idempotence != Idempotence.NONE


def recognises(p: State, r: int, record: int) -> bool:
    """Whether leader r takes a record that it is sent for one that it has."""
    if not is_on(p):
        return False
    if p.idempotence == Idempotence.LEADER_ONLY:
        offset = log.offset_of(p, r, record)
        return offset != NONE and log.at(p.log_epoch[r], offset) == p.known_epoch[r]
    return knows(p, r, record)


def knows(p: State, r: int, record: int) -> bool:
    """Whether r goes by having a record: it has, or it has forgotten that it has truncated it."""
    return log.offset_of(p, r, record) != NONE or (remembers_cut_records(p) and record < p.remembered[r])


def why_not_appended(p: State, r: int, record: int) -> int:
    """Why leader r does not append a record that is new to it: the one before is missing, or there is no room."""
    if is_on(p) and is_out_of_sequence(p, r, record):
        p.goals |= Goal.OUT_OF_ORDER_SEQUENCE
        return Refusal.OUT_OF_ORDER_SEQUENCE
    return Refusal.LOG_IS_FULL if p.leo[r] >= offsets(p) else APPLIED


def is_out_of_sequence(p: State, r: int, record: int) -> bool:
    """Return whether leader r rejects the sequence number of a record it doesn't have.

    ProducerAppendInfo.checkSequence. Since KIP-360 a log may begin with any record of a producer. Such a log may have
    the next record and not this one.
    """
    if p.unknown_producer == UnknownProducer.ANY_SEQUENCE:
        if not knows_producer(p, r):
            p.goals |= Goal.UNKNOWN_PRODUCER_ACCEPTED * has_predecessor(p, record)
            return False
        if has_successor(p, record) and knows(p, r, record + 1):
            return True
    return has_predecessor(p, record) and not knows(p, r, record - 1)


def knows_producer(p: State, r: int) -> bool:
    """Whether r has anything of the producer, the only one there is: a record, a marker, or what it has truncated."""
    return p.leo[r] > 0 or (remembers_cut_records(p) and p.remembered[r] > 0)


def has_successor(p: State, record: int) -> bool:
    """Return whether the producer has sent the next record with the next sequence number."""
    return record + 1 < p.produced and not transactions.is_over_for(p, record)


def has_predecessor(p: State, record: int) -> bool:
    """Whether a sequence number comes before; a transaction that is aborted begins the sequence anew (KIP-360)."""
    return record > 0 and not transactions.is_over_for(p, record - 1)


def remember_cut(p: State, r: int, end: int) -> None:
    """r's log is about to be truncated to `end`, and what it knows of the producer stays: its last sequence number."""
    for offset in range(end, p.leo[r]):
        p.remembered[r] = max(p.remembered[r], log.at(p.log_record[r], offset) + 1)
