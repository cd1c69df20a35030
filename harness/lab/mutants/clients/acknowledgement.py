"""Mistakes in acknowledgement: the producer is answered before its record is safe."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.history import promises
from epochfuzz.model.kafka.partition import leadership, replication
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.state import State


@in_place_of(promises.remember_produced, "with acks=all the producer is answered once its leader has the record")
def acks_all_answered_at_append(p: State, r: int) -> int:
    record = promises.remember_produced(p, r)
    if p.acks != Acks.NONE:
        p.acked |= 1 << record
    return record


@in_place_of(
    replication.request_records,
    "with acks=all the producer is answered once its record was sent to a follower",
)
def acks_all_answered_when_sent(p: State, follower: int, leader: int) -> None:
    replication.request_records(p, follower, leader)
    p.acked |= p.standing[leader]


@in_place_of(
    replication.request_records,
    "with acks=all the producer is answered once one follower has the record, whatever the ISR",
)
def acks_all_answered_by_one_follower(p: State, follower: int, leader: int) -> None:
    replication.request_records(p, follower, leader)
    p.acked |= p.standing[leader] & p.standing[follower]


@in_place_of(
    leadership.step_down,
    "producers that still wait at a leader which has to step down are told that their records are stored",
)
def waiting_producers_answered_at_step_down(p: State, r: int) -> None:
    if p.acks == Acks.ALL and p.isr[r] != 0:  # as a leader has it
        for offset in range(p.high_watermark[r], p.leo[r]):
            p.acked |= 1 << log.at(p.log_record[r], offset)
    leadership.step_down(p, r)


@in_place_of(
    promises.answer_producers,
    "with acks=all the producer is answered though the ISR has fallen below min.insync.replicas since the append",
)
def acks_all_answered_below_min_insync_replicas(p: State, r: int, start: int) -> None:
    for offset in range(start, p.high_watermark[r]):
        p.acked |= 1 << log.at(p.log_record[r], offset)
    promises.answer_producers(p, r, start)
