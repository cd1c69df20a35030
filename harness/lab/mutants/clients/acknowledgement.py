"""Mutants of acknowledgements: the producer gets its response before its record is safe."""

from epochfuzz.harness.lab.mutants.mutant import in_place_of
from epochfuzz.model.kafka.history import promises
from epochfuzz.model.kafka.partition import leadership, replication
from epochfuzz.model.kafka.storage import log
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.state import State


@in_place_of(promises.remember_produced, "with acks=all the leader acknowledges a record at its append")
def acks_all_answered_at_append(p: State, r: int) -> int:
    record = promises.remember_produced(p, r)
    if p.acks != Acks.NONE:
        p.acked |= 1 << record
    return record


@in_place_of(
    replication.request_records,
    "with acks=all the leader acknowledges a record once it has sent it to a follower",
)
def acks_all_answered_when_sent(p: State, follower: int, leader: int) -> None:
    replication.request_records(p, follower, leader)
    p.acked |= p.standing[leader]


@in_place_of(
    replication.request_records,
    "with acks=all the leader acknowledges a record once one follower has it, regardless of the ISR",
)
def acks_all_answered_by_one_follower(p: State, follower: int, leader: int) -> None:
    replication.request_records(p, follower, leader)
    p.acked |= p.standing[leader] & p.standing[follower]


@in_place_of(
    leadership.step_down,
    "a leader that steps down acknowledges the records of producers that still wait at it",
)
def waiting_producers_answered_at_step_down(p: State, r: int) -> None:
    if p.acks == Acks.ALL and p.isr[r] != 0:  # only a leader has an ISR
        for offset in range(p.high_watermark[r], p.leo[r]):
            p.acked |= 1 << log.at(p.log_record[r], offset)
    leadership.step_down(p, r)


@in_place_of(
    promises.answer_producers,
    "with acks=all the leader acknowledges a record though the ISR has shrunk below min.insync.replicas",
)
def acks_all_answered_below_min_insync_replicas(p: State, r: int, start: int) -> None:
    for offset in range(start, p.high_watermark[r]):
        p.acked |= 1 << log.at(p.log_record[r], offset)
    promises.answer_producers(p, r, start)
