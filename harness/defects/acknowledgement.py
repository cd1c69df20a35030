"""Mistakes in acknowledgement: the producer is answered before its record is safe."""

from epochfuzz.harness.defects.defect import in_place_of
from epochfuzz.model import promises, replication
from epochfuzz.model.configuration import Acks
from epochfuzz.model.state import State


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
