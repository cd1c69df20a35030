"""Mutants with mistakes in a broker that serves producers or consumers, or in a consumer's position."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.clients import consumer
from epochfuzz.model.kafka.history import produce_purgatory
from epochfuzz.model.kafka.partition import isr
from epochfuzz.model.kafka.partition.replication import presumes_leadership
from epochfuzz.model.kafka.storage import epoch_cache, idempotence, log
from epochfuzz.model.kafka.vocabulary.refusals import APPLIED, Refusal
from epochfuzz.model.kafka.vocabulary.state import NONE, State


@in_place_of(
    produce_purgatory.answer,
    "a waiting producer gets its response when the high watermark is at its record, not past it",
)
def waiting_producer_answered_a_record_early(p: State, r: int) -> None:
    for record in range(p.produced):
        if p.waiting[r] >> record & 1 and log.at(p.record_offset, record) <= p.high_watermark[r]:
            p.waiting[r] &= ~(1 << record)
            p.acked |= 1 << record


@in_place_of(
    produce_purgatory.answer, "a high watermark that rises over several records wakes only one waiting producer"
)
def one_waiting_producer_woken(p: State, r: int) -> None:
    for record in range(p.produced):
        if p.waiting[r] >> record & 1 and log.at(p.record_offset, record) < p.high_watermark[r]:
            p.waiting[r] &= ~(1 << record)
            p.acked |= 1 << record
            return


@in_place_of(isr.shrink_by, "a high watermark that rises because the ISR shrinks wakes no waiting producer")
def shrinking_wakes_no_producer(p: State, leader: int, r: int) -> int:
    waiting_before, acked_before = p.waiting[leader], p.acked
    refusal = isr.shrink_by(p, leader, r)
    if refusal == APPLIED and waiting_before != 0:
        p.waiting[leader] = waiting_before
        p.acked = acked_before
    return refusal


@in_place_of(
    idempotence.why_not_appended,
    "a leader accepts a record of an idempotent producer though the record before it is missing",
)
def gap_in_sequence_accepted(p: State, r: int, record: int) -> int:
    return Refusal.LOG_IS_FULL if p.leo[r] >= p.records else APPLIED


@in_place_of(
    idempotence.is_out_of_sequence,
    "a leader that accepted a later record of an unknown producer also accepts the record before that one",
    jira="KAFKA-8710",
    protocol="kip-320:unknown_producer=any_sequence",
)
def earlier_sequence_accepted(p: State, r: int, record: int) -> bool:
    if not idempotence.knows_producer(p, r):
        return False
    return idempotence.has_predecessor(p, record) and not idempotence.knows(p, r, record - 1)


@in_place_of(idempotence.recognises, "a leader compares a resent record with only the last record of the producer")
def duplicate_sought_in_the_last_record_only(p: State, r: int, record: int) -> bool:
    return idempotence.is_on(p) and p.leo[r] > 0 and log.at(p.log_record[r], p.leo[r] - 1) == record


@in_place_of(consumer.why_not_served, "a leader serves a consumer whose metadata is of another epoch")
def consumer_not_fenced(p: State, r: int) -> int:
    if not presumes_leadership(p, r):
        return Refusal.DOES_NOT_LEAD if p.up[r] else Refusal.IS_DOWN
    return APPLIED


@in_place_of(
    consumer.validate, "a consumer asks its new leader for the end of the leader's epoch, not of its position's epoch"
)
def consumer_asks_for_the_new_epoch(p: State, r: int) -> None:
    epoch, end = epoch_cache.end_offset_kip_279(p, r, p.consumer_epoch, p.leo[r])
    if end < p.position:
        consumer.report_truncation(p, epoch, end)


@in_place_of(consumer.report_truncation, "a consumer that learns of a truncation continues from its old position")
def consumer_keeps_its_place_after_truncation(p: State, epoch: int, end: int) -> None:
    p.position_epoch = epoch


@in_place_of(consumer.is_read_replica, "a consumer is served by a follower that has not fetched from its leader yet")
def consumer_served_by_any_follower(p: State, follower: int) -> bool:
    return p.known_leader[follower] != NONE
