"""The guarantees to clients: the records that no failure may lose.

A record is *exposed* once consumers could read it on a replica that believed it led. It is *acked* once its producer
got an acknowledgement. The model remembers these records through all failures, and the properties look for them on
replicas.
"""

from epochfuzz.model.kafka.history import ideal_log, produce_purgatory
from epochfuzz.model.kafka.storage import log, transactions
from epochfuzz.model.kafka.vocabulary.configuration import Acks
from epochfuzz.model.kafka.vocabulary.goals import Goal
from epochfuzz.model.kafka.vocabulary.in_force import (
    has_retention,
    loses_disks,
    tracks_eligible_leaders,
    tracks_waiting,
)
from epochfuzz.model.kafka.vocabulary.state import State


def remember_produced(p: State, r: int) -> int:
    """Assign an id to a client's new record, and return it. With acks=1 the record is acknowledged at once."""
    record = p.produced
    p.produced = record + 1
    note_offset(p, record, p.leo[r])
    if p.acks == Acks.LEADER:
        p.acked |= 1 << record
    return record


def note_offset(p: State, record: int, offset: int) -> None:
    """Store the offset of a record in the log of the leader that received it. A retry replaces the offset."""
    # Four bits for each record: clear the old offset, then set the new one.
    p.record_offset = p.record_offset & ~(15 << (4 * record)) | offset << (4 * record)


def remember_readable(p: State, r: int, start: int) -> None:
    """Record that consumers may read the records of leader r from offset `start` to its high watermark.

    With acks=all their producers get a response: an acknowledgement if the ISR has min.insync.replicas,
    NOT_ENOUGH_REPLICAS_AFTER_APPEND if it is too small. A request waits as long as the leader that received it leads,
    also in later epochs (Partition.checkEnoughReplicasReachOffset, Kafka 0.10.2 to 2.7).
    """
    if has_retention(p):
        start = max(start, p.log_start[r])
    expose(p, r, start)
    if p.acks == Acks.ALL:
        if tracks_waiting(p):
            produce_purgatory.answer(p, r)
        else:
            answer_producers(p, r, max(start, p.led_from[r]))


def expose(p: State, r: int, start: int) -> None:
    """Record that consumers may read r's records from `start` to its high watermark.

    r is a leader, or with KIP-392 a follower.
    """
    if p.retries:
        ideal_log.expose(p, r, start)
    for offset in range(start, p.high_watermark[r]):
        record = log.at(p.log_record[r], offset)
        if not transactions.is_marker(p, record):
            p.exposed |= 1 << record


def answer_producers(p: State, r: int, start: int) -> None:
    """Respond to the producers of r's records from `start` to its high watermark.

    r has received these records from producers itself. The producer gets no response to a transaction's marker.
    """
    if p.led_from[r] <= p.high_watermark[r]:
        p.led_from[r] = 0
    for offset in range(start, p.high_watermark[r]):
        record = log.at(p.log_record[r], offset)
        if not transactions.is_marker(p, record):
            produce_purgatory.answer_producer(p, r, record)


def exposed_are_lost(p: State, r: int) -> bool:
    """Return whether r lacks a record that consumers could read, or has another record in its place."""
    if p.retries:
        return ideal_log.is_contradicted(p, r)
    return lost_exposed(p, r) != 0


def lost_exposed(p: State, r: int) -> int:
    """Return the set of records that consumers could read, and that r lacks at their own offsets. Without retries."""
    return p.exposed & ~standing_or_deleted(p, r)


def standing_or_deleted(p: State, r: int) -> int:
    """Return the set of records that stand at their own offset in r's log, and of those that `trim` has deleted."""
    if has_retention(p):
        return p.standing[r] | p.deleted
    return p.standing[r]


def lost_acked(p: State, r: int) -> int:
    """Return the set of acknowledged records that r lacks.

    With retries r has a record if it is at any offset of r's log. Otherwise it must be at its own offset.
    """
    return p.acked & ~(log.records_in(p, r) if p.retries else standing_or_deleted(p, r))


def note_lossy_failure(p: State) -> None:
    """Count a power loss that lost records. KIP-966 tolerates min.insync.replicas - 1 of them."""
    if tracks_eligible_leaders(p):
        p.lossy_failures = min(p.lossy_failures + 1, p.min_insync_replicas)
        if are_void(p):
            p.goals |= Goal.LOSS_PERMITTED


def note_unclean_recovery(p: State) -> None:
    """End the guarantees when the last known leader is elected after a failure that lost records.

    This election needs min.insync.replicas unclean shutdowns since the last commit. KIP-966 cannot tell which of them
    lost records. So a single shutdown with lost records ends the guarantees.
    """
    if p.lossy_failures > 0:
        p.lossy_failures = p.min_insync_replicas
        p.goals |= Goal.LOSS_PERMITTED


def are_void(p: State) -> bool:
    """Return whether more failures have lost records than KIP-966 tolerates, so that no guarantee holds any more."""
    return tracks_eligible_leaders(p) and loses_disks(p) and p.lossy_failures >= p.min_insync_replicas
